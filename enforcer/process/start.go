package process

import (
	"context"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/output"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

// Start is a command that a request starts in the background.
type Start struct {
	Request bailiff.Request
	// DecisionID is of the decision that lets it; Lifted says that an operator's word does,
	// not the policies.
	DecisionID string
	Lifted     bool
	Decision   bailiff.Decision
	Command    backends.Command
	// Variables are the values of those that it gets.
	Variables map[string]bailiff.Secret
	// Way is how it leaves the sandbox. It ends with the process.
	Way Way
}

// Way is how a process leaves its sandbox.
type Way interface {
	// End cuts its connections.
	End()
	// Tell puts what became of them into an answer.
	Tell(*bailiff.Answer)
}

// Ways are two of them, which end together.
type Ways [2]Way

// End ends both.
func (w Ways) End() {
	for _, way := range w {
		way.End()
	}
}

// Tell has both tell.
func (w Ways) Tell(a *bailiff.Answer) {
	for _, way := range w {
		way.Tell(a)
	}
}

// Start starts a command in a sandbox that is held still, so that the command lives in
// it before any other request comes in.
func (t *Table) Start(ctx context.Context, h *lease.Hold, s Start) (*Process, error) {
	room, err := t.reserve(s.Request, s.Decision.Limits)
	if err != nil {
		return nil, err
	}
	defer room.giveUp()
	p := &Process{
		id: newID(), request: s.Request, decision: s.DecisionID, lifted: s.Lifted,
		names: slices.Clone(s.Decision.Env.Forward), lease: h.Lease(), started: time.Now(),
		judge: t.config.Policies, typed: newTyped(s.Request.Args.Stdin), reader: turn.New(),
		values: s.Variables, log: output.NewLog(0, s.Variables), over: make(chan struct{}),
		way: s.Way,
	}
	if p.job, err = h.Start(ctx, s.Command, p.id); err != nil {
		return nil, err
	}
	p.lease.Occupy(p)
	room.fill(p)
	p.lease.Changed()
	t.watchers.Go(func() { t.watch(p) })
	return p, nil
}

// KillTimeout bounds what is done to a process when no request's time does.
const KillTimeout = 10 * time.Second

// watch sees a process to its end: it is recorded, and the sandbox is let go.
func (t *Table) watch(p *Process) {
	select {
	case <-p.job.Done():
	case <-p.lease.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), KillTimeout)
	defer cancel()
	if p.way != nil {
		p.way.End()
	}
	t.config.Recorder.Note(p.ending(p.finish(ctx)))
	for _, old := range t.surplus(lease.KeyOf(p.request)) {
		if err := old.job.Forget(ctx); err != nil {
			t.config.Log.Warn("forgetting a background process", "process", old.id, "decision_id", old.decision, "error", err)
		}
	}
	p.lease.Changed()
	p.linger()
	p.lease.Vacate(p)
	if p.lease.WhyGone() != "" {
		<-p.lease.Done()
		t.drop(func(other *Process) bool { return other == p })
	}
}

// linger keeps a sandbox that is on its way out, so that its session can still read
// how the process ended, as long as an unused one stays.
func (p *Process) linger() {
	if !p.lease.IsLeaving() {
		return
	}
	timer := time.NewTimer(p.lease.Idle())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.lease.Done():
	}
}

// ending is the event of a process that has ended. It has no request id: what the
// request was answered stands in an event of its own.
func (p *Process) ending(how ledger.End) api.Event {
	return api.Event{
		DecisionID:  p.decision,
		Timestamp:   time.Now().UTC(),
		RequestedBy: p.request.Caller,
		Custom: api.Custom{
			Event: api.ExecutionEvent, Session: p.request.Session.ID, Agent: p.request.Session.Agent,
			Status: how.Status, ExitCode: &how.ExitCode,
			Backend: p.lease.Backend(), SandboxID: p.lease.ID(), Nanoseconds: how.At.Sub(p.started).Nanoseconds(),
			Message: "Background process " + p.id + " ended. " + how.Message,
		},
	}
}
