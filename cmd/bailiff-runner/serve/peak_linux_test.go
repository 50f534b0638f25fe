package serve

import "testing"

func TestAsManySupervisorsWaitAsWereNeededOfLate(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, since int // how many were at work at once
		busy, want    int
	}{
		{"a few always wait", 0, 0, 0, fewestIdle},
		{"however many are at work", 40, 40, 40, fewestIdle},
		{"as many as there is work for, besides", 1, 7, 0, 7 + fewestIdle},
		{"less those that are at it", 1, 7, 4, 3 + fewestIdle},
		{"as many as there was work for before", 9, 1, 0, 9 + fewestIdle},
		{"no more than a bound", 0, 100, 0, mostIdle},
		{"also beside many that are at work", 0, 100, 50, mostIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := peak{before: c.before, since: c.since}
			if got := p.idle(c.busy); got != c.want {
				t.Errorf("%d may wait, want %d", got, c.want)
			}
		})
	}
	var p peak
	p.note(8)
	if p.renew(0); p.idle(0) != 8+fewestIdle {
		t.Errorf("after one look, %d may wait, want %d still", p.idle(0), 8+fewestIdle)
	}
	if p.renew(0); p.idle(0) != fewestIdle {
		t.Errorf("after another, %d may wait, want %d", p.idle(0), fewestIdle)
	}
}
