package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// A machine that holds a named workspace is named after it with a number. Where a
// workspace moves from one machine to another, the next has the next number, and
// is marked until it has everything: so of two, whatever was interrupted, it is
// known which one counts.
const (
	labelNumber = "bailiff.number"
	labelEmpty  = "bailiff.empty"
)

const (
	// carryTime bounds the moving of a workspace from one machine to another, and
	// stripTime the removal of what lies beside one.
	carryTime = 10 * time.Minute
	stripTime = 100 * time.Second
)

// carried is where a workspace lies on its way.
const carried = folder + "/carried"

func keptName(spec backends.Spec, number int) string {
	return fmt.Sprintf("bailiff-%s-%d", backends.Digest(spec.Owner, spec.Workspace), number)
}

// openKept opens the machine that holds the workspace, or one that it is carried to.
func (b *Backend) openKept(ctx context.Context, image string, spec backends.Spec) (backends.Sandbox, error) {
	release, err := b.hold(ctx, backends.Digest(spec.Owner, spec.Workspace))
	if err != nil {
		return nil, err
	}
	opened, err := b.reopen(ctx, image, spec, release)
	if err != nil {
		release()
		return nil, err
	}
	return opened, nil
}

// hold waits until no sandbox of this process has the workspace.
func (b *Backend) hold(ctx context.Context, workspace string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, cleanUp)
	defer cancel()
	for {
		mine := make(chan struct{})
		b.mu.Lock()
		theirs, taken := b.held[workspace]
		if !taken {
			b.held[workspace] = mine
		}
		b.mu.Unlock()
		if !taken {
			return sync.OnceFunc(func() {
				b.mu.Lock()
				delete(b.held, workspace)
				b.mu.Unlock()
				close(mine)
			}), nil
		}
		select {
		case <-theirs:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: another sandbox still has the workspace", backends.ErrUnavailable)
		}
	}
}

func (b *Backend) reopen(ctx context.Context, image string, spec backends.Spec, release func()) (*sandbox, error) {
	old, number, err := b.latest(ctx, spec)
	if err != nil {
		return nil, err
	}
	if old.ID != "" && old.Labels[labelSpec] == specHash(spec) {
		defer b.opening.Begin(old.Name)()
		return b.wake(ctx, old, image, spec, release)
	}
	name := keptName(spec, number+1)
	defer b.opening.Begin(name)()
	m, err := b.succeed(ctx, name, number+1, image, spec, old)
	if err != nil {
		return nil, errors.Join(err, b.discard(ctx, name))
	}
	return b.enterKept(ctx, m, spec, release)
}

// enterKept leaves a machine that cannot be entered stopped.
func (b *Backend) enterKept(ctx context.Context, m machine, spec backends.Spec, release func()) (*sandbox, error) {
	opened, err := b.enter(ctx, m, spec, release)
	if err != nil {
		return nil, errors.Join(err, b.dismiss(ctx, m.ID, true))
	}
	return opened, nil
}

// latest finds the machine that holds the workspace, and the last number that was
// given. The list may lag behind, so the names that it does not show are tried.
func (b *Backend) latest(ctx context.Context, spec backends.Spec) (found machine, number int, err error) {
	all, err := b.owned(ctx, map[string]string{labelOwner: spec.Owner, labelWorkspace: spec.Workspace})
	if err != nil {
		return found, 0, err
	}
	for _, m := range all {
		n, _ := strconv.Atoi(m.Labels[labelNumber])
		if n > number {
			number = n
		}
		if current, _ := strconv.Atoi(found.Labels[labelNumber]); n > current && m.Labels[labelEmpty] == "" {
			found = m
		}
	}
	for {
		m, err := b.api.machine(ctx, keptName(spec, number+1))
		if httpapi.Status(err) == http.StatusNotFound {
			break
		}
		if err != nil {
			return found, 0, unavailable("looking for the workspace", err)
		}
		number++
		if m.Labels[labelEmpty] == "" && m.State != destroying && m.State != destroyed {
			found = m
		}
	}
	return found, number, nil
}

