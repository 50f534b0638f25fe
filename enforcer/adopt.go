package enforcer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

const (
	// adoptTimeout bounds the adoption of one sandbox, adoptsTimeout that of all, for
	// requests wait; adoptsAtOnce is how many are adopted at once.
	adoptTimeout  = 10 * time.Second
	adoptsTimeout = 30 * time.Second
	adoptsAtOnce  = 8
)

// Adopt goes on with the sandboxes that an earlier run of this sidecar let and
// that run still, as if it had let them itself. It must be called once, before
// the first request. Whatever cannot be gone on with is forgotten, and so left to
// a sweep.
func (e *Enforcer) Adopt(ctx context.Context) {
	records, err := e.config.Ledger.All()
	if err != nil {
		e.config.Log.Error("reading which sandboxes are let; none is gone on with", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, adoptsTimeout)
	defer cancel()
	var adoptions sync.WaitGroup
	places := make(chan struct{}, adoptsAtOnce)
	for _, record := range records {
		e.leases.losses.recall(record)
	}
	for _, record := range e.latest(records) {
		places <- struct{}{}
		adoptions.Go(func() {
			defer func() { <-places }()
			e.adopt(ctx, record)
		})
	}
	adoptions.Wait()
}

// latest forgets all but the newest sandbox of each slot: those before it were on
// their way out.
func (e *Enforcer) latest(records []ledger.Sandbox) (kept []ledger.Sandbox) {
	slices.SortFunc(records, func(a, b ledger.Sandbox) int { return cmp.Or(cmp.Compare(a.Slot, b.Slot), b.Since.Compare(a.Since)) })
	for i, record := range records {
		if i > 0 && records[i-1].Slot == record.Slot {
			e.renounce(record, errors.New("another sandbox had taken its place"))
			continue
		}
		kept = append(kept, record)
	}
	return kept
}

// adopt goes on with one sandbox, or forgets it.
func (e *Enforcer) adopt(ctx context.Context, record ledger.Sandbox) {
	maker, err := e.adopter(record)
	if errors.Is(err, errFrozen) {
		e.leases.park(record, reasonFrozen, maxAge)
	}
	if err != nil {
		e.renounce(record, err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, adoptTimeout)
	defer cancel()
	sandbox, err := maker.Adopt(ctx, record.ID, record.Spec)
	if err != nil {
		e.renounce(record, err)
		return
	}
	jobs, err := sandbox.Processes(ctx)
	if err != nil {
		e.renounce(record, errors.Join(fmt.Errorf("listing its processes: %w", err), sandbox.Close(ctx)))
		return
	}
	l := e.leases.adopt(record, e.config.Backends[record.Backend], sandbox)
	defer e.leases.leave(l)
	if err := e.adoptProcesses(ctx, l, record.Processes, jobs); err != nil {
		e.config.Log.Warn("not every process of an adopted sandbox is gone on with", "sandbox", record.ID, "error", err)
	}
	e.config.Observer.SandboxAdopted(record.Backend)
	e.config.Log.Info("a sandbox of an earlier run is gone on with", "backend", record.Backend, "sandbox", record.ID, "processes", len(e.processes.in(l)))
	e.noteSandbox(record.Caller, record.Session, record.Backend, record.ID, "adopted")
}

// adopter is the backend that can attach to a sandbox anew, if the sandbox is to
// be gone on with at all.
func (e *Enforcer) adopter(record ledger.Sandbox) (backends.Adopter, error) {
	maker, ok := e.config.Backends[record.Backend].(backends.Adopter)
	switch {
	case !ok:
		return nil, fmt.Errorf("backend %s is not there, or cannot attach to a sandbox anew", record.Backend)
	case record.Spec.Owner != e.config.Owner:
		return nil, errors.New("it is another sidecar's")
	case !time.Now().Before(record.Expires):
		return nil, errors.New("it has expired")
	case slices.ContainsFunc(record.Guests, e.isFrozen):
		return nil, errFrozen
	}
	return maker, nil
}

var errFrozen = errors.New("an operator has frozen whom it is let to")

func (e *Enforcer) isFrozen(s bailiff.Session) bool {
	_, frozen := e.config.Freezer.Frozen(s)
	return frozen
}

// renounce forgets a sandbox that cannot be gone on with.
func (e *Enforcer) renounce(record ledger.Sandbox, why error) {
	for _, p := range record.Processes {
		e.processes.missed(p, "The sidecar was started anew, and its sandbox could not be gone on with.")
	}
	e.config.Log.Warn("a sandbox of an earlier run is not gone on with", "backend", record.Backend, "sandbox", record.ID, "reason", why)
	if err := e.config.Ledger.Drop(record.Key()); err != nil {
		e.config.Log.Error("forgetting a sandbox", "error", err)
	}
}

// noteSandbox tells the decision log what became of a sandbox.
func (e *Enforcer) noteSandbox(caller, session, backend, id, message string) {
	e.config.Recorder.Note(api.Event{
		DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), RequestedBy: caller,
		Custom: api.Custom{Event: api.SandboxEvent, Session: session, Backend: backend, SandboxID: id, Message: message},
	})
}

// adopt makes a lease of a sandbox that was let before. The adopter uses it until it
// leaves; then the idle clock starts anew.
func (ls *leases) adopt(record ledger.Sandbox, maker backends.Backend, sandbox backends.Sandbox) *lease {
	t := tenant{caller: record.Caller, session: record.Session, user: record.User, backend: record.Backend,
		slot: record.Slot, shared: record.Shared, persistent: record.Persistent, idle: record.Idle, spec: record.Spec}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.homes[t.slot] = t.spec.Workspace
	l := ls.add(t, maker, record.Since, record.Expires)
	l.sandbox, l.users, l.used = sandbox, 1, time.Now()
	for _, guest := range record.Guests {
		l.welcome(guest)
	}
	l.stale = false
	close(l.ready)
	for _, at := range record.Workdirs {
		ls.workdirs[at.Of] = workdir{l, at.Path, at.InWorkspace}
	}
	return l
}
