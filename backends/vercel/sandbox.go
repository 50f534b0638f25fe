package vercel

import (
	"context"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// sandbox is a machine and the client of its runner.
type sandbox struct {
	*runner.Client
	backend *Backend
	name    string
	machine string
	// until is when Vercel ends the machine, and ends when it may not be put off any
	// more. Only hold touches them.
	until, ends time.Time

	mu      sync.Mutex
	removed bool
}

var _ backends.Sandbox = (*sandbox)(nil)

// ID is the machine's name.
func (s *sandbox) ID() string { return s.name }

// Close ends the runner and removes the machine.
func (s *sandbox) Close(ctx context.Context) error {
	_ = s.Client.Close() // always nil
	return s.remove(ctx)
}

// remove removes the machine, once.
func (s *sandbox) remove(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if err := s.backend.api.remove(ctx, s.name); err != nil {
		return unavailable("removing a machine at Vercel", err)
	}
	s.removed = true
	return nil
}

// hold puts off the end of the machine for as long as its runner is heard, and then
// removes it: nothing reaches a machine again whose stream has broken.
func (s *sandbox) hold() {
	backends.Every(s.backend.lease/5, s.Done(), s.putOff)
	if err := s.remove(context.Background()); err != nil {
		s.backend.cfg.Log.Warn("a machine at Vercel is left to its removal, and ends by itself", "machine", s.name, "error", err)
	}
}

// putOff has the machine live for another lease, if it may. One that Vercel does not
// let live longer ends, and its stream with it.
func (s *sandbox) putOff() {
	until := time.Now().Add(s.backend.lease)
	if until.After(s.ends) {
		until = s.ends
	}
	by := until.Sub(s.until)
	if by < time.Second {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.backend.lease/5)
	defer cancel()
	if err := s.backend.api.extend(ctx, s.machine, by); err != nil {
		s.backend.cfg.Log.Warn("putting off the end of a machine at Vercel", "machine", s.name, "ends", s.until, "error", err)
		return
	}
	s.until = until
}
