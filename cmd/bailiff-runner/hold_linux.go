package main

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// holdAfter is how long processes are looked for before everything is stopped.
const holdAfter = 250 * time.Millisecond

// everyone names, for the first process of a sandbox, every other process there.
const everyone = -1

// hold stops every other process of the sandbox when something takes long: one call, which no process can fork
// away from, and which needs no look at any. Only the first process of a sandbox does so; elsewhere the call
// would stop processes of others. Supervisors go on as soon as they have stopped.
type hold struct {
	timer *time.Timer

	mu         sync.Mutex
	held, over bool
}

func holdStill() *hold {
	h := &hold{}
	if os.Getpid() == 1 {
		h.timer = time.AfterFunc(holdAfter, h.stop)
	}
	return h
}

func (h *hold) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.held = syscall.Kill(everyone, syscall.SIGSTOP) == nil
	}
}

func (h *hold) isHeld() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}

// release has the others go on.
func (h *hold) release() {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.held {
		_ = syscall.Kill(everyone, syscall.SIGCONT)
	}
}
