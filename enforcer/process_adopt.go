package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// adoptProcesses goes on with the background processes of an adopted sandbox. What
// runs there and is not known, or whose variables cannot be had any more so that its
// output could not be redacted, is ended.
func (e *Enforcer) adoptProcesses(ctx context.Context, l *lease, records []ledger.Process, jobs []backends.Process) error {
	var faults []error
	for _, record := range records { // in the order in which they were started
		at := slices.IndexFunc(jobs, func(job backends.Process) bool { return job.Tag() == record.ID })
		if at < 0 {
			continue
		}
		values, err := e.values(bailiff.EnvTerms{Forward: record.Forwarded})
		if err != nil {
			faults = append(faults, fmt.Errorf("ending background process %s: %w", record.ID, err))
			continue
		}
		e.adoptProcess(l, record, values, jobs[at])
		jobs = slices.Delete(jobs, at, at+1)
	}
	for _, job := range jobs {
		faults = append(faults, job.Kill(ctx), job.Forget(ctx))
	}
	e.leases.changed(l)
	return errors.Join(faults...)
}

func (e *Enforcer) adoptProcess(l *lease, record ledger.Process, values map[string]bailiff.Secret, job backends.Process) {
	p := &process{
		id: record.ID, request: record.Request, decision: record.DecisionID, lifted: record.Lifted, names: record.Forwarded,
		lease: l, job: job, started: record.Started, judge: e.judgesAgain, typed: retyped(record.Midline), reader: newTurn(),
		values: values, scroll: scrollFrom(record.Polled, values), over: make(chan struct{}),
	}
	p.request.Caller, p.request.Peer = record.Caller, record.Peer
	p.polled.Store(record.Polled)
	e.processes.add(p)
	if record.End != nil {
		p.end = *record.End
		close(p.over)
		return
	}
	e.leases.occupy(l, p)
	e.processes.watchers.Go(func() { e.watch(p) })
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
