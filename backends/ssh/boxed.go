package ssh

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/ssh/inside"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

// boxed has sandboxes made on the host.
type boxed struct{ *site }

var (
	_ backends.Backend = (*boxed)(nil)
	_ backends.Sweeper = (*boxed)(nil)
	_ backends.Keeper  = (*boxed)(nil)
)

// Isolated is true.
func (*boxed) Isolated() bool { return true }

// Ready has the host make a sandbox with limits, to see whether it can.
func (b *boxed) Ready(ctx context.Context) error {
	_, err := b.answer(ctx, inside.Question{Ask: inside.Try})
	return err
}

// Sweep ends what the host holds of sandboxes whose makers there are gone.
func (b *boxed) Sweep(ctx context.Context, owner string, _ func(id string) bool) (int, error) {
	a, err := b.answer(ctx, inside.Question{Ask: inside.Sweep, Owner: owner})
	return a.Swept, err
}

// Workspaces lists those that the host keeps.
func (b *boxed) Workspaces(ctx context.Context, owner string) ([]string, error) {
	a, err := b.answer(ctx, inside.Question{Ask: inside.List, Owner: owner})
	return a.Workspaces, err
}

// RemoveWorkspace deletes one on the host.
func (b *boxed) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	_, err := b.answer(ctx, inside.Question{Ask: inside.Remove, Owner: owner, Workspace: workspace})
	return err
}

// Open has a sandbox made and greets the runner inside.
func (b *boxed) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	var opened *sandbox
	err := b.ask(ctx, inside.Question{Ask: inside.Open, Spec: spec}, func(process *remote.Process, _ inside.Answer) (err error) {
		opened, err = attach(ctx, process, runner.PlaceOf(spec, b.host.Silence()))
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// answer asks what a line answers.
func (b *boxed) answer(ctx context.Context, q inside.Question) (answer inside.Answer, err error) {
	err = b.ask(ctx, q, func(process *remote.Process, a inside.Answer) error {
		answer = a
		return process.Close()
	})
	return answer, err
}

// ask puts a question to the host. Who takes the answer has the process too.
func (b *boxed) ask(ctx context.Context, q inside.Question, take func(*remote.Process, inside.Answer) error) error {
	err := b.with(ctx, func(g ground) error {
		q.Config = b.cfg.Inside
		q.Config.Name, q.Config.Runner, q.Config.StateDir = "ssh", g.installed[runnerName], g.folder
		process, err := b.start(ctx, g, g.folder, hostName)
		if err != nil {
			return err
		}
		answer, err := put(ctx, process, q)
		if err == nil {
			err = take(process, answer)
		} else {
			process.Close()
			err = explained(ctx, process, err)
		}
		return err
	})
	if err == nil || errors.Is(err, backends.ErrUnsupported) || errors.Is(err, backends.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
}

// put puts a question for as long as the context lasts.
func put(ctx context.Context, process *remote.Process, q inside.Question) (inside.Answer, error) {
	defer context.AfterFunc(ctx, func() { process.Close() })()
	answer, err := inside.Put(process, q)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return answer, err
}
