package chat

import (
	"context"
	"sync"
)

// workQueue holds the ids that one worker has to look at, each once however often it is added.
type workQueue struct {
	mu    sync.Mutex
	order []string
	on    map[string]bool
	more  chan struct{}
}

func newWorkQueue() *workQueue {
	return &workQueue{on: map[string]bool{}, more: make(chan struct{}, 1)}
}

func (q *workQueue) add(id string) {
	q.mu.Lock()
	if !q.on[id] {
		q.on[id] = true
		q.order = append(q.order, id)
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *workQueue) next() (id string, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return "", false
	}
	id, q.order = q.order[0], q.order[1:]
	delete(q.on, id)
	return id, true
}

// work processes the ids in the order in which they came, until ctx ends.
func (q *workQueue) work(ctx context.Context, do func(ctx context.Context, id string)) {
	for ctx.Err() == nil {
		id, found := q.next()
		if found {
			do(ctx, id)
			continue
		}
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
}
