package enforcer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// run runs the request in its sandbox and words the answer.
func (e *Enforcer) run(ctx context.Context, req bailiff.Request, d bailiff.Decision, use *tenure, env map[string]bailiff.Secret, news func(bailiff.Progress)) answer {
	out := newOutput(d.Limits.OutputBytes, env, news)
	cmd := command(req, d, env)
	cmd.HeadBytes, cmd.TailBytes = out.caps()
	cmd.Reap = use.weight == exclusive
	exit, err := use.sandbox.Run(ctx, cmd, out.take)
	a := answer{started: !errors.Is(err, backends.ErrNotStarted)}
	a.Backend, a.SandboxID, a.Duration = d.Backend.Name, use.sandbox.ID(), exit.Duration
	a.Output, a.Truncated = out.end(exit.Dropped)
	if err != nil {
		return e.broken(ctx, req, use, a, err)
	}
	use.leases.moved(use.lease, req.Caller, req.Session.ID, exit.Workdir)
	a.Status, a.ExitCode, a.Message = ending(exit, cmd.Timeout, use.stopped)
	return a
}

// ending words how a command that ran has ended.
func ending(exit backends.Exit, timeout time.Duration, stopped int) (bailiff.Status, int, string) {
	switch {
	case exit.TimedOut:
		return bailiff.TimedOut, bailiff.ExitTimeout, fmt.Sprintf("Stopped after %s, with everything it had started.", timeout)
	case exit.Interrupted:
		return bailiff.Interrupted, bailiff.ExitInterrupted, "Interrupted; the command and everything it had started was stopped."
	case stopped > 0:
		return bailiff.Completed, exit.Code, fmt.Sprintf("Stopped %d processes of earlier commands first: a request with variables runs alone in its sandbox.", stopped)
	}
	return bailiff.Completed, exit.Code, ""
}

// broken words the answer of a request whose sandbox failed it.
func (e *Enforcer) broken(ctx context.Context, req bailiff.Request, use *tenure, a answer, err error) answer {
	a.ExitCode, a.Message = bailiff.ExitFailed, sentence(fmt.Sprintf("running in the %s sandbox: %v", a.Backend, err))
	switch {
	case !a.started && ctx.Err() != nil:
		a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, interrupted("").Message
	case !a.started:
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeBackend
		use.leases.moved(use.lease, req.Caller, req.Session.ID, "")
	default:
		a.Status, a.Code = bailiff.Failed, bailiff.CodeOutcomeUnknown
		e.readiness.doubt(a.Backend, err)
	}
	return a
}

// command turns a request into what the runner starts.
func command(req bailiff.Request, d bailiff.Decision, env map[string]bailiff.Secret) backends.Command {
	cmd := runner.Shell(req.Args.Command)
	cmd.Stdin = []byte(req.Args.Stdin)
	if req.Tool == bailiff.ExecuteCode {
		cmd = runner.Python(req.Args.Code)
	}
	cmd.Workdir = req.Args.Workdir
	cmd.Timeout = timeout(req.Args.Timeout, d.Limits.TimeoutSeconds)
	cmd.Env = environment(d.Env.Set, env)
	return cmd
}

// timeout is the shorter of what the request asks for and the policies allow.
func timeout(asked, allowed int) time.Duration {
	if asked > 0 && asked < allowed {
		allowed = asked
	}
	return time.Duration(allowed) * time.Second
}

// environment joins the policies' constants and the forwarded variables, which win.
func environment(constants map[string]string, forwarded map[string]bailiff.Secret) map[string]bailiff.Secret {
	env := make(map[string]bailiff.Secret, len(constants)+len(forwarded))
	for name, value := range constants {
		env[name] = bailiff.NewSecret(value)
	}
	for name, value := range forwarded {
		env[name] = value
	}
	return env
}
