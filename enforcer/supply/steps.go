package supply

import (
	"context"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
)

// Progress shows the last step of what many may wait for.
type Progress struct {
	mu      sync.Mutex
	step    string
	changed chan struct{} // closed when another step is taken; nil before the first look
}

// Post shows a step.
func (p *Progress) Post(step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = step
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (p *Progress) look() (step string, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.step, p.changed
}

// Follow tells steps on until what they are taken for is done.
func (p *Progress) Follow(ctx context.Context, done <-chan struct{}) error {
	for {
		step, changed := p.look()
		backends.Step(ctx, "%s", step)
		select {
		case <-done: // the last step can have come together with its end
			step, _ = p.look()
			backends.Step(ctx, "%s", step)
			return nil
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
