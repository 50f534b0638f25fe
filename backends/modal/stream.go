package modal

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/modal-labs/modal-client/go"
)

const (
	// most is how much one call carries, and how much waits for its turn at most.
	most = 256 << 10
	// lastWord is how long a runner's standard error may take to come after its
	// standard output has ended.
	lastWord = 2 * time.Second
)

// stream is the standard output and input of a program in a machine.
//
// Each call that carries input takes a journey there and back, so what is written
// meanwhile goes together by the next one. That also keeps writers from waiting for
// a call that never ends, once the stream is closed.
type stream struct {
	machine *modal.Sandbox
	process *modal.ContainerProcess

	mu      sync.Mutex
	changed sync.Cond
	waiting []byte
	err     error // why nothing more is taken
}

func converse(machine *modal.Sandbox, process *modal.ContainerProcess) *stream {
	s := &stream{machine: machine, process: process}
	s.changed.L = &s.mu
	go s.carry()
	return s
}

func (s *stream) Read(p []byte) (int, error) { return s.process.Stdout.Read(p) }

// Write returns when all of p waits for its turn or is on its way.
func (s *stream) Write(p []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		for len(s.waiting) >= most && s.err == nil {
			s.changed.Wait()
		}
		if s.err != nil {
			return written, s.err
		}
		n := min(len(p), most-len(s.waiting))
		s.waiting = append(s.waiting, p[:n]...)
		p, written = p[n:], written+n
		s.changed.Broadcast()
	}
	return written, nil
}

// carry brings the machine what was written, until the stream is closed.
func (s *stream) carry() {
	for {
		load, err := s.load()
		if err != nil {
			return
		}
		if _, err := s.process.Stdin.Write(load); err != nil {
			s.end(fmt.Errorf("writing to the sandbox: %w", err))
			return
		}
	}
}

// load is what waits, once something does.
func (s *stream) load() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 && s.err == nil {
		s.changed.Wait()
	}
	load := s.waiting
	s.waiting = nil
	s.changed.Broadcast()
	return load, s.err
}

func (s *stream) Close() error {
	s.end(io.ErrClosedPipe)
	return nil
}

// end closes both directions, and the connection when nothing goes over it any more.
func (s *stream) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = why
	s.changed.Broadcast()
	go func() { // a reader may be at it
		_ = s.process.Stdout.Close()
		_ = s.machine.Detach()
	}()
}

// words are a runner's standard error.
type words struct {
	runner.Words
	from io.ReadCloser
	over chan struct{}
}

func listen(from io.ReadCloser, log *slog.Logger) *words {
	w := &words{Words: runner.Words{Log: log}, from: from, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		_, _ = io.Copy(w, from)
	}()
	return w
}

// last continues a sentence with what was said last, and hears nothing more.
func (w *words) last() string {
	select {
	case <-w.over:
	case <-time.After(lastWord):
	}
	_ = w.from.Close()
	if said := w.String(); said != "" {
		return fmt.Sprintf("; the sandbox said %q", said)
	}
	return ""
}
