package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// cleanUp is how long the removal of a container may take whose caller has gone.
const cleanUp = 30 * time.Second

// Open makes and starts a container and waits until its runner answers.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	name, done := b.opening.Name("bailiff-")
	defer done()
	opened, err := b.open(ctx, name, spec)
	if err == nil {
		return opened, nil
	}
	b.forget()
	if left := b.discard(ctx, name); left != nil {
		b.cfg.Log.WarnContext(ctx, "a sandbox that failed is left to the next sweep", "container", name, "error", left)
	}
	return nil, err
}

// discard removes a container that is not needed any more, also for a caller who
// has gone; by name, since the engine may have made it and not come to say so.
func (b *Backend) discard(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return b.remove(ctx, name)
}

func (b *Backend) open(ctx context.Context, name string, spec backends.Spec) (_ *sandbox, err error) {
	if spec.Runtime, err = b.Runtime(spec.Runtime); err != nil {
		return nil, err
	}
	if err := b.permitted(spec); err != nil {
		return nil, err
	}
	if err := b.confines(ctx); err != nil {
		return nil, err
	}
	found, err := b.bring(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	in, err := b.guestOf(ctx, spec.Runtime, found)
	if err != nil {
		return nil, err
	}
	if in == gVisor && spec.PIDs > 0 {
		if err := b.missing(pids, "the engine bounds processes of the host alone, not those inside of gVisor"); err != nil {
			return nil, err
		}
	}
	return b.launch(ctx, name, spec, found, in)
}

// launch makes a sandbox of an image, whether or not its runtime was tried.
func (b *Backend) launch(ctx context.Context, name string, spec backends.Spec, found image.InspectResponse, in guest) (*sandbox, error) {
	program, err := b.runnerVolume(ctx, spec.Owner, found.ID, in)
	if err != nil {
		return nil, err
	}
	trusted, err := b.trust(ctx, spec, found)
	if err != nil {
		return nil, err
	}
	workspace, err := b.workspaceVolume(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer workspace.release()
	owned := make(chan error, 1) // a workspace is needed by the first command, not by the start
	go func() { owned <- b.ownWorkspace(ctx, spec, found.ID, workspace) }()
	opened, err := b.begin(ctx, name, spec, found, in, append(mounts(spec, program, workspace.Name), trusted...))
	if owning := <-owned; owning != nil && err == nil {
		err = owning
		_ = opened.Client.Close() // always nil
	}
	return opened, err
}

// begin makes the container and starts it, attached before it can say anything.
func (b *Backend) begin(ctx context.Context, name string, spec backends.Spec, found image.InspectResponse, in guest,
	mounts []mount.Mount) (*sandbox, error) {
	id, err := b.create(ctx, name, spec, found, in, mounts)
	if err != nil {
		return nil, err
	}
	if err := b.ready(ctx, id); err != nil {
		return nil, err
	}
	started, err := b.attach(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := b.engine.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		started.conn.Close()
		return nil, b.fault("starting the sandbox", err)
	}
	if err := started.greet(ctx, spec); err != nil {
		return nil, err
	}
	return started, nil
}

// attach connects to a container's streams.
func (b *Backend) attach(ctx context.Context, id string) (*sandbox, error) {
	conn, err := b.engine.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, b.fault("attaching to the sandbox", err)
	}
	return &sandbox{backend: b, id: id, conn: conn, words: &runner.Words{Log: b.cfg.Log.With("sandbox", short(id))},
		heard: make(chan struct{})}, nil
}

// sandbox is a running container and the client of its runner.
type sandbox struct {
	*runner.Client
	backend *Backend
	id      string
	conn    types.HijackedResponse
	words   *runner.Words
	heard   chan struct{} // closed once all is heard that the engine and the runner say
}

// errGreeting is the fault of a sandbox that was started and whose runner does not answer as it should.
var errGreeting = fmt.Errorf("%w: greeting the sandbox", backends.ErrUnavailable)

// greet waits until the runner answers; the connection is closed if it does not.
func (s *sandbox) greet(ctx context.Context, spec backends.Spec) error {
	place := runner.PlaceOf(spec, s.backend.linger)
	place.Epoch, place.Names = s.backend.cfg.Epoch(), true
	attached, err := runner.Attach(ctx, s.stream(), place)
	if err != nil {
		if said := s.words.String(); said != "" {
			err = fmt.Errorf("%w; the engine or the runner said %q", err, said)
		}
		return fmt.Errorf("%w: %w", errGreeting, err)
	}
	s.Client = attached
	return nil
}

// lastWords are what the runner of a sandbox said until its container was gone. Its standard error comes apart from what it answers,
// and may come later.
func (s *sandbox) lastWords(ctx context.Context) string {
	soon, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	select {
	case <-s.heard:
	case <-soon.Done():
	}
	return s.words.String()
}

// stream is the runner's standard output and input; its standard error goes to
// the log.
func (s *sandbox) stream() io.ReadWriteCloser {
	out, demultiplexed := io.Pipe()
	go func() {
		defer close(s.heard)
		_, err := stdcopy.StdCopy(demultiplexed, s.words, s.conn.Reader)
		demultiplexed.CloseWithError(err)
	}()
	return stream{out, s.conn.Conn}
}

// stream reads what was demultiplexed and writes to the connection.
type stream struct {
	*io.PipeReader
	conn net.Conn
}

func (s stream) Write(p []byte) (int, error) { return s.conn.Write(p) }

func (s stream) Close() error { return errors.Join(s.conn.Close(), s.PipeReader.Close()) }

// ID is the container's id.
func (s *sandbox) ID() string { return s.id }

// Close stops and removes the container and what was its alone, unless a later run of the sidecar has it, or may have it.
func (s *sandbox) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRemoval)
	defer cancel()
	err := s.checkOwner(ctx)
	_ = s.Client.Close() // always nil
	if err != nil {
		return fmt.Errorf("removing sandbox %s: %w", short(s.id), err)
	}
	return s.backend.remove(ctx, s.id)
}

// checkOwner says that a later run has the container, or may have it. Where the runner does not say it, as one that has ended
// cannot, the name of the sidecar has to be its own. If that is not known either, the container stays for the next sweep by the
// run that has the name.
func (s *sandbox) checkOwner(ctx context.Context) error {
	unsaid := s.CheckLatest(ctx)
	if unsaid == nil || errors.Is(unsaid, backends.ErrSuperseded) {
		return unsaid
	}
	if err := s.backend.cfg.CheckOwner(); err != nil {
		return fmt.Errorf("%w: its runner does not say it (%w), and %w", backends.ErrOwnerUnknown, unsaid, err)
	}
	return nil
}

// longestRemoval is how long the engine may take to remove a container.
const longestRemoval = time.Minute
