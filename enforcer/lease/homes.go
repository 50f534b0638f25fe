package lease

import (
	"context"
	"fmt"

	"github.com/bailiff-dev/bailiff/backends"
)

// Homes know which sidecar serves a session, where several share a store.
type Homes interface {
	// Serves is nil if this sidecar still serves a session, or if none does.
	Serves(ctx context.Context, k Key) error
}

// ErrElsewhere keeps from starting in a session that another sidecar may serve by now.
var ErrElsewhere = fmt.Errorf("%w: this sidecar serves the session no more", backends.ErrNotStarted)

// Serves is nil if something may be started in the sandbox for a session now. It is asked right before
// each start, since a sidecar that was paused meanwhile does not know of it.
func (l *Lease) Serves(ctx context.Context, k Key) error {
	homes := l.pool.config.Homes
	if homes == nil {
		return nil
	}
	if err := homes.Serves(ctx, k); err != nil {
		return fmt.Errorf("%w: %w", ErrElsewhere, err)
	}
	return nil
}

// MayStart is nil if something may be started for the session of a hold now.
func (h *Hold) MayStart(ctx context.Context) error {
	return h.lease.Serves(ctx, Key{h.lease.caller, h.session.ID})
}
