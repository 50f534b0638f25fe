package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// background starts a matter's command in its sandbox, and answers without waiting
// for its end. The sandbox is held still, so that the command lives in it before
// anybody else comes in.
func (e *Enforcer) background(ctx context.Context, g grant) answer {
	room, err := e.processes.reserve(g.located, g.Decision.Limits)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	defer room.giveUp()
	p := e.newProcess(g)
	p.job, err = g.use.sandbox.Start(ctx, backgroundCommand(g), p.id)
	a := answer{started: !errors.Is(err, backends.ErrNotStarted)}
	a.Backend, a.SandboxID = g.Decision.Backend.Name, g.use.sandbox.ID()
	if err != nil {
		return e.broken(ctx, g.located, g.use, a, err)
	}
	e.leases.occupy(g.use.lease, p)
	room.fill(p)
	e.leases.changed(g.use.lease)
	e.processes.watchers.Go(func() { e.watch(p) })
	if g.reloads != e.reloads.Load() { // whoever judged anew what is live did not see it yet
		e.newReview().ofOccupant(ctx, g.use.lease, p)
	}
	if ctx.Err() != nil { // nobody would learn its id
		return p.unwanted(a, stopped(ctx))
	}
	a.Status, a.ProcessID, a.Processes = bailiff.Completed, p.id, []bailiff.ProcessState{p.state(ctx)}
	a.Message = fmt.Sprintf("Started in the background as %s; the process tool shows its output, writes to it and ends it.", p.id)
	a.note(circumstances(backends.Exit{}, g.use, g.Decision)...)
	return a
}

func (e *Enforcer) newProcess(g grant) *process {
	return &process{
		id: newProcessID(), request: g.located, decision: g.event.DecisionID, lifted: g.event.Custom.BreakGlass != nil,
		names: slices.Clone(g.Decision.Env.Forward), lease: g.use.lease, started: time.Now(),
		judge: e.judgesAgain, typed: newTyped(g.located.Args.Stdin), reader: newTurn(),
		values: g.env, scroll: scrollFrom(0, g.env), over: make(chan struct{}),
	}
}

// judgesAgain is what the policies say to a request now.
func (e *Enforcer) judgesAgain(ctx context.Context, req bailiff.Request) bailiff.Decision {
	return e.decide(ctx, req, nil).Decision
}

// backgroundCommand has the time limit that the request names, within that of the
// policies for what runs in the background, which may be none.
func backgroundCommand(g grant) backends.Command {
	cmd := command(g)
	cmd.Timeout = time.Duration(g.located.Args.Timeout) * time.Second
	if most := time.Duration(g.Decision.Limits.BackgroundSeconds) * time.Second; most > 0 && (cmd.Timeout == 0 || cmd.Timeout > most) {
		cmd.Timeout = most
	}
	return cmd
}

// unwanted ends a process whose requester went away while it was started.
func (p *process) unwanted(a answer, why string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, why
	if err := p.kill(ctx, why); err != nil {
		a.note(bailiff.Sentence("stopping it: " + err.Error()))
	}
	return a
}

// killTimeout bounds what is done to a process when no request's time does.
const killTimeout = 10 * time.Second

// watch sees a process to its end: it is recorded, and the sandbox is let go.
func (e *Enforcer) watch(p *process) {
	select {
	case <-p.job.Done():
	case <-p.lease.gone:
	}
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	e.config.Recorder.Note(p.ending(p.finish(ctx)))
	for _, old := range e.processes.surplus(keyOf(p.request)) {
		if err := old.job.Forget(ctx); err != nil {
			e.config.Log.Warn("forgetting a background process", "process", old.id, "decision_id", old.decision, "error", err)
		}
	}
	p.lease.leases.changed(p.lease)
	p.linger()
	p.lease.leases.vacate(p.lease, p)
	if p.lease.leases.whyGone(p.lease) != "" {
		<-p.lease.gone
		e.processes.drop(func(other *process) bool { return other == p })
	}
}

// linger keeps a sandbox that is on its way out, so that its session can still read
// how the process ended, as long as one stays that nobody uses.
func (p *process) linger() {
	if !p.lease.leases.isLeaving(p.lease) {
		return
	}
	timer := time.NewTimer(p.lease.idle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.lease.gone:
	}
}

// ending is the event of a process that has ended. It has no request id: what the
// request was answered stands in an event of its own.
func (p *process) ending(how ledger.End) api.Event {
	a := answer{Answer: bailiff.Answer{Status: how.Status, ExitCode: how.ExitCode, Backend: p.lease.backend, SandboxID: p.lease.id(),
		Duration: how.At.Sub(p.started), Message: "Background process " + p.id + " ended. " + how.Message}}
	begun := api.Event{DecisionID: p.decision, RequestedBy: p.request.Caller, Custom: api.Custom{Session: p.request.Session.ID}}
	return executed(begun, a)
}
