package enforcer

import (
	"context"
	"errors"
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// adoptProcesses goes on with the background processes of an adopted sandbox. What
// runs there and is not known is ended, and so is what got variables: nobody knows
// any more which values these had, so that its output could not be redacted.
func (e *Enforcer) adoptProcesses(ctx context.Context, l *lease, records []ledger.Process, jobs []backends.Process) error {
	var faults []error
	for _, record := range records { // in the order in which they were started
		at := slices.IndexFunc(jobs, func(job backends.Process) bool { return job.Tag() == record.ID })
		if at < 0 {
			e.processes.missed(record, "It was lost while the sidecar was started anew.")
			continue
		}
		p := e.adoptProcess(l, record, jobs[at])
		if p.private() && p.running() {
			faults = append(faults, p.kill(ctx, "The sidecar was started anew; what got variables is not gone on with."))
		}
		jobs = slices.Delete(jobs, at, at+1)
	}
	for _, job := range jobs {
		faults = append(faults, job.Kill(ctx), job.Forget(ctx))
	}
	e.leases.changed(l)
	return errors.Join(faults...)
}

func (e *Enforcer) adoptProcess(l *lease, record ledger.Process, job backends.Process) *process {
	p := &process{
		id: record.ID, request: record.Request, decision: record.DecisionID, lifted: record.Lifted, names: record.Forwarded,
		lease: l, job: job, started: record.Started, judge: e.judgesAgain, typed: retyped(record.Midline), reader: newTurn(),
		scroll: scrollFrom(record.Polled, nil), over: make(chan struct{}),
	}
	p.request.Caller, p.request.Peer = record.Caller, record.Peer
	p.polled.Store(record.Polled)
	e.processes.add(p)
	if record.End != nil {
		p.end = *record.End
		close(p.over)
		return p
	}
	e.leases.occupy(l, p)
	e.processes.watchers.Go(func() { e.watch(p) })
	return p
}

// entries are what the ledger should know of the processes in a sandbox.
func (ps *processes) entries(l *lease) (all []ledger.Process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, known := range ps.known {
		for _, p := range known {
			if p.lease == l {
				all = append(all, p.entry())
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ledger.Process) int { return a.Started.Compare(b.Started) })
	return all
}

func (p *process) entry() ledger.Process {
	entry := ledger.Process{ID: p.id, Request: p.request, Caller: p.request.Caller, Peer: p.request.Peer, DecisionID: p.decision, Lifted: p.lifted,
		Forwarded: p.names, Started: p.started, Polled: p.polled.Load(), Midline: p.typed.midline()}
	entry.Request.Args.Stdin = ""
	if end, ended := p.ended(); ended {
		entry.End = &end
	}
	return entry
}
