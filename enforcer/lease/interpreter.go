package lease

import (
	"context"
	"errors"
	"maps"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// KernelTerms are what a script needs of its interpreter.
type KernelTerms struct {
	// Env is what it gets, Constants what of that the policies set.
	Env       map[string]bailiff.Secret
	Constants map[string]string
	// Private says that it gets variables, Vouched that humans let it run: in both cases
	// no other script shares its interpreter.
	Private, Vouched bool
	// Reset begins without the variables of earlier scripts.
	Reset bool
	// Text is the script. Review says whether it may still run after those that ran before it in the interpreter.
	Text   string
	Review func(ctx context.Context) error
	// Way is the script's way out, as Env tells of it; nil where it has none.
	Way *Way
}

// KernelRun is an interpreter with the one script that runs in it.
type KernelRun struct {
	hold   *Hold
	kernel *kernel.Kernel
	// own says that the interpreter is the script's alone and ends with it.
	own bool
	// notes are what the session should be told about it.
	notes []string
	// leave gives the interpreter back; ended says that it is no more.
	leave func(ended bool)
}

// Run runs the script, and gives the interpreter back. It returns what the session
// should be told about it besides.
func (k KernelRun) Run(ctx context.Context, script kernel.Script, out func([]byte),
	call func(context.Context, kernel.Call) kernel.Result) (kernel.Exit, []string, error) {
	script.Last = k.own
	if err := k.hold.MayStart(ctx); err != nil {
		k.leave(false)
		return kernel.Exit{}, nil, err
	}
	exit, err := k.kernel.Run(ctx, script, out, call)
	k.leave(exit.Ended || err != nil && !errors.Is(err, backends.ErrNotStarted))
	return exit, append(k.notes, k.lossNotes(exit)...), err
}

// Kernel finds or starts the interpreter for a script: its session's, or one of its own.
func (h *Hold) Kernel(ctx context.Context, t KernelTerms) (KernelRun, error) {
	if err := h.MayStart(ctx); err != nil {
		return KernelRun{}, err
	}
	own, notes := h.needsOwnKernel(t)
	if !own {
		return h.sessionKernel(ctx, t)
	}
	k, err := kernel.Start(ctx, h.placeOf(t), t.Env)
	if err != nil {
		return KernelRun{}, err
	}
	return KernelRun{hold: h, kernel: k, own: true, notes: notes, leave: func(bool) { h.endKernel(ctx, k) }}, nil
}

// needsOwnKernel says whether a script has an interpreter of its own, where nothing of
// earlier scripts changes what it does and nothing of it stays, and what its session
// should be told of that.
func (h *Hold) needsOwnKernel(t KernelTerms) (own bool, notes []string) {
	switch {
	case t.Private, h.lease.alone:
		return true, nil
	case h.guarded:
		return true, []string{"It may write a folder of the user's, so that no interpreter stays to keep the variables of scripts."}
	case t.Vouched:
		return true, []string{"It was approved, and so ran in an interpreter of its own: no script shares variables with it."}
	case !h.lease.maker.Isolated():
		return true, []string{"This backend isolates nothing, so that no interpreter stays to keep the variables of scripts."}
	case h.lease.spec.PIDs > 0 && h.lease.spec.PIDs < kernelRoom:
		return true, []string{"The sandbox may have so few processes that no interpreter stays there to keep the variables of scripts."}
	}
	return false, nil
}

// sessionKernel is the session's interpreter.
func (h *Hold) sessionKernel(ctx context.Context, t KernelTerms) (KernelRun, error) {
	s := h.lease.kernels.slotOf(h.kernelKey())
	if err := s.turn.Take(ctx); err != nil {
		return KernelRun{}, err
	}
	why, err := h.prepare(ctx, s, t)
	if err == nil && len(s.ran.texts()) > 0 {
		err = t.Review(ctx)
	}
	if err != nil {
		s.turn.Pass()
		return KernelRun{}, err
	}
	s.ran.add(t.Text)
	run := KernelRun{hold: h, kernel: s.kernel, leave: func(ended bool) {
		if ended {
			h.endKernel(ctx, s.kernel)
			s.kernel = nil
			s.ran.forget()
		} else {
			h.lease.startKernelTimer(s)
		}
		s.turn.Pass()
	}}
	if why != "" {
		run.notes = []string{why.sentence()}
	}
	return run, nil
}

// labelledPlace is a sandbox whose interpreters leave by a way.
type labelledPlace struct {
	backends.Sandbox
	label uint32
}

func (h *Hold) placeOf(t KernelTerms) labelledPlace {
	return labelledPlace{h.lease.sandbox, t.Way.Label()}
}

// Converse starts an interpreter.
func (p labelledPlace) Converse(ctx context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	cmd.Label = p.label
	return p.Sandbox.Converse(ctx, cmd, hear)
}

// prepare gives a slot an interpreter that fits; it returns why it is another than
// before, if there was one that the session did not wish away.
func (h *Hold) prepare(ctx context.Context, s *kernelSlot, t KernelTerms) (why loss, err error) {
	why = h.lease.pool.losses.take(s.who)
	switch {
	case s.kernel == nil:
	case !s.isLive():
		why = lostItself
	case s.kernel.Restless():
		why = lostRestless
	case !maps.Equal(s.constants, t.Constants):
		why = lostConstants
	case !t.Reset:
		s.idle.Stop()
		t.Way.take(s.label)
		return "", nil
	}
	if t.Reset {
		why = ""
	}
	if err := s.clear(ctx); err != nil {
		return why, err
	}
	if err := h.lease.makeRoom(ctx); err != nil {
		return why, err
	}
	if s.kernel, err = kernel.Start(ctx, h.placeOf(t), t.Env); err != nil && why != "" {
		h.lease.pool.losses.note(s.who, why) // for the next one
	}
	s.constants, s.label = t.Constants, t.Way.Label()
	h.lease.Changed()
	return why, err
}

// endKernel ends an interpreter, and the sandbox where that cannot be done.
func (h *Hold) endKernel(ctx context.Context, k *kernel.Kernel) {
	if k.End(ctx) != nil {
		_ = h.lease.sandbox.Close(context.WithoutCancel(ctx))
	}
}

// lossNotes are what a session should know of the end of its interpreter.
func (k KernelRun) lossNotes(exit kernel.Exit) []string {
	switch {
	case k.own || !exit.Ended:
		return nil
	case exit.Restless:
		return []string{"Something of the script went on or printed after its end, so that the interpreter was ended with it, and the " +
			"variables of the session's scripts are lost."}
	}
	return []string{"The interpreter ended with the script, and the variables of the session's scripts are lost."}
}
