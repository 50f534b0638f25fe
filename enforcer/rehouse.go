package enforcer

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// rehouse moves a grant whose sandbox failed before its command was started to
// another one on the same files, so that a sandbox that was lost costs no request.
// What was approved must still be what runs there.
func (e *Enforcer) rehouse(ctx context.Context, g grant) error {
	use := g.use
	g.use = nil
	err := e.parts.acquire(ctx, g.matter, func(ctx context.Context) (*tenure, error) {
		return e.leases.rehouse(ctx, use, tenancy(g.located, g.Decision, e.config.Owner), g.located.Session, e.config.Backends[g.Decision.Backend.Name])
	})
	if err != nil || len(g.files) == 0 {
		return err
	}
	files, err := g.use.sandbox.Digest(ctx, g.located.Args.Workdir, g.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if !slices.Equal(files, g.files) {
		return fmt.Errorf("%w: the sandbox was lost, and with it files that the command runs; send it again", errFiles)
	}
	return nil
}

// rehouse ends a tenure of a sandbox that failed, and begins another like it.
func (ls *leases) rehouse(ctx context.Context, u *tenure, t tenant, guest bailiff.Session, maker backends.Backend) (*tenure, error) {
	ls.mu.Lock()
	ls.retire(u.lease, reasonFailed)
	ls.mu.Unlock()
	next, err := ls.enter(ctx, t, guest, maker) // before the other is left, so that its files stay
	u.release()
	if err != nil {
		return nil, err
	}
	next.replaced = !t.alone
	return ls.seat(ctx, next, u.weight == exclusive)
}
