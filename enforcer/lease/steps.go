package lease

import (
	"context"
)

// await waits until a lease's sandbox is there, or failed, and tells the steps of its
// opening on.
func (l *Lease) await(ctx context.Context) error {
	if l.isOpening() {
		if err := l.steps.Follow(ctx, l.ready); err != nil {
			return err
		}
	}
	return l.err
}
