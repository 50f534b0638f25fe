package enforcer

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// Sweep removes the sandboxes and workspaces of this owner that no lease holds,
// such as those that a killed sidecar or an engine that was away left behind; it
// returns how many sandboxes.
func (e *Enforcer) Sweep(ctx context.Context) (removed int, err error) {
	e.leases.pool.tend()
	e.leases.unpark()
	var faults []error
	for name, backend := range e.Backends {
		n, err := e.sweep(ctx, name, backend)
		removed += n
		if err != nil {
			faults = append(faults, fmt.Errorf("sweeping %s: %w", name, err))
		}
	}
	return removed, errors.Join(faults...)
}

// sweep removes sandboxes first, since they hold their workspaces.
func (e *Enforcer) sweep(ctx context.Context, name string, backend backends.Backend) (removed int, err error) {
	if sweeper, ok := backend.(backends.Sweeper); ok {
		removed, err = sweeper.Sweep(ctx, e.Owner, e.leases.holds)
		for range removed {
			e.Observer.SandboxReaped(name, "orphan")
		}
	}
	if keeper, ok := backend.(backends.Keeper); ok && err == nil {
		err = e.sweepWorkspaces(ctx, name, keeper)
	}
	return removed, err
}

func (e *Enforcer) sweepWorkspaces(ctx context.Context, backend string, keeper backends.Keeper) error {
	found, err := keeper.Workspaces(ctx, e.Owner)
	if err != nil {
		return err
	}
	for _, w := range e.leases.kept.find(func(w ledger.Workspace) bool { return w.Backend == backend && isForgotten(w) }) {
		found = append(found, w.Name) // it may be gone already
	}
	return e.clear(ctx, backend, found, false)
}

// clear removes those of a backend's workspaces in which nobody is; with nothing,
// those that are to stay too.
func (e *Enforcer) clear(ctx context.Context, backend string, workspaces []string, nothing bool) error {
	keeper, ok := e.Backends[backend].(backends.Keeper)
	if !ok {
		return nil
	}
	var faults []error
	for _, workspace := range workspaces {
		if l := e.leases.takeOver(backend, workspace, nothing); l != nil {
			e.leases.kept.letGo(keptKey(backend, workspace))
			faults = append(faults, keeper.RemoveWorkspace(ctx, e.Owner, workspace))
			e.leases.forget(l)
		}
	}
	return errors.Join(faults...)
}

// holds says whether a sandbox is a lease's, or could be that of one which is
// just being made and whose id is not known yet.
func (ls *leases) holds(id string) bool {
	if ls.pool.holds(id) {
		return true
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if l.isOpening() || l.id() == id {
			return true
		}
	}
	return false
}
