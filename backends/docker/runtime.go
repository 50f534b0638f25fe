package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

var _ backends.Chooser = (*Backend)(nil)

// runtimeName is what an engine may call a runtime. A path would be a program of the engine's host.
var runtimeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

func isRuntime(name string) error {
	if !runtimeName.MatchString(name) {
		return errors.New(`want a name that "docker info" lists among the runtimes, such as runsc`)
	}
	return nil
}

// Runtime is the one that containers are made by where policies say name, the empty name being the configured
// one, and empty the engine's own default. One that the configuration does not allow is an error.
func (b *Backend) Runtime(name string) (string, error) {
	name = cmp.Or(name, b.cfg.Runtime)
	if name == "" || slices.Contains(b.runtimes(), name) {
		return name, nil
	}
	return "", fmt.Errorf("%w: runtime: the configuration does not allow %q (backends.docker.runtimes_allowed)",
		backends.ErrUnsupported, name)
}

// runtimes are those that containers may be made by, beside the engine's own default.
func (b *Backend) runtimes() []string {
	if b.cfg.Runtime == "" {
		return b.cfg.RuntimesAllowed
	}
	return append([]string{b.cfg.Runtime}, b.cfg.RuntimesAllowed...)
}

// Unusable are the runtimes that the engine lacks, or in which the runner did not work, as it was found last.
func (b *Backend) Unusable() map[string]error {
	b.trials.Lock()
	defer b.trials.Unlock()
	return maps.Clone(b.trials.unusable)
}

// errNoRuntime is the fault of a runtime that the engine lacks.
var errNoRuntime = fmt.Errorf("%w: runtime", backends.ErrUnavailable)

// has is nil if the engine has a runtime.
func (a *about) has(runtime string) error {
	if _, ok := a.Runtimes[runtime]; ok {
		return nil
	}
	return fmt.Errorf("%w: the engine has no %q, only %s: register it there, as in \"runtimes\" of dockerd's daemon.json",
		errNoRuntime, runtime, strings.Join(slices.Sorted(maps.Keys(a.Runtimes)), ", "))
}

// checkRuntime sees to it that a container is made by the runtime that was asked for. Podman tells it apart from what it was
// asked, and takes the runtime that its service was started with.
func (b *Backend) checkRuntime(ctx context.Context, got container.InspectResponse, want string) error {
	if want == "" {
		return nil
	}
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	have := got.HostConfig.Runtime
	if engine.podman {
		var told struct{ OCIRuntime string }
		if err := b.askPodman(ctx, "GET", "/containers/"+got.ID+"/json", &told); err != nil {
			return b.fault("asking podman by which runtime it makes the sandbox", err)
		}
		have = told.OCIRuntime
	}
	if have != want {
		return fmt.Errorf("%w: runtime: the engine makes the sandbox by %q, not by %q", backends.ErrUnsupported, have, want)
	}
	return nil
}

const (
	// trialTime bounds a trial: a virtual machine or an emulated kernel may take seconds to start.
	trialTime = time.Minute
	// trialPause is how long what a trial found wrong is believed.
	trialPause = time.Minute
)

// trials are what was found of the runtimes that the configuration names. In each, the runner is tried once in a
// container for no request: it asks much of a kernel, which another than Linux may lack.
type trials struct {
	sync.Mutex
	running sync.WaitGroup
	closed  bool
	last    map[string]*trial
	// unusable are those that a probe or a trial found so.
	unusable map[string]error
}

type trial struct {
	of   string // engine, runtime and runner
	stop context.CancelFunc
	done chan struct{}
	// guest and err are what was found, once it is done.
	guest guest
	err   error
	until time.Time
}

// holdsLocked says whether a trial goes on, or is still to be believed.
func (t *trial) holdsLocked(of string) bool {
	return t != nil && t.of == of && (t.err == nil || time.Now().Before(t.until))
}

