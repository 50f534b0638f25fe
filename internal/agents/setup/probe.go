package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Sandboxes is the [Prober] that makes real ones. What it makes is gone when it returns.
type Sandboxes struct {
	// Runner is the path of the bailiff-runner program.
	Runner string
}

// patience is how long one trial may take; an image may have to be brought.
const patience = 5 * time.Minute

// Try makes a sandbox as the shipped tables order it, and has a command look whether it may write.
func (p Sandboxes) Try(ctx context.Context, _ string, section backends.Maker, shown bailiff.Mount) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	state, err := os.MkdirTemp("", "bailiff-setup-")
	if err != nil {
		return fmt.Errorf("trying a sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	backend, err := section.Make(backends.Host{Runner: p.Runner, StateDir: state, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := backend.Ready(ctx); err != nil {
		return err
	}
	spec := backends.Spec{Owner: "setup", Session: "setup", Network: "none", CPUs: 1, MemoryMB: 512, PIDs: runner.LeastPIDs * 2,
		ReadOnly: true, Mounts: []bailiff.Mount{shown}, Expires: time.Now().Add(patience)}
	if images, ok := backend.(backends.Resolver); ok {
		if spec.Image, err = images.Resolve(ctx, ""); err != nil {
			return err
		}
	}
	return writable(ctx, backend, spec, shown.Target)
}

// writable sees whether a command in a sandbox may write a folder.
func writable(ctx context.Context, backend backends.Backend, spec backends.Spec, folder string) (err error) {
	sandbox, err := backend.Open(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sandbox.Close(context.WithoutCancel(ctx))) }()
	exit, err := sandbox.Run(ctx, backends.Command{Argv: []string{"/bin/sh", "-c", "test -w ."}, Workdir: folder, Timeout: time.Minute},
		func([]byte) {})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("its commands cannot write %s", folder)
	}
	return err
}
