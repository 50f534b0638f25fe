package enforcer

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"

	"github.com/bailiff-dev/bailiff"
)

// exclusive is the whole weight of a lease's gate; a request without
// variables takes one.
const exclusive = 1 << 20

// tenure is one request's use of a lease.
type tenure struct {
	*lease
	guest  bailiff.Session // of the request
	weight int64
	// replaced says that the sandbox is there because the one before failed.
	replaced bool
	// stopped counts the processes of earlier commands that were killed so that
	// this request is alone.
	stopped int
	// riding says that it is a call's of the script whose lease it is.
	riding bool
}

// settle waits for the sandbox and for the others in it.
func (u *tenure) settle(ctx context.Context, alone bool) error {
	if err := u.await(ctx); err != nil {
		return err
	}
	if err := u.leases.remember(u.lease); err != nil { // not sooner: whoever removes its files is done
		return err
	}
	if err := u.gate.Acquire(ctx, u.weight); err != nil {
		return err
	}
	err := ctx.Err() // of a sandbox that was taken away, the gate is open
	if err == nil {
		err = u.besides(alone)
	}
	if err == nil && alone {
		err = u.endOthers(ctx)
	}
	if err != nil {
		u.gate.Release(u.weight)
	}
	return err
}

// endOthers ends what earlier commands left running, in this sandbox and in any
// other that stands on the same files; nobody is in one of these.
func (u *tenure) endOthers(ctx context.Context) error {
	for _, other := range u.leases.others(u.lease) {
		if err := u.quiet(ctx, other); err != nil {
			return fmt.Errorf("stopping what stands on the same files: %w", err)
		}
	}
	if err := u.endKernels(ctx); err != nil {
		return fmt.Errorf("ending interpreters of earlier scripts: %w", err)
	}
	left, err := u.sandbox.Alive(ctx)
	if err != nil {
		return fmt.Errorf("looking for processes of earlier commands: %w", err)
	}
	if left == 0 {
		return nil
	}
	u.stopped = left
	if err := u.sandbox.Kill(ctx); err != nil {
		return fmt.Errorf("stopping processes of earlier commands: %w", err)
	}
	return nil
}

// quiet waits for the end of another sandbox that is on its way out, and ends what
// is left in one that is not.
func (u *tenure) quiet(ctx context.Context, other *lease) error {
	ready := other.ready
	if u.leases.isLeaving(other) {
		u.leases.evict(other)
		ready = other.gone
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if other.id() == "" || u.leases.isLeaving(other) {
		return nil
	}
	if err := other.endKernels(ctx); err != nil {
		return err
	}
	return other.sandbox.Kill(ctx)
}

// release ends a tenure.
func (u *tenure) release() {
	if u.riding {
		return
	}
	u.gate.Release(u.weight)
	u.leases.leave(u.lease)
}

// gateOf is the gate of a tenant's workspace: whoever is alone in a sandbox is
// alone on its files too, whatever other sandboxes still stand on them.
func (ls *leases) gateOf(t tenant) *semaphore.Weighted {
	for l := range ls.all {
		if l.sharesFiles(t) && l.gate != nil {
			return l.gate
		}
	}
	return semaphore.NewWeighted(exclusive)
}

// others are the leases that stand on the same files.
func (ls *leases) others(than *lease) (all []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if l != than && l.sharesFiles(than.tenant) {
			all = append(all, l)
		}
	}
	return all
}

// isLeaving says whether a lease is closed as soon as nobody uses it.
func (ls *leases) isLeaving(l *lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return l.retired != ""
}

// whyGone says why a lease's sandbox is closed, or is being; empty while it stays.
func (ls *leases) whyGone(l *lease) string {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	switch {
	case !l.removed:
		return ""
	case l.taken != "":
		return l.taken.Error() + "."
	case l.retired == reasonFailed:
		return sandboxFailed
	}
	return "Its sandbox was removed."
}

const sandboxFailed = "Its sandbox failed."
