package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
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
// returns how many sandboxes. Those that failed unnoticed are held by no lease then.
// What a backend that does not answer keeps is left to the next sweep.
func (p *Pool) Sweep(ctx context.Context) (removed int, err error) {
	return p.sweepAll(ctx, sweepTimeout)
}

// checkOwner says why nothing may be swept. It is asked before each removal, since a sweep may take long, and the sidecar may be
// paused meanwhile.
func (p *Pool) checkOwner() error {
	if err := p.config.CheckOwner(); err != nil {
		return fmt.Errorf("nothing is swept, since another sidecar may have what is found: %w", err)
	}
	return nil
}

// sweepAll sweeps the backends at the same time, so that none has to wait for another.
func (p *Pool) sweepAll(ctx context.Context, most time.Duration) (int, error) {
	p.supply.DropFailed()
	p.retireFailed()
	p.expireRetained()
	if err := p.checkOwner(); err != nil {
		return 0, err
	}
	var removed atomic.Int64 // added to by backends that answer too late, too
	faults := make(chan error, len(p.config.Backends))
	for name, backend := range p.config.Backends {
		go func() {
			err := p.sweeping.Ask(ctx, name, most, func(ctx context.Context) error {
				return p.sweep(ctx, name, backend, &removed)
			})
			if err != nil {
				p.config.Readiness.SweepFailed(name)
				err = fmt.Errorf("sweeping %s: %w", name, err)
			}
			faults <- err
		}()
	}
	var all []error
	for range p.config.Backends {
		all = append(all, <-faults)
	}
	return int(removed.Load()), errors.Join(all...)
}

// retireFailed takes the leases out of use whose sandbox has failed between requests.
func (p *Pool) retireFailed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.all {
		if l.retired == "" && !l.Alive() {
			p.retireLocked(l, reasonFailed)
		}
	}
}

// sweep removes sandboxes first, since they hold their workspaces.
func (p *Pool) sweep(ctx context.Context, name string, backend backends.Backend, removed *atomic.Int64) (err error) {
	if sweeper, ok := backend.(backends.Sweeper); ok {
		var n int
		n, err = sweeper.Sweep(ctx, p.config.Owner, func(id string) bool { return p.holds(id) || p.checkOwner() != nil })
		removed.Add(int64(n))
		for range n {
			p.config.Sandboxes.SandboxReaped(name, reasonOrphan)
		}
	}
	err = cmp.Or(err, p.checkOwner())
	if keeper, ok := backend.(backends.Keeper); ok && err == nil {
		err = p.sweepWorkspaces(ctx, name, keeper)
	}
	if clearer, ok := backend.(backends.Clearer); ok {
		err = errors.Join(err, clearer.Clear(ctx))
	}
	if err == nil {
		p.forgetUnremoved(name)
	}
	return err
}

func (p *Pool) sweepWorkspaces(ctx context.Context, backend string, keeper backends.Keeper) error {
	found, err := keeper.Workspaces(ctx, p.config.Owner)
	if err != nil {
		return err
	}
	for _, w := range p.kept.find(func(w ledger.Workspace) bool { return w.Backend == backend && isUnused(w) }) {
		found = append(found, w.Name) // it may be gone already
	}
	var faults []error
	for _, workspace := range found {
		if err := p.checkOwner(); err != nil {
			return errors.Join(append(faults, err)...)
		}
		if l := p.abandoned(backend, workspace); l != nil {
			faults = append(faults, p.empty(ctx, []*Lease{l}))
		}
	}
	return errors.Join(faults...)
}

// empty removes the workspaces that were taken over, a few at the same time, so that a
// slow one costs the others little.
func (p *Pool) empty(ctx context.Context, left []*Lease) error {
	ctx, cancel := context.WithTimeout(ctx, supply.OpenTimeout)
	defer cancel()
	faults := make([]error, len(left))
	var removing errgroup.Group
	removing.SetLimit(maxRemoving)
	for i, l := range left {
		removing.Go(func() error {
			p.kept.letGo(keptKey(l.backend, l.spec.Workspace))
			if keeper, ok := p.config.Backends[l.backend].(backends.Keeper); ok {
				faults[i] = keeper.RemoveWorkspace(ctx, p.config.Owner, l.spec.Workspace)
				p.noteUnremoved(l, faults[i])
			}
			p.forget(l)
			return nil
		})
	}
	_ = removing.Wait()
	return errors.Join(faults...)
}

// holds says whether a sandbox is a lease's, or could be that of one which is
// just being made and whose id is not known yet.
func (p *Pool) holds(id string) bool {
	if p.supply.Holds(id) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return anyOf(p.all, func(l *Lease) bool { return l.isOpening() || l.ID() == id })
}
