package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/volume"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

// diskSuffix ends the names of disks, which are otherwise those of their volumes.
const diskSuffix = ".ext4"

// disk is a file system in a file of this host. It bounds the workspace of an
// engine that cannot bound a volume: the engine mounts it as the volume.
type disk struct {
	device *os.File
	// link leads to the device while the engine may mount it. Afterwards it is
	// gone, since the device may become another disk's when the engine lets it go.
	link string
}

// release is for when the engine has mounted the disk, or will not.
func (w workspace) release() {
	if w.disk != nil {
		_ = os.Remove(w.disk.link)
		_ = w.disk.device.Close() // it was only kept open
	}
}

func (b *Backend) diskPath(volume string) string {
	return filepath.Join(b.cfg.StateDir, volume+diskSuffix)
}

func (b *Backend) hasDisk(volume string) bool {
	if b.cfg.StateDir == "" {
		return false
	}
	_, err := os.Stat(b.diskPath(volume))
	return err == nil
}

// withoutQuota bounds a workspace by a disk of its own, or leaves the bound out
// if the configuration accepts that.
func (b *Backend) withoutQuota(ctx context.Context, options volume.CreateOptions, size int, lack error) (workspace, error) {
	impossible := b.disksPossible(ctx)
	if impossible == nil {
		return b.onDisk(ctx, options, size)
	}
	if err := b.missing(diskMB, fmt.Sprintf("%v, and %v", lack, impossible)); err != nil {
		return workspace{}, err
	}
	options.DriverOpts = nil
	made, err := b.makeVolume(ctx, options)
	return workspace{Volume: made}, err
}

var errElsewhere = errors.New("it is not on this host as root, where a disk could be made for it")

// disksPossible is nil where the engine can mount what this process makes: on the
// same kernel, in the same view of files.
func (b *Backend) disksPossible(ctx context.Context) error {
	if b.at.remote() {
		return errElsewhere
	}
	if b.cfg.StateDir == "" {
		return errors.New("there is no folder for disks")
	}
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	here, err := os.Hostname()
	if err != nil {
		return err
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	if engine.Name != here || engine.KernelVersion != strings.TrimSpace(string(kernel)) ||
		slices.ContainsFunc(engine.SecurityOptions, func(option string) bool { return strings.HasPrefix(option, "name=rootless") }) {
		return errElsewhere
	}
	return loop.Possible()
}

// onDisk makes a volume that is a disk, which may have been there.
func (b *Backend) onDisk(ctx context.Context, options volume.CreateOptions, size int) (workspace, error) {
	b.making.Lock()
	defer b.making.Unlock()
	if err := b.makeDisk(ctx, options.Name, size); err != nil {
		return workspace{}, err
	}
	shown, err := b.showDisk(options.Name)
	if err != nil {
		return workspace{}, fmt.Errorf("%w: showing the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	options.DriverOpts = map[string]string{"type": "ext4", "device": shown.link, "o": "nosuid,nodev"}
	made, err := b.labelledVolume(ctx, options)
	w := workspace{Volume: made, disk: shown}
	switch {
	case err != nil:
		err = b.fault("making volume "+options.Name, err)
	case made.Options["device"] != shown.link:
		err = fmt.Errorf("%w: volume %s was made without its disk", backends.ErrUnavailable, options.Name)
	}
	if err != nil {
		w.release()
	}
	return w, err
}

func (b *Backend) makeDisk(ctx context.Context, volume string, size int) error {
	have, err := os.Stat(b.diskPath(volume))
	switch {
	case err == nil && size > 0 && have.Size() != int64(size)*mib:
		return b.missing(diskMB, fmt.Sprintf("the workspace was made with the bound %dM, not %dM", have.Size()/mib, size))
	case err == nil:
		return nil
	}
	err = os.MkdirAll(b.cfg.StateDir, 0o700)
	if err == nil {
		err = loop.Make(ctx, b.diskPath(volume), size)
	}
	if err != nil {
		return fmt.Errorf("%w: making the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	return nil
}

// showDisk makes the disk a device, under a name that stays the same.
func (b *Backend) showDisk(volume string) (*disk, error) {
	device, err := loop.Attach(b.diskPath(volume))
	if err != nil {
		return nil, err
	}
	shown := &disk{device, filepath.Join(b.cfg.StateDir, volume+".device")}
	_ = os.Remove(shown.link) // that a killed sidecar left
	if err := os.Symlink(device.Name(), shown.link); err != nil {
		device.Close()
		return nil, err
	}
	return shown, nil
}

func (b *Backend) removeDisk(volume string) error {
	if b.cfg.StateDir == "" {
		return nil
	}
	if err := os.Remove(b.diskPath(volume)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing the disk of a workspace: %w", err)
	}
	return nil
}

// sweepDisks removes the disks that have no volume: a sidecar was killed between
// making the one and the other, or removing them.
func (b *Backend) sweepDisks(ctx context.Context, owner string) error {
	if b.cfg.StateDir == "" {
		return nil
	}
	found, err := os.ReadDir(b.cfg.StateDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("listing disks: %w", err)
	}
	var faults []error
	for _, file := range found {
		volume, _, _ := strings.Cut(file.Name(), ".")
		if !isOwned(volume, owner) {
			continue
		}
		if err := b.cfg.CheckOwner(); err != nil {
			return errors.Join(append(faults, err)...)
		}
		if _, err := b.engine.VolumeInspect(ctx, volume); errdefs.IsNotFound(err) {
			faults = append(faults, os.Remove(filepath.Join(b.cfg.StateDir, file.Name())))
		}
	}
	return errors.Join(faults...)
}
