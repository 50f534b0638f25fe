package daytona

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

const (
	// startTime is how long making and starting may take, with building an image.
	startTime = 10 * time.Minute
	// greetTime is how long a terminal may take until the runner in it answers.
	greetTime = time.Minute
	// cleanUp is how long a removal may take whose caller has gone.
	cleanUp = time.Minute
)

// Where things lie in a machine.
const (
	folder    = "/.bailiff"
	program   = folder + "/runner"
	lastWords = folder + "/words"
)

// Open makes a machine, or takes the one that has the workspace, and waits until
// its runner answers.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := b.permitted(spec); err != nil {
		return nil, err
	}
	image, err := b.Resolve(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if spec.Workspace != "" {
		return b.openKept(ctx, image, spec)
	}
	name, done := b.opening.Name("bailiff-")
	defer done()
	m, err := b.make(ctx, name, image, spec, labels(spec))
	if err != nil {
		return nil, errors.Join(err, b.discard(ctx, name))
	}
	opened, err := b.enter(ctx, m, spec, func() {})
	if err != nil {
		return nil, errors.Join(err, b.discard(ctx, name))
	}
	return opened, nil
}

// make makes a machine and waits until it has started.
func (b *Backend) make(ctx context.Context, name, image string, spec backends.Spec, labels map[string]string) (machine, error) {
	wanted, err := b.wanted(name, image, spec)
	if err != nil {
		return machine{}, err
	}
	wanted.Labels = labels
	backends.Step(ctx, "making a sandbox at Daytona")
	made, err := b.api.create(ctx, wanted)
	if err != nil {
		return made, unavailable("making a sandbox", err)
	}
	if made, err = b.await(ctx, made, started); err != nil {
		return made, err
	}
	return made, b.kept(spec, wanted, made)
}

// await waits until a machine is in the state, and tells of what takes long.
func (b *Backend) await(ctx context.Context, m machine, state string) (machine, error) {
	told := ""
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		switch {
		case m.State == state, state == stopped && m.State == archived:
			return m, nil
		case slices.Contains([]string{broken, buildFailed, destroying, destroyed}, m.State):
			return m, fmt.Errorf("%w: the sandbox is %s: %s", backends.ErrUnavailable, m.State, bailiff.Foreign(m.ErrorReason))
		case m.State != told:
			told = m.State
			backends.Step(ctx, "waiting for a sandbox at Daytona: %s", strings.ReplaceAll(bailiff.Foreign(m.State), "_", " "))
		}
		if httpapi.Wait(ctx, pause) != nil {
			return m, fmt.Errorf("%w: the sandbox is still %s", backends.ErrUnavailable, bailiff.Foreign(m.State))
		}
		found, err := b.api.machine(ctx, m.ID)
		if err != nil {
			return m, unavailable("waiting for the sandbox", err)
		}
		m = found
	}
}

// enter brings the runner into a machine, starts it and greets it.
func (b *Backend) enter(ctx context.Context, m machine, spec backends.Spec, release func()) (*sandbox, error) {
	t, err := b.api.tools(m)
	if err == nil {
		err = b.install(ctx, t)
	}
	if err != nil {
		return nil, unavailable("preparing the sandbox", err)
	}
	client, err := b.greet(ctx, t, spec)
	if err != nil {
		return nil, fmt.Errorf("%w: greeting the sandbox: %w", backends.ErrUnavailable, err)
	}
	s := &sandbox{Client: client, backend: b, machine: m, keep: spec.Workspace != "", expires: expiry(spec), release: release}
	go s.live()
	return s, nil
}

// install writes the runner's file so that it can be run and not read.
func (b *Backend) install(ctx context.Context, t tools) error {
	if err := t.makeFolder(ctx, folder, "0711"); err != nil {
		return err
	}
	if err := t.upload(ctx, program, func() (io.ReadCloser, error) { return os.Open(b.runner) }, 0); err != nil {
		return err
	}
	return t.permit(ctx, program, "0111")
}

// greet starts the runner in a terminal and waits for its answer.
func (b *Backend) greet(ctx context.Context, t tools, spec backends.Spec) (*runner.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	id := "bailiff-" + strings.ToLower(rand.Text()[:16])
	if err := t.openTerminal(ctx, id); err != nil {
		return nil, err
	}
	stream, err := t.connect(ctx, id, b.life)
	if err != nil {
		return nil, err
	}
	if _, err := stream.Write([]byte(orders(spec))); err != nil {
		stream.Close()
		return nil, err
	}
	client, err := runner.Attach(ctx, carrier.Text(stream), runner.PlaceOf(spec, runner.Linger))
	if err == nil {
		return client, nil
	}
	telling, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	if said := t.excerptOf(telling, lastWords); said != "" {
		err = fmt.Errorf("%w (%s)", err, said)
	}
	return nil, err
}

// orders is the line that is typed into the terminal.
func orders(spec backends.Spec) string {
	return "exec " + program + " " + wire.Text + " " + shellquote.Join(runner.IsolateArguments(spec)...) + " 2>" + lastWords + "\n"
}

// sandbox is a machine that runs and the client of its runner.
type sandbox struct {
	*runner.Client
	backend *Backend
	machine machine
	// keep says that it holds a named workspace, so that it is stopped at its end.
	keep    bool
	expires time.Time
	// release gives up what only one sandbox may hold.
	release func()

	ending sync.Mutex
	ended  bool
}

// ID is Daytona's for the machine.
func (s *sandbox) ID() string { return s.machine.ID }

// live says that the machine is used, until it is lost; what is lost is removed.
func (s *sandbox) live() {
	backends.Every(s.backend.beat, s.Done(), s.use)
	if err := s.end(context.Background()); err != nil {
		s.backend.log.Warn("a sandbox that was lost is left to the next sweep", "sandbox", s.ID(), "error", err)
	}
}

func (s *sandbox) use() {
	if time.Now().After(s.expires) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.backend.beat)
	defer cancel()
	if err := s.backend.api.used(ctx, s.ID()); err != nil {
		s.backend.log.Warn("Daytona was not told that a sandbox is used", "sandbox", s.ID(), "error", err)
	}
}

// Close stops everything inside and removes the machine, unless it holds a named
// workspace: then it is stopped.
func (s *sandbox) Close(ctx context.Context) error {
	_ = s.Client.Close() // always nil
	return s.end(ctx)
}

// end may be called again where it has failed.
func (s *sandbox) end(ctx context.Context) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.ended {
		return nil
	}
	defer s.release()
	err := s.backend.dismiss(ctx, s.machine.ID, s.keep)
	s.ended = err == nil
	return err
}

// dismiss stops or deletes a machine, also for a caller who has gone.
func (b *Backend) dismiss(ctx context.Context, id string, keep bool) error {
	if !keep {
		return b.discard(ctx, id)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return b.halt(ctx, id)
}

// discard deletes a machine by its id or name, since Daytona may have made one and
// not come to say so. One that is not there is no fault.
func (b *Backend) discard(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := b.api.remove(ctx, id)
		switch {
		case err == nil || httpapi.Status(err) == http.StatusNotFound:
			return nil
		case httpapi.Status(err) != http.StatusConflict || httpapi.Wait(ctx, pause) != nil: // it is just becoming something else
			return unavailable("removing a sandbox", err)
		}
	}
}
