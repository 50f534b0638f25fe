package process

import (
	"context"
	"errors"
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/output"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

// Adopt goes on with the background processes of an adopted sandbox. What
// runs there and is not known is ended, and so is what got variables: which values
// these had is not known any more, so that its output could not be redacted.
func (t *Table) Adopt(ctx context.Context, l *lease.Lease, records []ledger.Process, jobs []backends.Process) error {
	var faults []error
	for _, record := range records { // in the order in which they were started
		at := slices.IndexFunc(jobs, func(job backends.Process) bool { return job.Tag() == record.ID })
		if at < 0 {
			t.Lost(record, "It was lost while the sidecar was started anew.")
			continue
		}
		p := t.adopt(l, record, jobs[at])
		if p.private() && p.Running() {
			faults = append(faults, p.Kill(ctx, "The sidecar was started anew; what got variables is not gone on with."))
		}
		jobs = slices.Delete(jobs, at, at+1)
	}
	for _, job := range jobs {
		faults = append(faults, job.Kill(ctx), job.Forget(ctx))
	}
	l.Changed()
	return errors.Join(faults...)
}

func (t *Table) adopt(l *lease.Lease, record ledger.Process, job backends.Process) *Process {
	p := &Process{
		id: record.ID, request: record.Request, decision: record.DecisionID, lifted: record.Lifted, names: record.Forwarded,
		lease: l, job: job, started: record.Started, judge: t.config.Policies, typed: retyped(record.Midline), reader: turn.New(),
		log: output.NewLog(record.Polled, nil), over: make(chan struct{}),
	}
	p.request.Caller, p.request.Peer = record.Caller, record.Peer
	p.polled.Store(record.Polled)
	t.add(p)
	if record.End != nil {
		p.end = *record.End
		close(p.over)
		return p
	}
	l.Occupy(p)
	t.watchers.Go(func() { t.watch(p) })
	return p
}

// Entries are what the ledger should know of the processes in a sandbox.
func (t *Table) Entries(l *lease.Lease) (all []ledger.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.known {
		for _, p := range known {
			if p.lease == l {
				all = append(all, p.entry())
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ledger.Process) int { return a.Started.Compare(b.Started) })
	return all
}

func (p *Process) entry() ledger.Process {
	entry := ledger.Process{ID: p.id, Request: p.request, Caller: p.request.Caller, Peer: p.request.Peer, DecisionID: p.decision,
		Lifted:    p.lifted,
		Forwarded: p.names, Started: p.started, Polled: p.polled.Load(), Midline: p.typed.midline()}
	entry.Request.Args.Stdin = ""
	if end, ended := p.ended(); ended {
		entry.End = &end
	}
	return entry
}
