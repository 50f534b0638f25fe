package backendtest

import (
	"io"
	"sync"
	"testing"
)

// Shown shows what is written with a test, and drops what is written after that has ended, which would end the
// tests of its package: what a backend has begun may log later, and so may a runner that is left.
func Shown(tb testing.TB) io.Writer {
	s := &shown{to: tb.Output()}
	tb.Cleanup(s.end)
	return s
}

type shown struct {
	mu    sync.Mutex
	to    io.Writer
	ended bool
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return len(p), nil
	}
	return s.to.Write(p)
}

func (s *shown) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}
