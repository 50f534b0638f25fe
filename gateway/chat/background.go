package chat

import (
	"log/slog"
	"runtime/debug"
	"sync"
)

// Background is what a platform works on beside its connection.
type Background struct {
	sync.WaitGroup
	log      *slog.Logger
	panicked string
	slots    chan struct{}
}

// NewBackground works on at most so many pieces at once; panicked is what
// the log says of one that panics.
func NewBackground(most int, log *slog.Logger, panicked string) *Background {
	return &Background{log: log, panicked: panicked, slots: make(chan struct{}, most)}
}

// Spawn does a piece of work, once there is room for it.
func (b *Background) Spawn(do func()) {
	b.slots <- struct{}{}
	b.work(do)
}

// TrySpawn does a piece of work if there is room for it now.
func (b *Background) TrySpawn(do func()) {
	select {
	case b.slots <- struct{}{}:
		b.work(do)
	default:
	}
}

func (b *Background) work(do func()) {
	b.Go(func() {
		defer func() { <-b.slots }()
		defer LogPanic(b.log, b.panicked)
		do()
	})
}

// LogPanic is deferred: it logs a panic, so that what one message causes cannot end the
// process.
func LogPanic(log *slog.Logger, panicked string, about ...any) {
	if cause := recover(); cause != nil {
		log.Error(panicked, append(about, "cause", cause, "stack", string(debug.Stack()))...)
	}
}
