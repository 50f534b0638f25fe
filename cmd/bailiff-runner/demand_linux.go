package main

import "time"

// Supervisors that wait for commands: so many at least, so many at most, and for
// how long more of them are kept than are needed.
const (
	fewestIdle = 2
	mostIdle   = 16
	quiet      = 3 * time.Second
)

// demand is how many supervisors were at work at once: since the last look, and
// in the time before that.
type demand struct {
	since, before int
	watched       bool
}

func (d *demand) note(busy int) { d.since = max(d.since, busy) }

// idle is how many may wait while so many are at work: as many as would be at
// work together again, and the fewest besides.
func (d *demand) idle(busy int) int {
	return min(mostIdle, max(0, max(d.since, d.before)-busy)+fewestIdle)
}

// look begins another time.
func (d *demand) look(busy int) { d.before, d.since = d.since, busy }

// watchDemand looks from time to time whether as many supervisors are needed,
// until there are no more than always wait. The caller holds the lock.
func (p *pool) watchDemand() {
	if p.demand.watched || len(p.idle) <= fewestIdle && p.demand.since <= fewestIdle {
		return
	}
	p.demand.watched = true
	time.AfterFunc(quiet, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.demand.look(len(p.slots) - len(p.idle))
		p.trim()
		p.demand.watched = false
		p.watchDemand()
	})
}

// trim ends supervisors that need not wait. The caller holds the lock.
func (p *pool) trim() {
	keep := p.demand.idle(len(p.slots) - len(p.idle))
	if p.closing {
		keep = 0
	}
	for n := len(p.idle); n > keep; n-- {
		p.idle[n-1].file.Close()
		p.idle = p.idle[:n-1]
	}
}
