// Package local runs commands on the host itself, as the user that the sidecar
// runs as. Nothing is isolated: a command can do all that this user can. What it
// still gives is what the runner gives everywhere: a clean environment, time
// limits, and an end to all that a command started.
//
// There is nothing on the host that could meet a limit for one session, so a
// spec that asks for one is refused. A spec for this backend has the network
// "full", no image, no mounts, is not read-only, and its limits are zero.
// Workspaces are one and the same: the configured folder, which is never removed.
package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/limits"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Config says where commands run.
type Config struct {
	// Runner is the path of the bailiff-runner program.
	Runner string
	// Workdir is where commands start; empty means the user's home.
	Workdir string
	// StateDir is where a copy of the runner is kept that cannot be read, so that
	// commands cannot trace it even as it starts; empty means to run it as it is.
	StateDir string
	// Silence is that of [backends.Host].
	Silence time.Duration
}

// Backend makes sandboxes that are none.
type Backend struct {
	cfg  Config
	home string
}

var (
	_ backends.Backend   = (*Backend)(nil)
	_ backends.Starter   = (*Backend)(nil)
	_ backends.Installer = (*Backend)(nil)
	_ backends.Starter   = (*Config)(nil)
)

// Start is the configured folder, or the home of the sidecar's user.
func (b *Backend) Start() string { return b.cfg.Start() }

// New checks the configuration.
func New(cfg Config) (*Backend, error) {
	if cfg.Runner == "" {
		return nil, errors.New("local backend lacks the path of bailiff-runner")
	}
	home, err := homeFolder()
	if err != nil {
		return nil, err
	}
	if cfg.Workdir == "" {
		cfg.Workdir = home
	}
	if !filepath.IsAbs(cfg.Workdir) {
		return nil, fmt.Errorf("local backend's workdir is %q, want an absolute path", cfg.Workdir)
	}
	if cfg.StateDir != "" {
		if cfg.Runner, err = runner.Install(cfg.Runner, cfg.StateDir); err != nil {
			return nil, err
		}
	}
	return &Backend{cfg, home}, nil
}

func homeFolder() (string, error) {
	if me, err := user.Current(); err == nil && me.HomeDir != "" {
		return me.HomeDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home folder of the local backend's user: %w", err)
	}
	return home, nil
}

// Isolated is false.
func (*Backend) Isolated() bool { return false }

// Ready says whether the runner and the folder are there.
func (b *Backend) Ready(context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: bailiff-runner needs Linux, this is %s", backends.ErrUnavailable, runtime.GOOS)
	}
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("%w: finding the runner: %w", backends.ErrUnavailable, err)
	}
	if stat, err := os.Stat(b.cfg.Workdir); err != nil || !stat.IsDir() {
		return fmt.Errorf("%w: backends.local.workdir %s is no folder", backends.ErrUnavailable, b.cfg.Workdir)
	}
	return nil
}

// Open starts a runner.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := backends.CheckBare("local", spec); err != nil {
		return nil, err
	}
	if err := b.Ready(ctx); err != nil {
		return nil, err
	}
	return limits.Open(ctx, "local", spec, nil, func(*cgroup.Group) (*runner.Child, error) {
		cmd := exec.Command(b.cfg.Runner)
		cmd.Env, cmd.Dir = []string{}, "/"
		child, err := runner.Launch(ctx, cmd, runner.Place{Home: b.home, Workspace: b.cfg.Workdir, Linger: b.cfg.Silence}, nothing, nothing)
		if err != nil {
			err = fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
		}
		return child, err
	})
}

func nothing() error { return nil }
