package gateway

import (
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// mostAgents is of how many agents a listener remembers where they stand.
const mostAgents = 20_000

// lineage holds where the agents of a listener's sessions stand, so that none comes nearer to the person than it was: it may come
// from deeper, and stays there. What was forgotten, or came before the sidecar started, is as new.
type lineage struct {
	mu     *sync.Mutex // from a look until what it led to is remembered
	agents *recent.Map[standing, bailiff.Agent]
}

type standing struct{ session, id string }

func newLineage() lineage {
	return lineage{new(sync.Mutex), recent.New[standing, bailiff.Agent](mostAgents)}
}

// faults say why the agent of a session cannot be where it says. Where there are none, that is remembered.
func (l lineage) faults(s bailiff.Session) []api.Fault {
	if !s.Agent.IsSub() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var c checker
	key := standing{s.ID, s.Agent.ID}
	if was, known := l.agents.Get(key); known {
		if was.Depth > s.Agent.Depth {
			c.fault("/session/agent/depth", "is %d, and the agent %q came from %d before: none comes nearer to the person than it was",
				s.Agent.Depth, cut(s.Agent.ID), was.Depth)
		}
		if was.Depth > 1 && was.Parent != s.Agent.Parent {
			c.fault("/session/agent/parent", "is %q, and the agent %q named another before", cut(s.Agent.Parent), cut(s.Agent.ID))
		}
	}
	if parent, known := l.agents.Get(standing{s.ID, s.Agent.Parent}); known && parent.Depth >= s.Agent.Depth {
		c.fault("/session/agent/depth", "is %d, and its parent %q is at %d: want more than that", s.Agent.Depth, cut(s.Agent.Parent),
			parent.Depth)
	}
	if len(c.faults) == 0 {
		l.agents.Put(key, s.Agent)
	}
	return c.faults
}
