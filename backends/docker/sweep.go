package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Sweep removes the owner's containers that keep does not want, started or not,
// and the volumes that none of the others uses: the runners', those of images'
// certificates, and those of workspaces that no sidecar will ever list. Of other owners, who may never come again,
// it removes the containers that are past their time.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	found, err := b.engine.ContainerList(ctx, container.ListOptions{All: true, Filters: ofAnybody})
	if err != nil {
		return 0, b.fault("listing sandboxes", err)
	}
	removed := 0
	var faults []error
	for _, c := range found {
		if c.Labels[labelOwner] != owner && !isAbandoned(c, time.Now()) || b.isOpening(c) || keep(c.ID) {
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
	faults = append(faults, b.sweepVolumes(ctx, owner))
	return removed, errors.Join(faults...)
}

// ofAnybody are the containers that some sidecar made.
var ofAnybody = filters.NewArgs(filters.Arg("label", labelOwner))

func ownedBy(owner string) filters.Args {
	return filters.NewArgs(filters.Arg("label", labelOwner+"="+owner))
}

// overdue is how far clocks may be apart.
const overdue = 10 * time.Minute

// isAbandoned says whether a container is past its time, and its runner has heard of
// no sidecar for so long that it has ended, or was never begun by its maker.
func isAbandoned(c container.Summary, now time.Time) bool {
	expires, err := time.Parse(time.RFC3339, c.Labels[labelExpires])
	if err != nil || now.Sub(expires) <= overdue {
		return false
	}
	return c.State == "exited" || c.State == "dead" || c.State == "created" && now.Sub(time.Unix(c.Created, 0)) > overdue
}

func (b *Backend) isOpening(c container.Summary) bool {
	return slices.ContainsFunc(c.Names, func(name string) bool { return b.opening.Has(strings.TrimPrefix(name, "/")) })
}

// sweepVolumes removes what no container has, unless one is being opened: the next
// opening makes its own again. The engine lists a volume without labels if it was
// killed while making it.
func (b *Backend) sweepVolumes(ctx context.Context, owner string) error {
	b.making.Lock() // an opening that begins now waits, and then finds the volume gone
	defer b.making.Unlock()
	if b.opening.Any() {
		return nil
	}
	found, err := b.engine.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(
		filters.Arg("name", "bailiff-"), filters.Arg("dangling", "true"))})
	if err != nil {
		return b.fault("listing volumes", err)
	}
	var faults []error
	for _, v := range found.Volumes {
		if err := b.cfg.CheckOwner(); err != nil { // a later run may have made it, and use it next
			return errors.Join(append(faults, err)...)
		}
		half := v.Labels[labelOwner] == "" && isOwned(v.Name, owner)
		spare := v.Labels[labelRunner] != "" || v.Labels[labelTrust] != ""
		if half || v.Labels[labelOwner] == owner && spare {
			b.unmarkSeeded(v.Name)
			faults = append(faults, b.removeVolume(ctx, v.Name))
		}
	}
	faults = append(faults, b.sweepDisks(ctx, owner))
	return errors.Join(faults...)
}

func isOwned(volume, owner string) bool {
	return slices.ContainsFunc([]string{runnerVolumes, trustVolumes, workspaceVolumes}, func(kind string) bool {
		return strings.HasPrefix(volume, ownersVolumes(kind, owner))
	})
}

// unmarkSeeded has a volume filled again at its next use.
func (b *Backend) unmarkSeeded(volume string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.seeded, volume)
}

// remove kills and removes a container with its unnamed volumes. One that is
// gone, or that another sidecar is removing, is no fault once it is gone.
func (b *Backend) remove(ctx context.Context, id string) error {
	err := b.removeOnce(ctx, id)
	for pause := 5 * time.Millisecond; isEnding(err) && pause < cleanUp/4 && httpapi.Wait(ctx, pause) == nil; pause *= 2 {
		err = b.removeOnce(ctx, id)
	}
	if errdefs.IsConflict(err) {
		err = b.awaitRemoval(ctx, id)
	}
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return b.fault("removing sandbox "+short(id), err)
}

// places bound how much an engine is asked for at once.
type places chan struct{}

func (p places) take(ctx context.Context) error {
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p places) leave() { <-p }

// removeOnce waits for a place among the removals. What runs in the container does not wait with it: it is killed before.
func (b *Backend) removeOnce(ctx context.Context, id string) error {
	select {
	case b.removals <- struct{}{}:
	default:
		if err := b.kills.take(ctx); err != nil {
			return err
		}
		_ = b.engine.ContainerKill(ctx, id, "KILL") // the removal does it too, and says what is wrong
		b.kills.leave()
		if err := b.removals.take(ctx); err != nil {
			return err
		}
	}
	defer b.removals.leave()
	return b.engine.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
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
