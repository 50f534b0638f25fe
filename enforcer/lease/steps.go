package lease

import (
	"context"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
)

// progress shows the last step of what many may wait for.
type progress struct {
	mu      sync.Mutex
	step    string
	changed chan struct{} // closed when another step is taken; nil before the first look
}

func (b *progress) post(step string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step = step
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

func (b *progress) look() (step string, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.step, b.changed
}

// follow tells steps on until what they are taken for is done.
func (b *progress) follow(ctx context.Context, done <-chan struct{}) error {
	for {
		step, changed := b.look()
		backends.Step(ctx, "%s", step)
		select {
		case <-done: // the last step can have come together with its end
			step, _ = b.look()
			backends.Step(ctx, "%s", step)
			return nil
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// await waits until a lease's sandbox is there, or failed, and tells the steps of its
// opening on.
func (l *Lease) await(ctx context.Context) error {
	if l.isOpening() {
		if err := l.steps.follow(ctx, l.ready); err != nil {
			return err
		}
	}
	return l.err
}
