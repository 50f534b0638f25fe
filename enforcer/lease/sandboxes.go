package lease

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Sandbox is what operators are shown of one.
type Sandbox struct {
	ID, Backend, Image, Runtime, Caller, Session string
	// Users counts the requests that are in it now, Processes what runs in the
	// background, Interpreters those that wait for a script or run one.
	Users, Processes, Interpreters int
	Since, LastUsed                time.Time
	// Expires is when it goes at the latest.
	Expires time.Time
}

// Sandboxes lists the live ones, the oldest first.
func (p *Pool) Sandboxes() []Sandbox {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Sandbox
	for l := range p.all {
		if id := l.ID(); id != "" && !l.removed && l.Alive() {
			list = append(list, l.shownLocked(id))
		}
	}
	slices.SortFunc(list, func(a, b Sandbox) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Held is a sandbox with the sessions that are in it.
type Held struct {
	Backend, ID string
	Sessions    []bailiff.Session
	// MayHaveMore says that there may be other sessions in it.
	MayHaveMore bool
}

// Held lists the sandboxes that are there, be they on their way out.
func (p *Pool) Held() (all []Held) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.all {
		if id := l.ID(); id != "" {
			all = append(all, Held{Backend: l.backend, ID: id, Sessions: slices.Clone(l.sessions),
				MayHaveMore: l.hasUnknownSessionsLocked()})
		}
	}
	slices.SortFunc(all, func(a, b Held) int { return cmp.Or(strings.Compare(a.Backend, b.Backend), strings.Compare(a.ID, b.ID)) })
	return all
}

// Remove stops and removes one; found is false when there is none of that id.
func (p *Pool) Remove(id string) (found bool) {
	return len(p.drop(reasonRemoved, func(l *Lease) bool { return l.ID() == id })) > 0
}

// Reap removes every sandbox that no request uses now, and what earlier runs of
// this sidecar left behind; it returns how many sandboxes. Those whose removal had
// begun before are gone then, too.
func (p *Pool) Reap(ctx context.Context) (int, error) {
	p.supply.Drain(reasonRemoved)
	idle := p.drop(reasonRemoved, func(l *Lease) bool { return l.users == 0 })
	removing := p.leases(func(l *Lease) bool { return l.removed }) // though their sandboxes are not gone yet
	if err := await(ctx, removing); err != nil {
		return len(idle), err
	}
	swept, err := p.Sweep(ctx)
	return len(idle) + swept, err
}

// leases are those that match, called with the lock held, of all whose sandboxes are not
// gone yet.
func (p *Pool) leases(match func(*Lease) bool) (all []*Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.all {
		if match(l) {
			all = append(all, l)
		}
	}
	return all
}

// anyOf says whether something in a set matches.
func anyOf[T comparable](set map[T]bool, match func(T) bool) bool {
	for one := range set {
		if match(one) {
			return true
		}
	}
	return false
}

// removed tells of the end of one.
func (p *Pool) removed(l *Lease, reason string, err error) {
	p.config.Sandboxes.SandboxReaped(l.backend, reason)
	p.config.Processes.Removed(l)
	if err != nil {
		p.config.Log.Error("removing a sandbox", "backend", l.backend, "sandbox", l.ID(), "error", err)
	}
	p.noteSandbox(l.caller, l.session, l.backend, l.ID(), reason)
}

// shownLocked is a lease as operators see it.
func (l *Lease) shownLocked(id string) Sandbox {
	running := len(l.residents) - l.endedLocked()
	return Sandbox{ID: id, Backend: l.backend, Caller: l.caller, Session: l.session, Image: l.spec.Image, Runtime: l.spec.Runtime,
		Users: l.users - len(l.residents), Processes: running, Interpreters: len(l.kernels.keys()), Since: l.since, LastUsed: l.used,
		Expires: l.expires}
}

// drop takes the leases that match out of use and closes them, though requests use
// them: their commands are killed with the sandbox.
func (p *Pool) drop(reason string, match func(*Lease) bool) (dropped []*Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropLocked(reason, match)
}

func (p *Pool) dropLocked(reason string, match func(*Lease) bool) (dropped []*Lease) {
	for l := range p.all {
		if !l.removed && match(l) {
			l.evictLocked(Evicted(reason))
			p.retireLocked(l, reason)
			p.removeLocked(l)
			dropped = append(dropped, l)
		}
	}
	return dropped
}

func (p *Pool) dropOne(l *Lease, reason string) {
	p.drop(reason, func(other *Lease) bool { return other == l })
}

// closeAll drops all leases and returns when every one is gone.
func (p *Pool) closeAll() {
	p.supply.Close()
	p.mu.Lock()
	clear(p.retained)
	p.mu.Unlock()
	every := func(*Lease) bool { return true }
	p.drop(reasonShutdown, every)
	_ = await(context.Background(), p.leases(every)) // every closing is bounded by itself
}

// await returns when the sandboxes of all leases are gone.
func await(ctx context.Context, all []*Lease) error {
	for _, l := range all {
		select {
		case <-l.gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// awaitRemoved waits for leases that are closed. The error says which sandboxes may go on.
func awaitRemoved(ctx context.Context, all []*Lease) error {
	if err := await(ctx, all); err != nil {
		return err
	}
	var faults []error
	for _, l := range all {
		faults = append(faults, l.unclosed)
	}
	return errors.Join(faults...)
}
