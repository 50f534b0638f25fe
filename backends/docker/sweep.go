package docker

import (
	"context"
	"errors"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"
)

// Sweep removes the owner's containers that keep does not want, started or not,
// and the runners' volumes that none of the others uses.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	found, err := b.engine.ContainerList(ctx, container.ListOptions{All: true, Filters: ownedBy(owner)})
	if err != nil {
		return 0, b.fault("listing sandboxes", err)
	}
	removed := 0
	var faults []error
	for _, c := range found {
		if b.isOpening(c.Names) || keep(c.ID) {
			continue
		}
		if err := b.remove(ctx, c.ID); err != nil {
			faults = append(faults, err)
			continue
		}
		if c.Labels[labelSession] != "" {
			removed++
		}
	}
	faults = append(faults, b.sweepRunners(ctx, owner))
	return removed, errors.Join(faults...)
}

func ownedBy(owner string) filters.Args {
	return filters.NewArgs(filters.Arg("label", labelOwner+"="+owner))
}

func (b *Backend) isOpening(names []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range names {
		if b.opening[strings.TrimPrefix(name, "/")] {
			return true
		}
	}
	return false
}

// sweepRunners removes the runners' volumes that no container has, unless one is
// being opened. The next opening makes its own again.
func (b *Backend) sweepRunners(ctx context.Context, owner string) error {
	b.seeding.Lock() // an opening that begins now waits, and then finds the volume gone
	defer b.seeding.Unlock()
	if b.anyOpening() {
		return nil
	}
	which := ownedBy(owner)
	which.Add("label", labelRunner)
	which.Add("dangling", "true")
	found, err := b.engine.VolumeList(ctx, volume.ListOptions{Filters: which})
	if err != nil {
		return b.fault("listing the runners' volumes", err)
	}
	var faults []error
	for _, v := range found.Volumes {
		b.unseed(v.Name)
		faults = append(faults, b.removeVolume(ctx, v.Name))
	}
	return errors.Join(faults...)
}

func (b *Backend) anyOpening() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.opening) > 0
}

func (b *Backend) unseed(volume string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.seeded, volume)
}

// remove kills and removes a container with its unnamed volumes. One that is
// gone, or that somebody else is removing, is no fault once it is gone.
func (b *Backend) remove(ctx context.Context, id string) error {
	err := b.engine.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsConflict(err) {
		err = b.awaitRemoval(ctx, id)
	}
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return b.fault("removing sandbox "+short(id), err)
}

func (b *Backend) awaitRemoval(ctx context.Context, id string) error {
	done, failed := b.engine.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case <-done:
		return nil
	case err := <-failed:
		return err
	}
}

func (b *Backend) removeVolume(ctx context.Context, name string) error {
	err := b.engine.VolumeRemove(ctx, name, false)
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return b.fault("removing volume "+name, err)
}

func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}
