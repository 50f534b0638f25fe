package processes

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// standstillAfter is how long processes are looked for before everything is stopped.
const standstillAfter = 250 * time.Millisecond

// everyone names, for the first process of a sandbox, every other process there.
const everyone = -1

// standstill stops every other process of the sandbox when something takes long: one call, which no process can fork
// away from, and which needs no look at any. Only the first process of a sandbox does so; elsewhere the call
// would stop processes of others. Supervisors go on as soon as they have stopped.
type standstill struct {
	timer *time.Timer

	mu            sync.Mutex
	stopped, over bool
}

// newStandstill is a standstill that comes later, unless it is released before.
func newStandstill() *standstill {
	s := &standstill{}
	if os.Getpid() == 1 {
		s.timer = time.AfterFunc(standstillAfter, s.stop)
	}
	return s
}

func (s *standstill) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.stopped = syscall.Kill(everyone, syscall.SIGSTOP) == nil
	}
}

func (s *standstill) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// release has the others go on.
func (s *standstill) release() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.stopped {
		_ = syscall.Kill(everyone, syscall.SIGCONT)
	}
}
