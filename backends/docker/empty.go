package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// removeWorkspace removes a volume. An engine holds a descriptor for each folder on its way down, and
// fails at a tree that is deeper than it may: then the volume is emptied first.
func (b *Backend) removeWorkspace(ctx context.Context, owner string, v *volume.Volume) error {
	err := b.engine.VolumeRemove(ctx, v.Name, false)
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) || ctx.Err() != nil {
		return err
	}
	if failed := b.emptyVolume(ctx, owner, v); failed != nil {
		return errors.Join(bailiff.ForeignError(err), failed)
	}
	return b.engine.VolumeRemove(ctx, v.Name, false)
}

// emptyVolume removes what is in a volume, by the runner's program in a container that has nothing else, as
// the user to whom all of it belongs.
func (b *Backend) emptyVolume(ctx context.Context, owner string, v *volume.Volume) error {
	image := cmp.Or(v.Labels[labelImage], b.cfg.Image) // volumes of earlier versions name none
	found, err := b.engine.ImageInspect(ctx, image)
	if err != nil {
		return b.fault("looking for image "+image, err)
	}
	in, err := b.guestOf(ctx, b.cfg.Runtime, found)
	if err != nil {
		return err
	}
	program, err := b.runnerVolume(ctx, owner, image, in)
	if err != nil {
		return err
	}
	name, done := b.opening.Name("bailiff-empty-")
	defer done()
	_, err = b.engine.ContainerCreate(ctx, &container.Config{Image: image, User: b.cfg.User, Entrypoint: []string{runnerPath},
		Cmd: []string{wire.Empty}, WorkingDir: "/", Labels: map[string]string{labelOwner: owner},
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}}, emptying(b.cfg.Runtime, program, v.Name), nil, nil, name)
	if err == nil {
		err = b.runToEnd(ctx, name)
	}
	if err != nil {
		err = fmt.Errorf("emptying it: %w", bailiff.ForeignError(err))
	}
	return errors.Join(err, b.discard(ctx, name))
}

// emptying holds the limits and mounts of a container that empties a workspace.
func emptying(runtime, program, workspace string) *container.HostConfig {
	return &container.HostConfig{
		Runtime: runtime, NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, ReadonlyRootfs: true,
		LogConfig: container.LogConfig{Type: "none"}, Resources: container.Resources{Memory: 256 * mib},
		Mounts: []mount.Mount{volumeAt(program, "/"+runnerFolder, true), volumeAt(workspace, workdirs.MountPath, false)},
	}
}

// runToEnd starts a container and waits until it ends. A status that is not 0 is an error.
func (b *Backend) runToEnd(ctx context.Context, name string) error {
	ended, failed := b.engine.ContainerWait(ctx, name, container.WaitConditionNextExit)
	if err := b.engine.ContainerStart(ctx, name, container.StartOptions{}); err != nil {
		return err
	}
	select {
	case end := <-ended:
		if end.StatusCode != 0 {
			return fmt.Errorf("it ended with status %d", end.StatusCode)
		}
		return nil
	case err := <-failed:
		return err
	}
}
