package enforcer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/kernel"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/output"
)

// runCode runs a request's script in an interpreter and words the answer.
func (e *Enforcer) runCode(ctx context.Context, g grant) (answered answer) {
	h := g.held
	ctx, stop := h.Within(ctx)
	defer stop()
	calls := e.callsOf(g)
	out := output.New(g.Decision.Limits.OutputBytes, e.secrets(g), calls.tell)
	a := answer{Answer: bailiff.Answer{Backend: g.Decision.Backend.Name, SandboxID: h.ID()}}
	way, err := e.openWay(ctx, g)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	defer func() { way.end(&answered) }()
	run, err := h.Kernel(ctx, lease.KernelTerms{Env: way.variables(environment(g.Decision.Env.Set, g.env)), Constants: g.Decision.Env.Set,
		Private: len(g.env) > 0, Vouched: g.vouched, Reset: g.located.Args.Reset, Way: way.Way,
		Text: g.located.Args.Code, Review: func(ctx context.Context) error { return e.review(ctx, g) }})
	if err != nil {
		return e.broken(ctx, g, a, err)
	}
	script := scriptOf(g, out, calls.offered)
	exit, notes, err := run.Run(ctx, script, out.Take, calls.answer)
	a.started = !errors.Is(err, backends.ErrNotStarted)
	a.Duration, a.ToolCalls = exit.Duration, exit.Calls
	a.Output, a.Truncated = out.End(exit.Dropped)
	if err != nil {
		return e.broken(ctx, g, a, err)
	}
	if left(g.located.Args.Workdir, exit) {
		h.RememberWorkdir(exit.Workdir, exit.InWorkspace)
	}
	a.end(ctx, exit.Exit, script.Timeout)
	a.Note(notes...)
	a.Note(circumstances(exit.Exit, h, g.Decision)...)
	a.noteNetwork(g)
	return a
}

// review judges a script once more when its turn comes: others may have run meanwhile in its interpreter, and left names there.
func (e *Enforcer) review(ctx context.Context, g grant) error {
	d := e.decide(ctx, g.located, found{contents: g.contents, ground: g.ground}).Decision
	if d.Outcome == bailiff.Allow || g.Decision.Outcome != bailiff.Allow {
		return nil
	}
	return fmt.Errorf("%w: %s", errOvertaken, strings.Join(d.Rules(), ", "))
}

var errOvertaken = errors.New("other scripts that ran in its interpreter meanwhile make it another one; send it again")

func scriptOf(g grant, out *output.Output, tools []string) kernel.Script {
	s := kernel.Script{Code: g.located.Args.Code, Workdir: g.located.Args.Workdir, Tools: tools, UserSite: len(g.env) == 0,
		Timeout: timeout(g.located.Args.Timeout, g.Decision.Limits.TimeoutSeconds)}
	s.HeadBytes, s.TailBytes = out.Caps()
	return s
}

// left says whether a script ended elsewhere than it started; if it stayed, commands
// that it called may have moved on.
func left(workdir string, exit kernel.Exit) bool {
	stayed := exit.Workdir == workdir || workdir == "" && exit.InWorkspace
	return exit.Workdir != "" && (exit.Calls == 0 || !stayed)
}
