package modal

import (
	"context"
	"fmt"
	"sync"
	"time"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

const runnerPath = "/.bailiff/runner"

const (
	// makeWithin is how long Modal may take to make a machine, and installWithin how
	// long the runner may take to get there and to answer.
	makeWithin    = 3 * time.Minute
	installWithin = 2 * time.Minute
)

// Open makes a machine, puts the runner there and waits until it answers.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := b.check(spec); err != nil {
		return nil, err
	}
	a, err := b.use()
	if err != nil {
		return nil, err
	}
	opened, err := b.open(ctx, a, spec)
	if err != nil {
		b.leave(a)
		return nil, err
	}
	return opened, nil
}

func (b *Backend) open(ctx context.Context, a *account, spec backends.Spec) (*sandbox, error) {
	app, err := b.app(ctx, a)
	if err != nil {
		return nil, err
	}
	image, err := b.bring(ctx, a, app, spec.Image)
	if err != nil {
		return nil, err
	}
	workspace, err := b.volume(ctx, a, spec)
	if err != nil {
		return nil, err
	}
	name, done := b.opening.Name("bailiff-")
	defer done()
	machine, err := a.lend(ctx, app, image, b.parameters(name, spec, workspace))
	if err != nil {
		b.discard(ctx, a, app, name)
		return nil, err
	}
	opened, err := b.installRunner(ctx, a, machine, spec)
	if err != nil {
		b.discard(ctx, a, app, name)
		return nil, err
	}
	b.settle(opened)
	return opened, nil
}

// discard ends a machine that is not needed any more, also for a caller who has
// gone; by its tag, since Modal may have made it and not come to say so.
func (b *Backend) discard(ctx context.Context, a *account, app *modal.App, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	left, err := a.tagged(ctx, app, tagName, name)
	for _, machine := range left {
		if ending := a.end(ctx, machine.SandboxID); ending != nil {
			err = ending
		}
	}
	if err != nil {
		b.cfg.Log.WarnContext(ctx, "a sandbox that failed is left to the next sweep", "sandbox", name, "error", err)
	}
}

// lend has Modal make a machine.
func (a *account) lend(ctx context.Context, app *modal.App, image *modal.Image, params *modal.SandboxCreateParams) (*modal.Sandbox, error) {
	backends.Step(ctx, "waiting for a machine of Modal's")
	ctx, cancel := context.WithTimeout(ctx, makeWithin)
	defer cancel()
	machine, err := a.Sandboxes.Create(ctx, app, image, params)
	if err != nil {
		return nil, a.fault(ctx, "having Modal make a sandbox", err)
	}
	return machine, nil
}

// installRunner puts the runner into the machine and greets it.
func (b *Backend) installRunner(ctx context.Context, a *account, machine *modal.Sandbox, spec backends.Spec) (*sandbox, error) {
	ctx, cancel := context.WithTimeout(ctx, installWithin)
	defer cancel()
	if err := machine.Filesystem.CopyFromLocal(ctx, b.cfg.Runner, runnerPath, nil); err != nil {
		return nil, a.fault(ctx, "putting the runner into the sandbox", err)
	}
	process, err := machine.Exec(ctx, b.start(spec), nil)
	if err != nil {
		return nil, a.fault(ctx, "starting the runner in the sandbox", err)
	}
	words := listen(process.Stderr, b.cfg.Log.With("sandbox", machine.SandboxID))
	attached, err := runner.Attach(ctx, converse(a, machine, process, words), runner.PlaceOf(spec, b.linger))
	if err != nil {
		return nil, fmt.Errorf("%w: greeting the sandbox: %w%s", backends.ErrUnavailable, err, words.last())
	}
	return &sandbox{Client: attached, backend: b, account: a, machine: machine, words: words, workspace: workspaceOf(spec)}, nil
}

// sandbox is a machine and the client of its runner.
type sandbox struct {
	*runner.Client
	backend *Backend
	account *account
	machine *modal.Sandbox
	words   *words
	// workspace is the name of its volume, if it has one.
	workspace string
	left      sync.Once
}

// ID is Modal's.
func (s *sandbox) ID() string { return s.machine.SandboxID }

// Close ends the machine with everything inside. What is in a workspace that stays
// is safe when it returns.
func (s *sandbox) Close(ctx context.Context) error {
	_ = s.Client.Close() // always nil
	_ = s.words.from.Close()
	if err := s.end(ctx); err != nil {
		return err
	}
	s.left.Do(func() {
		s.backend.depart(s)
		s.backend.leave(s.account)
	})
	return nil
}

// end ends the machine, by the token that there is now.
func (s *sandbox) end(ctx context.Context) error {
	now, err := s.backend.use()
	if err != nil {
		return s.account.end(ctx, s.ID())
	}
	defer s.backend.leave(now)
	return now.end(ctx, s.ID())
}
