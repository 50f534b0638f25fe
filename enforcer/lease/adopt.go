package lease

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
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

const (
	// adoptTimeout bounds the adoption of one sandbox, adoptsTimeout that of all, for
	// requests wait; adoptsAtOnce is how many are adopted at once.
	adoptTimeout  = 10 * time.Second
	adoptsTimeout = 30 * time.Second
	adoptsAtOnce  = 8
)

// Adopt goes on with the sandboxes that an earlier run of this sidecar leased and
// that run still, as if it had leased them itself. It must be called once, before
// the first request. A sandbox that cannot be adopted is forgotten, and so left to
// a sweep.
func (p *Pool) Adopt(ctx context.Context) {
	records, err := p.config.Ledger.All()
	if err != nil {
		p.config.Log.Error("reading which sandboxes are leased; none is gone on with", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, adoptsTimeout)
	defer cancel()
	var adoptions sync.WaitGroup
	places := make(chan struct{}, adoptsAtOnce)
	for _, record := range records {
		p.losses.recall(record)
	}
	for _, record := range p.latest(records) {
		places <- struct{}{}
		adoptions.Go(func() {
			defer func() { <-places }()
			p.adopt(ctx, record)
		})
	}
	adoptions.Wait()
}

// latest forgets all but the newest sandbox of each slot: those before it were on
// their way out.
func (p *Pool) latest(records []ledger.Sandbox) (kept []ledger.Sandbox) {
	slices.SortFunc(records, func(a, b ledger.Sandbox) int { return cmp.Or(cmp.Compare(a.Slot, b.Slot), b.Since.Compare(a.Since)) })
	for i, record := range records {
		if i > 0 && records[i-1].Slot == record.Slot {
			p.discardRecord(record, errors.New("another sandbox had taken its place"))
			continue
		}
		kept = append(kept, record)
	}
	return kept
}

// adopt goes on with one sandbox, or forgets it.
func (p *Pool) adopt(ctx context.Context, record ledger.Sandbox) {
	maker, err := p.adopter(record)
	if errors.Is(err, errFrozen) {
		p.retain(record, reasonFrozen, maxAge)
	}
	if err != nil {
		p.discardRecord(record, err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, adoptTimeout)
	defer cancel()
	sandbox, err := maker.Adopt(ctx, record.ID, record.Spec)
	if err != nil {
		p.discardRecord(record, err)
		return
	}
	jobs, err := sandbox.Processes(ctx)
	if err != nil {
		p.discardRecord(record, errors.Join(fmt.Errorf("listing its processes: %w", err), sandbox.Close(ctx)))
		return
	}
	l := p.leaseOf(record, sandbox)
	defer p.leave(l)
	if err := p.config.Processes.Adopt(ctx, l, record.Processes, jobs); err != nil {
		p.config.Log.Warn("not every process of an adopted sandbox is gone on with", "sandbox", record.ID, "error", err)
	}
	p.config.Sandboxes.SandboxAdopted(record.Backend)
	p.config.Log.Info("a sandbox of an earlier run is gone on with", "backend", record.Backend, "sandbox", record.ID, "processes",
		len(p.config.Processes.Entries(l)))
	p.noteSandbox(record.Caller, record.Session, record.Backend, record.ID, "adopted")
}

// adopter is the backend that can attach to a sandbox anew, if the sandbox is to
// be gone on with at all.
func (p *Pool) adopter(record ledger.Sandbox) (backends.Adopter, error) {
	maker, ok := p.config.Backends[record.Backend].(backends.Adopter)
	switch {
	case !ok:
		return nil, fmt.Errorf("backend %s is not there, or cannot attach to a sandbox anew", record.Backend)
	case record.Spec.Owner != p.config.Owner:
		return nil, errors.New("it is another sidecar's")
	case !time.Now().Before(record.Expires):
		return nil, errors.New("it has expired")
	case slices.ContainsFunc(record.Guests, p.isFrozen):
		return nil, errFrozen
	}
	return maker, nil
}

var errFrozen = errors.New("an operator has frozen a session that used it")

func (p *Pool) isFrozen(s bailiff.Session) bool {
	_, frozen := p.config.Freezer.Frozen(s)
	return frozen
}

// discardRecord forgets a sandbox that cannot be gone on with.
func (p *Pool) discardRecord(record ledger.Sandbox, why error) {
	for _, process := range record.Processes {
		p.config.Processes.Lost(process, "The sidecar was started anew, and its sandbox could not be gone on with.")
	}
	p.config.Log.Warn("a sandbox of an earlier run is not gone on with", "backend", record.Backend, "sandbox", record.ID, "reason", why)
	if err := p.config.Ledger.Drop(record.Key()); err != nil {
		p.config.Log.Error("forgetting a sandbox", "error", err)
	}
}

// noteSandbox tells the decision log what became of a sandbox.
func (p *Pool) noteSandbox(caller, session, backend, id, message string) {
	p.config.Recorder.Note(api.Event{
		DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), RequestedBy: caller,
		Custom: api.Custom{Event: api.SandboxEvent, Session: session, Backend: backend, SandboxID: id, Message: message},
	})
}

// leaseOf makes a lease of a sandbox that was leased before. The adoption uses it until
// it leaves; then the idle clock starts anew.
func (p *Pool) leaseOf(record ledger.Sandbox, sandbox backends.Sandbox) *Lease {
	t := Spec{caller: record.Caller, session: record.Session, peer: record.Peer, user: record.User, backend: record.Backend,
		slot: record.Slot, shared: record.Shared, persistent: record.Persistent, idle: record.Idle, spec: record.Spec}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[t.slot] = t.spec.Workspace
	l := p.addLocked(t, record.Since, record.Expires)
	l.sandbox, l.users, l.used = sandbox, 1, time.Now()
	for _, session := range record.Guests {
		l.addSessionLocked(session)
	}
	p.nameGivenLocked(l.givenKey(), record.Variables)
	l.stale = false
	close(l.ready)
	for _, at := range record.Workdirs {
		p.workdirs[at.Of] = Workdir{l, at.Path, at.InWorkspace}
	}
	return l
}
