// Package lease holds who shares which sandbox.
//
// A request's [Spec] says who it is for and what its sandbox must be like.
// [Pool.Acquire] returns a [Hold] on the session's sandbox: the one that is there if it
// fits, one that stands ready, or a new one. The hold runs commands, and ends with
// [Hold.Release]. The [Lease] behind it goes on until the sandbox was idle for long
// enough, reached its greatest age, failed, or was taken away.
//
// Promised here:
//   - at most one live sandbox serves a scope on a backend, whatever comes at once;
//   - a hold that must be alone is alone on the sandbox's files, and what earlier
//     commands left running there has ended;
//   - files outlast their sandbox where they are to, and no request comes to files that
//     are being removed;
//   - what runs in a sandbox that is taken away ends first, and is told why;
//   - a sandbox of an earlier run is gone on with only if its ledger says all of it.
//
// Not here: whether a request may run (enforcer), where and how a sandbox is had (enforcer/supply), what
// background processes do (enforcer/process).
package lease

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

// Pool holds the sandboxes that are in use or kept warm, at most one a slot.
type Pool struct {
	config   Config
	supply   *supply.Supply
	sweeping turn.Turns
	kept     *kept

	mu   sync.Mutex
	most Bounds
	// live are the leases that new requests may join, by slot; all are those whose
	// sandbox is not gone yet, retired ones that still have users among them.
	live     map[string]*Lease
	all      map[*Lease]bool
	workdirs map[string]Workdir // by caller and session
	// retained are unused workspaces that stay for a while, by key.
	retained map[string]retention
	// names are the workspaces that are called otherwise than their scope, by slot.
	names map[string]string
	// failed are the slots whose sandbox failed and whose next user is to be told.
	failed map[string]bool
	// given are the variables that commands got, by workspace.
	given  map[string]given
	losses losses
	// unremoved is why files on a backend could not be removed, until a sweep has removed all.
	unremoved map[string]error
}

// New returns a Pool of what the config names. A fault means that the workspaces that
// are kept could not be read.
func New(c Config) (*Pool, error) {
	if c.CheckOwner == nil {
		c.CheckOwner = func() error { return nil }
	}
	kept, err := readKept(c.Workspaces, c.Log)
	if err != nil {
		return nil, err
	}
	p := &Pool{
		config: c, sweeping: turn.Of(c.Backends), kept: kept,
		supply: supply.New(supply.Config{Backends: c.Backends, Sandboxes: c.Sandboxes, Readiness: c.Readiness, Log: c.Log}),
		live:   map[string]*Lease{}, all: map[*Lease]bool{}, workdirs: map[string]Workdir{},
		retained: map[string]retention{}, names: kept.names(), failed: map[string]bool{},
		given: map[string]given{}, unremoved: map[string]error{},
	}
	for _, w := range kept.find(func(ledger.Workspace) bool { return true }) {
		p.nameGivenLocked(w.Key(), w.Variables)
	}
	return p, nil
}

// EndSession removes a session's sandboxes with their files, and returns how many, and of how many
// the files could not be removed yet. In one that is the user's its interpreters end.
func (p *Pool) EndSession(ctx context.Context, caller, session string) (dropped, unremoved int, err error) {
	dropped, ending, left := p.end(caller, session)
	if err := p.empty(context.WithoutCancel(ctx), left); err != nil {
		p.config.Log.Warn("removing the files of a session that has ended; a sweep will", "error", err)
	}
	err = await(ctx, ending)
	return dropped, p.countUnremoved(slices.Concat(ending, left)), errors.Join(err, p.endKernels(ctx, Key{caller, session}))
}

// Halt removes the sandboxes in which a session was that matches, and returns when they
// are gone. Their workspaces stay for when the sessions go on.
func (p *Pool) Halt(ctx context.Context, match func(bailiff.Session) bool) error {
	return awaitRemoved(ctx, p.drop(reasonFrozen, func(l *Lease) bool { return l.isForLocked(match) }))
}

// Suspend removes every sandbox while the store that sidecars share does not answer, and returns when they
// are gone. Their workspaces stay for when the sessions go on.
func (p *Pool) Suspend(ctx context.Context) error {
	return awaitRemoved(ctx, p.drop(reasonOutage, func(*Lease) bool { return true }))
}

// Yield removes the sandboxes in which a session was that another sidecar serves by now, and
// returns when they are gone.
func (p *Pool) Yield(ctx context.Context, key Key) {
	_ = await(ctx, p.drop(reasonYielded, func(l *Lease) bool { return slices.Contains(l.keysLocked(), key) }))
}

// DropIdle begins to remove the sandboxes that no request uses, in which nothing else runs, and none of whose
// sessions is busy.
func (p *Pool) DropIdle(busy func(caller, session string) bool) {
	p.drop(reasonShutdown, func(l *Lease) bool {
		return l.users == l.endedLocked() && !slices.ContainsFunc(l.keysLocked(), func(k Key) bool { return busy(k.Caller, k.Session) })
	})
}

// Close removes every sandbox, and what else the backends keep for them.
func (p *Pool) Close(ctx context.Context) {
	p.closeAll()
	p.supply.Wait()
	if _, err := p.sweepAll(context.WithoutCancel(ctx), lastSweepTimeout); err != nil {
		p.config.Log.Warn("removing what is left at the end", "error", err)
	}
}

// States are what policies see of the backends. One in which the session is served
// is as good as ready for it.
func (p *Pool) States(caller, session string) map[string]bailiff.BackendState {
	return p.supply.States(func(backend string) bool { return p.serves(caller, session, backend) })
}

// Reprobe has a backend probed again soon, after it failed a request.
func (p *Pool) Reprobe(backend string) { p.supply.Reprobe(backend) }

// OpenFailed learns that a backend opened no sandbox: it is probed again soon, and what
// its images mean is asked anew.
func (p *Pool) OpenFailed(backend string) { p.supply.OpenFailed(backend) }
