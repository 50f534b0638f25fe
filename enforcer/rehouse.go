package enforcer

import (
	"context"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// rehouse moves a matter whose sandbox failed before its command was started to
// another one on the same files, so that a sandbox that was lost costs no request.
// What was approved must still be what runs there.
func (e *Enforcer) rehouse(ctx context.Context, m *matter) (err error) {
	use := m.use
	m.use = nil
	starting := e.begin(ctx, partStart)
	defer func() { e.endStart(starting, m, err) }()
	if m.use, err = e.leases.rehouse(starting, use, tenancy(m.located, m.Decision, e.config.Owner), m.located.Session, e.config.Backends[m.Decision.Backend.Name]); err != nil {
		return err
	}
	if len(m.files) == 0 {
		return nil
	}
	files, err := m.use.sandbox.Digest(ctx, m.located.Args.Workdir, m.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if !slices.Equal(files, m.files) {
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
