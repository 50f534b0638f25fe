package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/bailiff-dev/bailiff/backends"
)

// Adopt attaches anew to a container that runs still, if it is the one that an
// earlier sidecar made for the spec and is unchanged since. What it
// refuses it leaves alone.
func (b *Backend) Adopt(ctx context.Context, id string, spec backends.Spec) (backends.Sandbox, error) {
	runtime, err := b.Runtime(spec.Runtime)
	if err != nil {
		return nil, fmt.Errorf("adopting sandbox %s: %w", short(id), err)
	}
	spec.Runtime = runtime
	if err := b.adoptable(ctx, id, spec); err != nil {
		return nil, fmt.Errorf("adopting sandbox %s: %w", short(id), err)
	}
	adopted, err := b.attach(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := adopted.greet(ctx, spec); err != nil {
		return nil, err
	}
	return adopted, nil
}

func (b *Backend) adoptable(ctx context.Context, id string, spec backends.Spec) error {
	if err := b.permitted(spec); err != nil {
		return err
	}
	if err := b.confines(ctx); err != nil {
		return err
	}
	got, err := b.engine.ContainerInspect(ctx, id)
	if err != nil {
		return b.fault("inspecting it", err)
	}
	if got.ID != id { // the engine finds containers by name, too
		return fmt.Errorf("%w: the Docker engine knows it as %s", backends.ErrUnavailable, short(got.ID))
	}
	if err := b.isOurs(got.Config, spec); err != nil {
		return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	if !got.State.Running || got.State.Paused || got.State.Restarting {
		return fmt.Errorf("%w: it is %s", backends.ErrUnavailable, got.State.Status)
	}
	return b.verify(ctx, got, confinement(spec))
}

// isOurs is nil if the container was made for the spec, by this configuration.
func (b *Backend) isOurs(have *container.Config, spec backends.Spec) error {
	want := labels(spec)
	for _, label := range []string{labelOwner, labelSession, labelSpec, labelExpires} {
		if have.Labels[label] != want[label] {
			return fmt.Errorf("its label %s is %q, want %q", label, have.Labels[label], want[label])
		}
	}
	switch {
	case !spec.Expires.IsZero() && !time.Now().Before(spec.Expires):
		return errors.New("its time is over")
	case have.User != b.cfg.User:
		return fmt.Errorf("it runs as %q, want %q", have.User, b.cfg.User)
	case !slices.Equal(have.Entrypoint, []string{runnerPath}), !slices.Equal(have.Cmd, []string{linux.argument()}) &&
		(spec.Runtime == "" || !slices.Equal(have.Cmd, []string{gVisor.argument()})):
		return errors.New("it runs another program than the runner")
	}
	return nil
}
