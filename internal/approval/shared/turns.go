package shared

import (
	"context"
	"sync"
)

// turns let one step of this sidecar at a time wait for a lock in the database. Further ones would
// hold a connection each while they wait, so that one user who asks much could take them all.
type turns struct {
	mu  sync.Mutex
	all map[int64]*turn
}

type turn struct {
	taken chan struct{} // holds one value while the turn is a step's
	users int           // that have it, or wait for it
}

// take waits for the turns of some keys, which are sorted and each there once.
func (t *turns) take(ctx context.Context, keys []int64) (leave func(), err error) {
	for i, key := range keys {
		if err := t.takeOne(ctx, key); err != nil {
			t.leave(keys[:i])
			return nil, err
		}
	}
	return func() { t.leave(keys) }, nil
}

func (t *turns) takeOne(ctx context.Context, key int64) error {
	one := t.join(key)
	select {
	case one.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		t.quitLocked(key, one)
		return ctx.Err()
	}
}

func (t *turns) join(key int64) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[key]
	if one == nil {
		one = &turn{taken: make(chan struct{}, 1)}
		if t.all == nil {
			t.all = map[int64]*turn{}
		}
		t.all[key] = one
	}
	one.users++
	return one
}

func (t *turns) leave(keys []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		one := t.all[key]
		<-one.taken
		t.quitLocked(key, one)
	}
}

func (t *turns) quitLocked(key int64, one *turn) {
	if one.users--; one.users == 0 {
		delete(t.all, key)
	}
}
