package enforcer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/output"
)

// run runs the request in its sandbox and words the answer.
func (e *Enforcer) run(ctx context.Context, g grant) (answered answer) {
	d, h := g.Decision, g.held
	out := output.New(d.Limits.OutputBytes, e.secrets(g), g.news)
	cmd := command(g)
	cmd.HeadBytes, cmd.TailBytes = out.Caps()
	ctx, stop := h.Within(ctx)
	defer stop()
	way, err := e.openWay(ctx, g)
	if err != nil {
		return e.noSandbox(ctx, d, err)
	}
	cmd.Env, cmd.Label = way.variables(cmd.Env), way.Label()
	exit, err := h.Run(ctx, cmd, out.Take)
	a := answer{started: !errors.Is(err, backends.ErrNotStarted)}
	defer func() { way.end(&answered) }()
	a.Backend, a.SandboxID, a.Duration = d.Backend.Name, h.ID(), exit.Duration
	a.Output, a.Truncated = out.End(exit.Dropped)
	if err != nil {
		return e.broken(ctx, g, a, err)
	}
	h.RememberWorkdir(exit.Workdir, exit.InWorkspace)
	a.end(ctx, exit, cmd.Timeout)
	a.Note(circumstances(exit, h, d)...)
	a.noteNetwork(g)
	return a
}

// noteNetwork tells what failed for want of a network that there is none.
func (a *answer) noteNetwork(g grant) {
	if reachedNothing(g.judged, a.Answer) {
		a.Note(noNetwork(g.located.Session))
	}
}

// reachedNothing says whether a command failed that names hosts, or could not look one up, in a sandbox without a network.
func reachedNothing(m *judged, a bailiff.Answer) bool {
	return m.Decision.Backend.Network == backends.None && a.Status == bailiff.Completed && a.ExitCode != 0 &&
		(m.Reaches || lookedUp(a.Output))
}

// noNetwork keeps an agent from trying other hosts, names and proxies.
func noNetwork(s bailiff.Session) string {
	return fmt.Sprintf("This sandbox has no network, so that no host, address or proxy is reached. Hosts are opened in the table "+
		"network.platforms.%s of the policies.", s.Platform)
}

// end words how a command that ran has ended.
func (a *answer) end(ctx context.Context, exit backends.Exit, timeout time.Duration) {
	a.Status, a.ExitCode = bailiff.Completed, exit.Code
	switch {
	case exit.TimedOut:
		a.Status, a.ExitCode = bailiff.TimedOut, bailiff.ExitTimeout
		a.Message = fmt.Sprintf("Stopped after %s, with everything it had started.", timeout)
	case exit.Interrupted, wasTakenDown(ctx, exit):
		a.Status, a.ExitCode = bailiff.Interrupted, bailiff.ExitInterrupted
		a.Message = stopReason(ctx)
	case exit.Excess.Stopped:
		a.Status, a.Code, a.ExitCode = bailiff.Interrupted, bailiff.CodeLimit, bailiff.ExitInterrupted
	case exit.Lost:
		a.Status, a.Code, a.ExitCode = bailiff.Failed, bailiff.CodeOutcomeUnknown, bailiff.ExitFailed
		a.Message = "The command's supervisor was killed, and the command with it; look at what it did before repeating it."
	}
}

// wasTakenDown says whether a command was killed with its sandbox, which may be
// faster than the word that interrupts it.
func wasTakenDown(ctx context.Context, exit backends.Exit) bool {
	return (exit.Lost || exit.Code > 128) && (isHalted(ctx) || lease.IsEvicted(ctx))
}

// circumstances are what the caller should know of a command's surroundings.
func circumstances(exit backends.Exit, h *lease.Hold, d bailiff.Decision) (sentences []string) {
	if h.IsReplacement() {
		sentences = append(sentences, "The session's sandbox had failed and was replaced; of its files, those in /workspace are left.")
	}
	if h.KillCount() > 0 && !exit.TimedOut && !exit.Interrupted {
		sentences = append(sentences, fmt.Sprintf("Stopped %d processes of earlier commands first: a request with variables, or an "+
			"approved one that runs files, is alone in its sandbox.",
			h.KillCount()))
	}
	if exit.Starved {
		sentences = append(sentences, fmt.Sprintf("While it ran, the sandbox reached its memory limit of %d MB, and the kernel killed a "+
			"process.", d.Backend.MemoryMB))
	}
	if said := exit.Excess.Sentence(); said != "" {
		sentences = append(sentences, said)
	}
	return sentences
}

// broken words the answer of a request whose sandbox failed it.
func (e *Enforcer) broken(ctx context.Context, g grant, a answer, err error) answer {
	a.ExitCode, a.Message = bailiff.ExitFailed, bailiff.Sentence(fmt.Sprintf("running in the %s sandbox: %v", a.Backend, err))
	switch {
	case a.started && (isHalted(ctx) || lease.IsEvicted(ctx)): // with its sandbox
		a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, stopReason(ctx)
	case !a.started && ctx.Err() != nil:
		a.Status, a.ExitCode, a.Message = bailiff.Interrupted, bailiff.ExitInterrupted, startRefusal(ctx)
	case errors.Is(err, lease.ErrElsewhere):
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeHome
		a.Message = bailiff.Sentence(err.Error())
	case errors.Is(err, errOvertaken):
		a.Status, a.Code = bailiff.Failed, bailiff.CodeCommand
	case errors.Is(err, backends.ErrUnfit):
		a.Status, a.Code = bailiff.Failed, bailiff.CodeCommand
		req := g.located
		if at := e.leases.Workdir(req.Caller, req.Session.ID); at.Path != "" && at.Path == req.Args.Workdir {
			a.Note("The session's next command starts in its workspace.")
			g.held.RememberWorkdir("", false)
		}
	case !a.started:
		a.sandboxGone = !errors.Is(err, backends.ErrFull)
		a.Status, a.Code = bailiff.Unavailable, bailiff.CodeBackend
	default:
		a.Status, a.Code = bailiff.Failed, bailiff.CodeOutcomeUnknown
		if e.leases.Reprobe(a.Backend); !g.held.Lease().Alive() {
			e.config.Log.WarnContext(ctx, "a sandbox was lost under its command", "backend", a.Backend, "sandbox", a.SandboxID, "error",
				err)
			a.Message = "The sandbox was lost while this ran, so that its outcome is unknown; look at what it did before repeating it. " +
				"The next request gets another sandbox."
		}
	}
	return a
}

// command turns a request into what the runner starts.
func command(g grant) backends.Command {
	args := g.located.Args
	cmd := runner.Shell(args.Command)
	cmd.Stdin = []byte(args.Stdin)
	cmd.Workdir = args.Workdir
	cmd.Timeout = timeout(args.Timeout, g.Decision.Limits.TimeoutSeconds)
	cmd.Env = environment(g.Decision.Env.Set, g.env)
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
	maps.Copy(env, forwarded)
	return env
}

// startRefusal says why what was to run was not started.
func startRefusal(ctx context.Context) string {
	if lease.IsEvicted(ctx) {
		return context.Cause(ctx).Error() + " before the command was started."
	}
	return answers.CallerGone
}

// stopReason says why what ran was stopped, and that it was.
func stopReason(ctx context.Context) string {
	if lease.IsEvicted(ctx) {
		return context.Cause(ctx).Error() + "; the command and everything it had started was stopped."
	}
	return "Interrupted; the command and everything it had started was stopped."
}
