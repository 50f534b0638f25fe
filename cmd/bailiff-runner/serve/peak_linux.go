package serve

import "time"

// Supervisors that wait for commands: so many at least, so many at most, and for
// how long more of them are kept than are needed.
const (
	fewestIdle = 2
	mostIdle   = 16
	quiet      = 3 * time.Second
)

// peak is how many supervisors were at work at once: since the last renewal, and
// in the time before that.
type peak struct {
	since, before int
	watched       bool
}

func (p *peak) note(busy int) { p.since = max(p.since, busy) }

// idle is how many may wait while so many are at work: as many as would be at
// work together again, and the fewest besides.
func (p *peak) idle(busy int) int {
	return min(mostIdle, max(0, max(p.since, p.before)-busy)+fewestIdle)
}

// renew begins another time.
func (p *peak) renew(busy int) { p.before, p.since = p.since, busy }

// watchPeak looks from time to time whether as many supervisors are needed,
// until there are no more than always wait. The caller holds the lock.
func (p *pool) watchPeak() {
	if p.peak.watched || len(p.idle) <= fewestIdle && p.peak.since <= fewestIdle {
		return
	}
	p.peak.watched = true
	time.AfterFunc(quiet, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.peak.renew(len(p.slots) - len(p.idle))
		p.trim()
		p.peak.watched = false
		p.watchPeak()
	})
}

// trim ends supervisors that need not wait. The caller holds the lock.
func (p *pool) trim() {
	keep := p.peak.idle(len(p.slots) - len(p.idle))
	if p.closing {
		keep = 0
	}
	for n := len(p.idle); n > keep; n-- {
		p.idle[n-1].file.Close()
		p.idle = p.idle[:n-1]
	}
}
