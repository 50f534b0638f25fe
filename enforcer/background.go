package enforcer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
	"github.com/bailiff-dev/bailiff/enforcer/process"
)

// background starts a grant's command in its sandbox, and answers without waiting for
// its end.
func (e *Enforcer) background(ctx context.Context, g grant, w *guard.Guard) answer {
	way, err := e.openWay(context.WithoutCancel(ctx), g) // it ends with the process
	if err != nil {
		w.End()
		return e.noSandbox(ctx, g.Decision, err)
	}
	cmd := backgroundCommand(g)
	cmd.Env, cmd.Label = way.variables(cmd.Env), way.Label()
	p, err := e.processes.Start(ctx, g.held,
		process.Start{Request: g.located, DecisionID: g.event.DecisionID, Lifted: g.event.Custom.BreakGlass != nil,
			Decision: g.Decision, Command: cmd, Variables: e.secrets(g), Way: process.Ways{way, w}})
	if err != nil {
		process.Ways{way, w}.End()
	}
	if errors.Is(err, process.ErrTooMany) {
		return e.noSandbox(ctx, g.Decision, err)
	}
	a := answer{started: !errors.Is(err, backends.ErrNotStarted)}
	a.Backend, a.SandboxID = g.Decision.Backend.Name, g.held.ID()
	if err != nil {
		return e.broken(ctx, g, a, err)
	}
	if g.reloads != e.reloads.Load() { // the review after the reload did not see it yet
		g.held.Lease().ReviewResident(ctx, p)
	}
	if ctx.Err() != nil { // no client would learn its id
		return endUnheard(p, a, stopReason(ctx))
	}
	a.Status, a.ProcessID, a.Processes = bailiff.Completed, p.ID(), []bailiff.ProcessState{p.State(ctx)}
	a.Message = fmt.Sprintf("Started in the background as %s; the process tool shows its output, writes to it and ends it.", p.ID())
	a.Note(circumstances(backends.Exit{}, g.held, g.Decision)...)
	return a
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

// endUnheard ends a process whose requester went away while it was started.
func endUnheard(p *process.Process, a answer, why string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), process.KillTimeout)
	defer cancel()
	a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, why
	if err := p.Kill(ctx, why); err != nil {
		a.Note(bailiff.Sentence("stopping it: " + err.Error()))
	}
	return a
}

// attend does what a grant wants with the processes of its session. They run where they
// were started, so that it takes no sandbox.
func (e *Enforcer) attend(ctx context.Context, g grant) answer {
	start, a := time.Now(), answer{started: true}
	if g.located.Args.Action == "list" {
		a.Status, a.Backend, a.Processes = bailiff.Completed, g.Decision.Backend.Name, e.processes.States(ctx, g.located)
	} else {
		a.Answer = g.process.Attend(ctx, process.Task{Request: g.located, Plain: g.Plain, Begun: g.begun,
			Timeout: timeout(g.located.Args.Timeout, g.Decision.Limits.TimeoutSeconds), OutputBytes: g.Decision.Limits.OutputBytes})
	}
	if len(a.Output) > 0 {
		g.news(bailiff.Progress{Output: a.Output})
	}
	a.Duration = time.Since(start)
	return a
}
