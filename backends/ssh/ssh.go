// Package ssh runs commands on another host, which it reaches by ssh: any host with
// Linux, a POSIX shell and sha256sum. The runner is put there once, and again when
// another one is needed; each sandbox is a runner of its own, which is driven over
// one session of a connection that all share (package remote). So a command costs a
// round trip, not a session.
//
// Without more, nothing is isolated: a command can do all that the user can who logs
// in. What it has is what the runner gives everywhere, as in package local, and the
// same specs are refused. With the sandbox "bubblewrap" the program bailiff-host
// makes sandboxes there as package bubblewrap makes them here, by the same code, and
// hands the session down to the runner inside: limits, workspaces, mounts and sweeps
// are the host's then.
//
// When the connection breaks, its sandboxes are over for us at once, and the host
// ends what runs in them: the runner's input ends with the connection. Where the host
// does not hear of it, since the line is dead, the runner ends what it runs itself
// when it has heard nothing for as long as a host may be silent for us. So both sides
// give up within the same time, and nothing is ever run twice.
//
// Nothing of the environment on either side reaches a command, and no value of a
// variable stands in a command line there: variables travel in the runner's stream.
package ssh

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

// Config says which host, and what is made there.
type Config struct {
	// Host is user@name or user@name:port.
	Host string
	// Way is how it is reached.
	settings.SSH
	// Folder is where programs and workspaces are on the host; empty means
	// ~/.local/share/bailiff there, for root /var/lib/bailiff-ssh.
	Folder string
	// Workdir is where commands begin; empty means the user's home there.
	Workdir string
	// Sandbox is [Bubblewrap], or empty for none. Inside says of it what package
	// bubblewrap wants to know; its paths are the host's.
	Sandbox string
	Inside  bubblewrap.Config
	// Runner is the path of the bailiff-runner program here. For another architecture
	// there is another one beside it, such as bailiff-runner-linux-arm64.
	Runner string
	// StateDir is where hosts are noted that were trusted.
	StateDir string
}

// New checks the configuration. What it returns is isolated, sweeps and keeps
// workspaces where there is a sandbox.
func New(cfg Config) (backends.Backend, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("ssh backend: %w", err)
	}
	if cfg.Runner == "" {
		return nil, errors.New("ssh backend lacks the path of bailiff-runner")
	}
	host, err := remote.To(cfg.SSH, cfg.Host, cfg.StateDir)
	if err != nil {
		return nil, fmt.Errorf("ssh backend: %w", err)
	}
	if cfg.Sandbox == Bubblewrap {
		// What makes sandboxes must be able to copy the runner into them.
		return &boxed{&site{host: host, cfg: cfg, needed: []program{{runnerName, "511"}, {hostName, "511"}}}}, nil
	}
	return &bare{&site{host: host, cfg: cfg, needed: []program{{runnerName, "111"}}}}, nil
}

// The programs that are brought to a host.
const (
	runnerName = "bailiff-runner"
	hostName   = "bailiff-host"
)

// bare runs commands on the host itself.
type bare struct{ *site }

var (
	_ backends.Starter = (*bare)(nil)
	_ backends.Starter = (*Config)(nil)
)

// Isolated is false.
func (*bare) Isolated() bool { return false }

// Start is the configured folder, or the user's home there once the host has told it.
func (b *bare) Start() string { return cmp.Or(b.cfg.Workdir, b.lastHome()) }

// Ready opens a sandbox to see whether it can be done.
func (b *bare) Ready(ctx context.Context) error {
	trial, err := b.Open(ctx, backends.Spec{Network: "full"})
	if err != nil {
		return err
	}
	return trial.Close(context.WithoutCancel(ctx))
}

// Open starts a runner.
func (b *bare) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := backends.CheckBare("ssh", spec); err != nil {
		return nil, err
	}
	var opened *sandbox
	err := b.with(ctx, func(g ground) error {
		workdir := cmp.Or(b.cfg.Workdir, g.home)
		process, err := b.start(ctx, g, workdir, runnerName)
		if err != nil {
			return err
		}
		opened, err = attach(ctx, process, runner.Place{Home: g.home, Workspace: workdir, Linger: b.host.Silence()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	return opened, nil
}

// sandbox is a runner at the other end of a session.
type sandbox struct {
	*runner.Client
	id      string
	process *remote.Process
	// giveUp is longer than a host can be silent without being given up.
	giveUp time.Duration
}

// attach greets the runner. If it is not there, the error tells how what should have
// started it ended.
func attach(ctx context.Context, process *remote.Process, place runner.Place) (*sandbox, error) {
	client, err := runner.Attach(ctx, process, place)
	if err != nil {
		return nil, explained(ctx, process, err)
	}
	return &sandbox{client, "ssh-" + strings.ToLower(rand.Text()[:12]), process, 2 * place.Linger}, nil
}

// ID is a name of its own.
func (s *sandbox) ID() string { return s.id }

// Run runs a command, and tells what the other side said last where the sandbox
// failed.
func (s *sandbox) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	exit, err := s.Client.Run(ctx, cmd, out)
	select {
	case <-s.Done():
		if err != nil && !errors.Is(err, backends.ErrNotStarted) {
			err = explained(ctx, s.process, err)
		}
	default:
	}
	return exit, err
}

// Close ends everything inside, and waits until the host says that it has ended or
// the connection is gone, however long the caller wants to wait: a host that says
// nothing is given up before long.
func (s *sandbox) Close(context.Context) error {
	_ = s.Client.Close()
	late := time.NewTimer(s.giveUp)
	defer late.Stop()
	select {
	case <-s.process.Done():
		return nil
	case <-late.C:
		return errors.New("closing a sandbox: the host does not say that it has ended")
	}
}

// failed is how a command on the host ended that should not have.
type failed struct {
	cause  error
	status int
	words  string
}

func (f *failed) Unwrap() error { return f.cause }

func (f *failed) Error() string {
	if f.words == "" {
		return fmt.Sprintf("%v (it ended with %d)", f.cause, f.status)
	}
	return fmt.Sprintf("%v (%s)", f.cause, f.words)
}

// patience is how long the last words of a command on the host are waited for.
const patience = 2 * time.Second

// explained adds to an error how the command on the host ended, if it did.
func explained(ctx context.Context, process *remote.Process, err error) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-process.Done():
	case <-late.C:
		return err
	case <-ctx.Done():
		return err
	}
	status, words, unknown := process.Exit()
	if unknown != nil || status == 0 && words == "" {
		return err
	}
	return &failed{err, status, words}
}