// wake starts a machine anew that was stopped, or that an earlier sidecar left
// running.
func (b *Backend) wake(ctx context.Context, m machine, image string, spec backends.Spec, release func()) (*sandbox, error) {
	wanted, err := b.wanted(m.Name, image, spec)
	if err == nil {
		m, err = b.restart(ctx, m)
	}
	if err == nil {
		err = b.kept(spec, wanted, m)
	}
	if err == nil {
		err = b.strip(ctx, m)
	}
	if err == nil {
		err = b.api.label(ctx, m.ID, numbered(spec, m.Labels[labelNumber]))
	}
	if err != nil {
		return nil, errors.Join(unavailable("opening the workspace", err), b.dismiss(ctx, m.ID, true))
	}
	return b.enterKept(ctx, m, spec, release)
}

// strip leaves nothing of what an earlier sandbox could write but the workspace.
func (b *Backend) strip(ctx context.Context, m machine) error {
	t, err := b.api.tools(m)
	if err != nil {
		return err
	}
	return t.run(ctx, "for d in /home /tmp /var/tmp /dev/shm; do [ ! -d $d ] || find $d/ -xdev -mindepth 1 -delete || exit 1; done",
		stripTime)
}

func (b *Backend) restart(ctx context.Context, m machine) (machine, error) {
	if err := b.halt(ctx, m.ID); err != nil {
		return m, err
	}
	backends.Step(ctx, "starting a sandbox at Daytona")
	if err := b.api.start(ctx, m.ID); err != nil {
		return m, err
	}
	m.State = "starting"
	return b.await(ctx, m, started)
}

func numbered(spec backends.Spec, number string) map[string]string {
	all := labels(spec)
	all[labelNumber] = number
	return all
}

// succeed makes the machine that the workspace is in from now on, and removes the
// one in which it was.
func (b *Backend) succeed(ctx context.Context, name string, number int, image string, spec backends.Spec, old machine) (machine, error) {
	all := numbered(spec, strconv.Itoa(number))
	marked := maps.Clone(all)
	if old.ID != "" {
		marked[labelEmpty] = "true"
	}
	m, err := b.make(ctx, name, image, spec, marked)
	if err != nil || old.ID == "" {
		return m, err
	}
	backends.Step(ctx, "carrying the workspace into another sandbox at Daytona")
	if err := b.carry(ctx, old, m); err != nil {
		return m, unavailable("carrying the workspace", errors.Join(err, b.dismiss(ctx, old.ID, true)))
	}
	if err := b.api.label(ctx, m.ID, all); err != nil {
		return m, unavailable("carrying the workspace", err)
	}
	if err := b.discard(ctx, old.ID); err != nil {
		b.log.WarnContext(ctx, "a sandbox whose workspace was carried into another could not be removed", "sandbox", old.ID, "error", err)
	}
	return m, nil
}

// carry copies the workspace from one machine to the other, by way of this one,
// which keeps nothing of it.
func (b *Backend) carry(ctx context.Context, from, to machine) error {
	from, err := b.restart(ctx, from)
	if err != nil {
		return err
	}
	source, err := b.api.tools(from)
	if err != nil {
		return err
	}
	target, err := b.api.tools(to)
	if err != nil {
		return err
	}
	if err := source.run(ctx, "mkdir -p "+folder+" && tar --numeric-owner -C /workspace -cf "+carried+" .", carryTime); err != nil {
		return err
	}
	if err := target.makeFolder(ctx, folder, "0711"); err != nil {
		return err
	}
	content := func() (io.ReadCloser, error) { return source.download(ctx, carried) }
	if err := target.upload(ctx, carried, content, carryTime); err != nil {
		return err
	}
	return target.run(ctx, "mkdir -p /workspace && tar --numeric-owner -C /workspace -xpf "+carried+" && rm "+carried, carryTime)
}
