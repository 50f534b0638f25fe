package enforcer

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// sitting is an interpreter with the one script that runs in it.
type sitting struct {
	kernel *kernel.Kernel
	// own says that the interpreter is the script's alone and ends with it.
	own bool
	// notes are what the session should be told about it.
	notes []string
	// leave gives the interpreter back; ended says that it is no more.
	leave func(ended bool)
}

// runCode runs a request's script in an interpreter and words the answer.
func (e *Enforcer) runCode(ctx context.Context, g grant) answer {
	ctx, stop := g.use.within(ctx)
	defer stop()
	calls := e.callsOf(g)
	out := newOutput(g.Decision.Limits.OutputBytes, g.env, calls.tell)
	a := answer{Answer: bailiff.Answer{Backend: g.Decision.Backend.Name, SandboxID: g.use.sandbox.ID()}}
	at, err := g.use.sit(ctx, g)
	if err != nil {
		return e.broken(ctx, g.located, g.use, a, err)
	}
	script := scriptOf(g, out, calls.offered)
	script.Last = at.own
	exit, err := at.kernel.Run(ctx, script, out.take, calls.answer)
	a.started = !errors.Is(err, backends.ErrNotStarted)
	at.leave(exit.Ended || err != nil && a.started)
	a.Duration, a.ToolCalls = exit.Duration, exit.Calls
	a.Output, a.Truncated = out.end(exit.Dropped)
	if err != nil {
		return e.broken(ctx, g.located, g.use, a, err)
	}
	g.use.followed(g.located, exit)
	a.end(ctx, exit.Exit, script.Timeout)
	a.note(at.notes...)
	a.note(at.parting(exit)...)
	a.note(circumstances(exit.Exit, g.use, g.Decision)...)
	return a
}

// parting is what a session should know of the end of its interpreter.
func (at sitting) parting(exit kernel.Exit) []string {
	switch {
	case at.own || !exit.Ended:
		return nil
	case exit.Restless:
		return []string{"Something of the script went on or printed after its end, so that the interpreter was ended with it, and the variables of the session's scripts are lost."}
	}
	return []string{"The interpreter ended with the script, and the variables of the session's scripts are lost."}
}

func scriptOf(g grant, out *output, tools []string) kernel.Script {
	s := kernel.Script{Code: g.located.Args.Code, Workdir: g.located.Args.Workdir, Tools: tools, UserSite: len(g.env) == 0,
		Timeout: timeout(g.located.Args.Timeout, g.Decision.Limits.TimeoutSeconds)}
	s.HeadBytes, s.TailBytes = out.caps()
	return s
}

// followed remembers where a script ended, unless it stayed where it was and
// commands that it called moved on.
func (u *tenure) followed(req bailiff.Request, exit kernel.Exit) {
	stayed := exit.Workdir == req.Args.Workdir || req.Args.Workdir == "" && exit.InWorkspace
	if exit.Workdir != "" && (exit.Calls == 0 || !stayed) {
		u.leases.moved(u.lease, req.Caller, req.Session.ID, exit.Workdir, exit.InWorkspace)
	}
}

// sit finds or starts the interpreter for a matter's script: its session's, or
// one of its own.
func (u *tenure) sit(ctx context.Context, g grant) (sitting, error) {
	env := environment(g.Decision.Env.Set, g.env)
	apart, notes := u.apart(g)
	if !apart {
		return u.seated(ctx, g, env)
	}
	k, err := kernel.Start(ctx, u.sandbox, env)
	if err != nil {
		return sitting{}, err
	}
	return sitting{kernel: k, own: true, notes: notes, leave: func(bool) { u.endKernel(ctx, k) }}, nil
}

// apart says whether a matter's script has an interpreter of its own, where
// nothing of earlier scripts changes what it does and nothing of it stays, and what
// its session should be told of that.
func (u *tenure) apart(g grant) (apart bool, notes []string) {
	switch {
	case len(g.env) > 0, u.alone:
		return true, nil
	case g.vouched:
		return true, []string{"It was approved, and so ran in an interpreter of its own: no script shares variables with it."}
	case !u.maker.Isolated():
		return true, []string{"This backend isolates nothing, so that no interpreter stays to keep the variables of scripts."}
	case u.spec.PIDs > 0 && u.spec.PIDs < kernelRoom:
		return true, []string{"The sandbox may have so few processes that no interpreter stays there to keep the variables of scripts."}
	}
	return false, nil
}

// seated is a sitting in the session's interpreter.
func (u *tenure) seated(ctx context.Context, g grant, env map[string]bailiff.Secret) (sitting, error) {
	s := u.kernels.seatOf(sitterOf(g.located, u.backend))
	if err := s.turn.take(ctx); err != nil {
		return sitting{}, err
	}
	why, err := u.settleIn(ctx, s, g, env)
	if err != nil {
		s.turn.pass()
		return sitting{}, err
	}
	at := sitting{kernel: s.kernel, leave: func(ended bool) {
		if ended {
			u.endKernel(ctx, s.kernel)
			s.kernel = nil
		} else {
			u.rest(s)
		}
		s.turn.pass()
	}}
	if why != "" {
		at.notes = []string{why.sentence()}
	}
	return at, nil
}

// settleIn gives a seat an interpreter that fits; it returns why it is another
// than before, if there was one that nobody wished away.
func (u *tenure) settleIn(ctx context.Context, s *seat, g grant, env map[string]bailiff.Secret) (why loss, err error) {
	why = u.leases.losses.take(s.who)
	switch {
	case s.kernel == nil:
	case !s.isLive():
		why = lostItself
	case s.kernel.Restless():
		why = lostRestless
	case !maps.Equal(s.constants, g.Decision.Env.Set):
		why = lostConstants
	case !g.located.Args.Reset:
		s.idle.Stop()
		return "", nil
	}
	if g.located.Args.Reset {
		why = ""
	}
	if err := s.clear(ctx); err != nil {
		return why, err
	}
	if err := u.makeRoom(ctx); err != nil {
		return why, err
	}
	if s.kernel, err = kernel.Start(ctx, u.sandbox, env); err != nil && why != "" {
		u.leases.losses.note(s.who, why) // for the next one
	}
	s.constants = g.Decision.Env.Set
	u.leases.changed(u.lease)
	return why, err
}

// endKernel ends an interpreter, and the sandbox where that cannot be done.
func (u *tenure) endKernel(ctx context.Context, k *kernel.Kernel) {
	if k.End(ctx) != nil {
		_ = u.sandbox.Close(context.WithoutCancel(ctx))
	}
}

// serial hands on news one at a time, since a script's output and its calls come
// at the same time.
func serial(news func(bailiff.Progress)) func(bailiff.Progress) {
	var mu sync.Mutex
	return func(p bailiff.Progress) {
		mu.Lock()
		defer mu.Unlock()
		news(p)
	}
}
