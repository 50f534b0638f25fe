package enforcer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

const (
	// sweepTimeout bounds what is done at one backend.
	sweepTimeout = time.Minute
	// lastSweepTimeout does so when the sidecar ends.
	lastSweepTimeout = 10 * time.Second
	// maxRemoving is how many of a session's workspaces are removed at a time.
	maxRemoving = 4
)

// Sweep removes the sandboxes and workspaces of this owner that no lease holds,
// such as those that a killed sidecar or an engine that was away left behind; it
// returns how many sandboxes. Those that failed unnoticed are let by no lease then.
// What a backend that does not answer keeps is left to the next sweep.
func (e *Enforcer) Sweep(ctx context.Context) (removed int, err error) {
	return e.sweepAll(ctx, sweepTimeout)
}

// sweepAll sweeps the backends at the same time, so that none has to wait for another.
func (e *Enforcer) sweepAll(ctx context.Context, most time.Duration) (int, error) {
	e.leases.pool.tend()
	e.leases.tend()
	e.leases.unpark()
	var removed atomic.Int64 // told also by who answers too late
	faults := make(chan error, len(e.config.Backends))
	for name, backend := range e.config.Backends {
		go func() {
			err := e.sweeping.ask(ctx, name, most, func(ctx context.Context) error {
				return e.sweep(ctx, name, backend, &removed)
			})
			if err != nil {
				e.config.Observer.SweepFailed(name)
				err = fmt.Errorf("sweeping %s: %w", name, err)
			}
			faults <- err
		}()
	}
	var all []error
	for range e.config.Backends {
		all = append(all, <-faults)
	}
	return int(removed.Load()), errors.Join(all...)
}

// tend takes the leases out of use whose sandbox has failed while nobody asked for it.
func (ls *leases) tend() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if l.retired == "" && !l.alive() {
			ls.retire(l, reasonFailed)
		}
	}
}

// sweep removes sandboxes first, since they hold their workspaces.
func (e *Enforcer) sweep(ctx context.Context, name string, backend backends.Backend, removed *atomic.Int64) (err error) {
	if sweeper, ok := backend.(backends.Sweeper); ok {
		var n int
		n, err = sweeper.Sweep(ctx, e.config.Owner, e.leases.holds)
		removed.Add(int64(n))
		for range n {
			e.config.Observer.SandboxReaped(name, reasonOrphan)
		}
	}
	if keeper, ok := backend.(backends.Keeper); ok && err == nil {
		err = e.sweepWorkspaces(ctx, name, keeper)
	}
	return err
}

func (e *Enforcer) sweepWorkspaces(ctx context.Context, backend string, keeper backends.Keeper) error {
	found, err := keeper.Workspaces(ctx, e.config.Owner)
	if err != nil {
		return err
	}
	for _, w := range e.leases.kept.find(func(w ledger.Workspace) bool { return w.Backend == backend && isForgotten(w) }) {
		found = append(found, w.Name) // it may be gone already
	}
	var faults []error
	for _, workspace := range found {
		if l := e.leases.abandoned(backend, workspace); l != nil {
			faults = append(faults, e.empty(ctx, []*lease{l}))
		}
	}
	return errors.Join(faults...)
}

// empty removes the workspaces that were taken over, a few at the same time, so that a
// slow one costs the others little.
func (e *Enforcer) empty(ctx context.Context, left []*lease) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	faults := make([]error, len(left))
	var removing errgroup.Group
	removing.SetLimit(maxRemoving)
	for i, l := range left {
		removing.Go(func() error {
			e.leases.kept.letGo(l.workspace().Key())
			if keeper, ok := e.config.Backends[l.backend].(backends.Keeper); ok {
				faults[i] = keeper.RemoveWorkspace(ctx, e.config.Owner, l.spec.Workspace)
			}
			e.leases.forget(l)
			return nil
		})
	}
	_ = removing.Wait()
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