func (t *trial) wait(ctx context.Context, runtime string) (guest, error) {
	select {
	case <-t.done:
		return t.guest, t.err
	case <-ctx.Done():
		return linux, fmt.Errorf("%w: runtime: bailiff's runner is still being tried in %q: %w", backends.ErrUnavailable, runtime,
			context.Cause(ctx))
	}
}

// readyRuntimes has the engine asked for the runtimes, and those tried that were not, if there is an image for it. The
// configured one must work; another keeps no request from the rest.
func (b *Backend) readyRuntimes(ctx context.Context) error {
	if len(b.runtimes()) == 0 {
		return nil
	}
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	found, missing := b.engine.ImageInspect(ctx, b.cfg.Image) // if it is missing, the first sandbox brings it and has the trial
	var wrong error
	for _, runtime := range b.runtimes() {
		fault := b.noteMissing(engine, runtime)
		switch {
		case fault != nil:
		case missing != nil:
			b.forgetFailed(runtime)
		default:
			var t *trial
			if t, fault = b.tryOnce(engine, runtime, found); fault == nil && runtime == b.cfg.Runtime {
				_, fault = t.wait(ctx, runtime)
			}
		}
		if runtime == b.cfg.Runtime {
			wrong = fault
		}
	}
	return wrong
}

// forgetFailed has the next request try a runtime again whose trial failed some time ago.
func (b *Backend) forgetFailed(runtime string) {
	b.trials.Lock()
	defer b.trials.Unlock()
	if t := b.trials.last[runtime]; t != nil && t.err != nil && time.Now().After(t.until) {
		delete(b.trials.unusable, runtime)
	}
}

// guestOf is the kernel in a runtime's sandboxes, if the engine has the runtime and the runner works in it.
func (b *Backend) guestOf(ctx context.Context, runtime string, found image.InspectResponse) (guest, error) {
	if runtime == "" {
		return linux, nil
	}
	engine, err := b.describe(ctx)
	if err != nil {
		return linux, err
	}
	if err := b.noteMissing(engine, runtime); err != nil {
		return linux, err
	}
	t, err := b.tryOnce(engine, runtime, found)
	if err != nil {
		return linux, err
	}
	return t.wait(ctx, runtime)
}

// noteMissing is nil if the engine has a runtime.
func (b *Backend) noteMissing(engine *about, runtime string) error {
	fault := engine.has(runtime)
	b.trials.Lock()
	defer b.trials.Unlock()
	if fault != nil || errors.Is(b.trials.unusable[runtime], errNoRuntime) { // what a trial found, another has to undo
		b.noteLocked(runtime, fault)
	}
	return fault
}

// tryOnce is the trial of a runtime, begun if there is none that holds.
func (b *Backend) tryOnce(engine *about, runtime string, found image.InspectResponse) (*trial, error) {
	sum, err := b.program.sum(b.cfg.Runner)
	if err != nil {
		return nil, fmt.Errorf("%w: reading the runner: %w", backends.ErrUnavailable, err)
	}
	of := fmt.Sprintf("%s %s %v %s", engine.ID, engine.ServerVersion, engine.Runtimes[runtime], sum)
	b.trials.Lock()
	defer b.trials.Unlock()
	t := b.trials.last[runtime]
	switch {
	case b.trials.closed:
		return nil, fmt.Errorf("%w: the sidecar is ending", backends.ErrUnavailable)
	case t.holdsLocked(of):
		return t, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), trialTime)
	t = &trial{of: of, stop: stop, done: make(chan struct{})}
	b.trials.last[runtime] = t
	b.trials.running.Go(func() {
		defer stop()
		in, err := b.try(ctx, runtime, found)
		b.end(t, runtime, in, err)
	})
	return t, nil
}

// end takes in what a trial found.
func (b *Backend) end(t *trial, runtime string, in guest, err error) {
	b.trials.Lock()
	defer b.trials.Unlock()
	t.guest, t.err, t.until = in, err, time.Now().Add(trialPause)
	if !b.trials.closed {
		b.noteLocked(runtime, err)
	}
	close(t.done)
}

