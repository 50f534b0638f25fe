package ssh

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/internal/remote"
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
	_, err := b.answer(ctx, bubblewrap.Question{Ask: bubblewrap.Try})
	return err
}

// Sweep ends what the host holds of sandboxes whose makers there are gone.
func (b *boxed) Sweep(ctx context.Context, owner string, _ func(id string) bool) (int, error) {
	a, err := b.answer(ctx, bubblewrap.Question{Ask: bubblewrap.Sweep, Owner: owner})
	return a.Swept, err
}

// Workspaces lists those that the host keeps.
func (b *boxed) Workspaces(ctx context.Context, owner string) ([]string, error) {
	a, err := b.answer(ctx, bubblewrap.Question{Ask: bubblewrap.List, Owner: owner})
	return a.Workspaces, err
}

// RemoveWorkspace deletes one on the host.
func (b *boxed) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	_, err := b.answer(ctx, bubblewrap.Question{Ask: bubblewrap.Remove, Owner: owner, Workspace: workspace})
	return err
}

// Open has a sandbox made and greets the runner inside.
func (b *boxed) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	var opened *sandbox
	err := b.ask(ctx, bubblewrap.Question{Ask: bubblewrap.Open, Spec: spec}, func(process *remote.Process, _ bubblewrap.Answer) (err error) {
		opened, err = attach(ctx, process, runner.Place{PIDs: spec.PIDs, Linger: b.host.Silence()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// answer asks what a line answers.
func (b *boxed) answer(ctx context.Context, q bubblewrap.Question) (answer bubblewrap.Answer, err error) {
	err = b.ask(ctx, q, func(process *remote.Process, a bubblewrap.Answer) error {
		answer = a
		return process.Close()
	})
	return answer, err
}

// ask puts a question to the host. Who takes the answer has the process too.
func (b *boxed) ask(ctx context.Context, q bubblewrap.Question, take func(*remote.Process, bubblewrap.Answer) error) error {
	err := b.with(ctx, func(g ground) error {
		q.Begin, q.Config = rand.Text(), b.cfg.Inside
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

// put says the question and reads the line that answers it.
func put(ctx context.Context, process *remote.Process, q bubblewrap.Question) (answer bubblewrap.Answer, err error) {
	defer context.AfterFunc(ctx, func() { process.Close() })()
	text, err := json.Marshal(q)
	if err != nil {
		return answer, err
	}
	go func() { _, _ = process.Write(append(text, '\n')) }()
	line, err := lineOf(process, q.Begin)
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case err != nil:
		return answer, fmt.Errorf("asking %s: %w", hostName, err)
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		return answer, fmt.Errorf("reading what %s says: %w", hostName, err)
	}
	if answer.Fault != nil {
		return answer, answer.Fault
	}
	return answer, nil
}

// longestLine bounds what is read of the host before its answer ends.
const longestLine = 4 << 20

// lineOf is the rest of the line that begins with a word, and reads no byte beyond:
// what follows is the runner's.
func lineOf(from io.Reader, begin string) (string, error) {
	var line strings.Builder
	var b [1]byte
	for range longestLine {
		if _, err := io.ReadFull(from, b[:]); err != nil {
			return "", err
		}
		if b[0] != '\n' {
			line.WriteByte(b[0])
			continue
		}
		if rest, found := strings.CutPrefix(line.String(), begin); found {
			return rest, nil
		}
		line.Reset()
	}
	return "", errors.New("it says much, but no answer")
}
