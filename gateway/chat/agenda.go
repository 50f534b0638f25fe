package chat

import (
	"context"
	"sync"
)

// agenda is what one worker is to look at, each thing once however often it is added.
type agenda struct {
	mu    sync.Mutex
	order []string
	on    map[string]bool
	more  chan struct{}
}

func newAgenda() *agenda { return &agenda{on: map[string]bool{}, more: make(chan struct{}, 1)} }

func (a *agenda) add(id string) {
	a.mu.Lock()
	if !a.on[id] {
		a.on[id] = true
		a.order = append(a.order, id)
	}
	a.mu.Unlock()
	select {
	case a.more <- struct{}{}:
	default:
	}
}

func (a *agenda) next() (id string, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.order) == 0 {
		return "", false
	}
	id, a.order = a.order[0], a.order[1:]
	delete(a.on, id)
	return id, true
}

// work does what is on the agenda, in the order in which it came, until ctx ends.
func (a *agenda) work(ctx context.Context, do func(ctx context.Context, id string)) {
	for ctx.Err() == nil {
		id, found := a.next()
		if found {
			do(ctx, id)
			continue
		}
		select {
		case <-a.more:
		case <-ctx.Done():
		}
	}
}
