package main

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
			d := demand{before: c.before, since: c.since}
			if got := d.idle(c.busy); got != c.want {
				t.Errorf("%d may wait, want %d", got, c.want)
			}
		})
	}
	var d demand
	d.note(8)
	if d.look(0); d.idle(0) != 8+fewestIdle {
		t.Errorf("after one look, %d may wait, want %d still", d.idle(0), 8+fewestIdle)
	}
	if d.look(0); d.idle(0) != fewestIdle {
		t.Errorf("after another, %d may wait, want %d", d.idle(0), fewestIdle)
	}
}
