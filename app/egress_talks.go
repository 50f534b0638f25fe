package app

import (
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
)

// mostTalks is how many sessions are remembered, mostTalkHosts how many hosts of each.
const (
	mostTalks     = 20
	mostTalkHosts = 30
)

// talks are what sessions reached and tried. They are safe for concurrent use.
type talks struct {
	mu  sync.Mutex
	all []*api.EgressSession // the latest last
}

// add counts an event of a session.
func (t *talks) add(e egress.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessionLocked(e.Connection.Session.ID)
	s.Last = time.Now()
	at := slices.IndexFunc(s.Hosts, func(h api.EgressHost) bool { return h.Host == e.Connection.Host && h.Port == e.Connection.Port })
	if at < 0 && len(s.Hosts) == mostTalkHosts {
		s.More++
		return
	}
	if at < 0 {
		at, s.Hosts = len(s.Hosts), append(s.Hosts, api.EgressHost{Host: e.Connection.Host, Port: e.Connection.Port})
	}
	h := &s.Hosts[at]
	switch e.What {
	case egress.Opened:
		h.Opened++
	case egress.Refused:
		h.Refused++
		h.Rule = e.Rule
	case egress.Closed:
		h.Sent, h.Received = h.Sent+e.Sent, h.Received+e.Received
	}
}

// sessionLocked is a session, which is the latest now; t.mu is held.
func (t *talks) sessionLocked(id string) *api.EgressSession {
	at := slices.IndexFunc(t.all, func(s *api.EgressSession) bool { return s.Session == id })
	if at < 0 {
		t.all = append(t.all, &api.EgressSession{Session: id})
		t.all = t.all[max(0, len(t.all)-mostTalks):]
		return t.all[len(t.all)-1]
	}
	s := t.all[at]
	t.all = append(slices.Delete(t.all, at, at+1), s)
	return s
}

// list are the sessions, the latest first.
func (t *talks) list() (all []api.EgressSession) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range slices.Backward(t.all) {
		one := *s
		one.Hosts = slices.Clone(s.Hosts)
		all = append(all, one)
	}
	return all
}
