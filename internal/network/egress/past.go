package egress

import (
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

const (
	// mostSessions is of how many sessions the proxy remembers what stood for values in them, mostPast how many of each.
	mostSessions = 1000
	mostPast     = 32
)

// past are the texts that stood for values in requests of sessions. Programs write them into files, such as git the URL
// of what it cloned, and send them later, when they are worth nothing.
type past struct {
	sessions *recent.Map[sessionOf, *pastOf]
}

type sessionOf struct{ caller, session string }

// pastOf are those of one session. It is safe for concurrent use.
type pastOf struct {
	mu  sync.Mutex
	all []bailiff.Swapped // without values
}

func newPast() *past { return &past{recent.New[sessionOf, *pastOf](mostSessions)} }

// others are what stood for values in other requests of a session than one that has these, which are noted.
func (p *past) others(of bailiff.Connection, swapped []bailiff.Swapped) []bailiff.Swapped {
	key := sessionOf{of.Caller, of.Session.ID}
	if len(swapped) == 0 {
		if known, is := p.sessions.Get(key); is {
			return known.others(nil)
		}
		return nil
	}
	return p.sessions.GetOrPut(key, func() *pastOf { return &pastOf{} }).others(swapped)
}

func (p *pastOf) others(swapped []bailiff.Swapped) (others []bailiff.Swapped) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range swapped {
		if !contains(p.all, one) && !one.StrayPasses {
			p.all = append(p.all, bailiff.Swapped{Swap: one.Swap, StandIn: one.StandIn})
		}
	}
	p.all = p.all[max(0, len(p.all)-mostPast):]
	for _, one := range p.all {
		if !contains(swapped, one) {
			others = append(others, one)
		}
	}
	return others
}

func contains(all []bailiff.Swapped, standIn bailiff.Swapped) bool {
	return slices.ContainsFunc(all, func(one bailiff.Swapped) bool { return one.StandIn == standIn.StandIn })
}