// noteLocked keeps whether a runtime can be used, and tells when it cannot any more.
func (b *Backend) noteLocked(runtime string, fault error) {
	before := b.trials.unusable[runtime]
	if fault == nil {
		delete(b.trials.unusable, runtime)
		return
	}
	b.trials.unusable[runtime] = fault
	if before == nil {
		b.cfg.Log.Warn("a runtime runs no sandboxes; requests for it are refused", "runtime", runtime, "reason", fault)
	}
}

// guest is the kernel that a runtime lets a sandbox have.
type guest int

const (
	linux guest = iota
	gVisor
)

// argument is what the runner is started with.
func (g guest) argument() string {
	if g == gVisor {
		return wire.GVisor
	}
	return runner.Confine
}

// mode is that of the runner's file. Linux starts what it lets its user not read, and keeps it from being looked into.
func (g guest) mode() int64 {
	if g == gVisor {
		return 0o555
	}
	return 0o111
}

// try finds out in which kernel the runner works.
func (b *Backend) try(ctx context.Context, runtime string, found image.InspectResponse) (guest, error) {
	err := b.tryIn(ctx, runtime, found, linux)
	if err == nil {
		return linux, nil
	}
	second := b.tryIn(ctx, runtime, found, gVisor)
	if second == nil {
		return gVisor, nil
	}
	if errors.Is(second, errGreeting) && !strings.Contains(second.Error(), wire.NoGVisor) {
		err = second
	}
	return linux, fmt.Errorf("%w: runtime: bailiff's runner does not work in %q: %s", backends.ErrUnavailable, runtime,
		strings.TrimPrefix(err.Error(), backends.ErrUnavailable.Error()+": "))
}

// tryIn starts the runner in a container of a runtime, and has it run one command: itself.
func (b *Backend) tryIn(ctx context.Context, runtime string, found image.InspectResponse, in guest) error {
	name, done := b.opening.Name("bailiff-trial-")
	defer done()
	spec := backends.Spec{Owner: cmp.Or(b.cfg.Owner, "trial"), Image: found.ID, Runtime: runtime, Network: "none", ReadOnly: true,
		Expires: time.Now().Add(2 * trialTime)}
	opened, err := b.launch(ctx, name, spec, found, in)
	var fault error
	if err == nil {
		fault = answer(ctx, opened)
	}
	if left := b.discard(ctx, name); left != nil {
		b.cfg.Log.WarnContext(ctx, "a sandbox that failed is left to the next sweep", "container", name, "error", left)
	}
	if err != nil {
		return err
	}
	defer opened.Client.Close()
	if fault != nil {
		return fmt.Errorf("%w: %w; the runner said %q", errGreeting, fault, opened.lastWords(ctx))
	}
	return nil
}

// answer is nil if a command in a sandbox comes to its end and its output comes out.
func answer(ctx context.Context, in *sandbox) error {
	var said strings.Builder
	exit, err := in.Run(ctx, backends.Command{Argv: []string{runnerPath, wire.Answer}, Timeout: trialTime, HeadBytes: 1 << 10},
		func(p []byte) { said.Write(p) })
	switch {
	case err != nil:
		return fmt.Errorf("running a command: %w", err)
	case exit.Code != 0 || exit.TimedOut || exit.Interrupted || exit.Lost:
		return fmt.Errorf("a command ended with status %d and said %q", exit.Code, bailiff.Foreign(said.String()))
	case said.String() != wire.Answered:
		return fmt.Errorf("of a command's output came %q, want %q", bailiff.Foreign(said.String()), wire.Answered)
	}
	return nil
}

// Close ends the trials and the connections. What runs in sandboxes is not ended by it.
func (b *Backend) Close() error {
	b.trials.Lock()
	b.trials.closed = true
	for _, t := range b.trials.last {
		t.stop()
	}
	b.trials.Unlock()
	b.trials.running.Wait()
	return b.link.Close()
}
