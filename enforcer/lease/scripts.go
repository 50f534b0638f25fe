package lease

import (
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

const (
	// maxScripts bounds how many scripts of an interpreter are remembered, maxScriptBytes how long they are in all.
	maxScripts     = 20
	maxScriptBytes = 32 << 10
)

// scripts are the texts of those that ran in an interpreter and may have left names there: the last ones, if they are many.
type scripts struct {
	mu   sync.Mutex
	list []string
	size int
}

func (s *scripts) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.size = append(s.list, text), s.size+len(text)
	for len(s.list) > maxScripts || s.size > maxScriptBytes {
		s.size -= len(s.list[0])
		s.list = s.list[1:]
	}
}

func (s *scripts) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list, s.size = nil, 0
}

func (s *scripts) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// Scripts are the texts of those that ran before in the interpreter where a request's script would run on a backend. None did where
// the script has one of its own, or starts afresh.
func (p *Pool) Scripts(req bailiff.Request, backend string) []string {
	if req.Tool != bailiff.ExecuteCode || req.Args.Reset {
		return nil
	}
	who := kernelKey{Key{req.Caller, req.Session.ID}, req.Session.Platform, req.Session.UserID, backend, req.Peer,
		req.Session.Agent.ID}
	for _, l := range p.standing() {
		if texts := l.kernels.ranFor(who); len(texts) > 0 {
			return texts
		}
	}
	return nil
}

func (ks *kernels) ranFor(who kernelKey) []string {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if s := ks.slots[who]; s != nil {
		return s.ran.texts()
	}
	return nil
}
