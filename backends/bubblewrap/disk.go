package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

// A workspace that is bounded is a disk: a file system in a file. It is mounted
// where only the sandbox sees it, in a mount namespace that goes with the sandbox,
// so that nothing of it is ever left mounted.

func (b *Backend) diskShelf() string { return filepath.Join(b.cfg.StateDir, "disks") }

// diskSuffix ends the name of a disk.
const diskSuffix = ".ext4"

func (b *Backend) disk(owner, workspace string) string {
	return filepath.Join(b.diskShelf(), fileName(owner, workspace)+diskSuffix)
}

// files are a named workspace, as a sandbox is to find it.
type files struct {
	// folder is what the sandbox sees as its workspace.
	folder string
	// device is what has to be mounted there first; nil where the folder is it.
	device *os.File
}

func (f files) close() {
	if f.device != nil {
		f.device.Close() // what is mounted stays
	}
}

// prepare mounts the device, for the calling thread and what it starts.
func (b *Backend) prepare(f files) func() error {
	if f.device == nil {
		return func() error { return nil }
	}
	return func() error {
		err := mountAlone(f.device.Name(), f.folder)
		if err == nil {
			err = os.Chown(f.folder, b.uid, b.gid)
		}
		if err != nil {
			return fmt.Errorf("mounting the disk of a workspace: %w", err)
		}
		return nil
	}
}

// files finds or makes the workspace that a spec names, if it does, within its
// bound. One that was made without a bound stays a folder, and a disk a disk.
func (b *Backend) files(ctx context.Context, spec backends.Spec) (files, error) {
	if spec.Workspace == "" {
		return files{}, nil
	}
	disk := b.disk(spec.Owner, spec.Workspace)
	switch size, err := sizeMB(disk); {
	case err == nil && spec.DiskMB > 0 && size != shareMB(spec.DiskMB, workspaceFolder) && !b.accepts(diskMB):
		return files{}, fmt.Errorf("%w: disk_mb: the workspace was made with a bound of %d MiB, not %d; end the session to begin with an empty one",
			backends.ErrUnsupported, size, shareMB(spec.DiskMB, workspaceFolder))
	case err == nil:
		return b.onDisk(disk)
	case !errors.Is(err, fs.ErrNotExist):
		return files{}, fmt.Errorf("%w: looking for a workspace: %w", backends.ErrUnavailable, err)
	}
	impossible := loop.Possible()
	switch isFolder := exists(b.folder(spec.Owner, spec.Workspace)); {
	case spec.DiskMB == 0 || b.accepts(diskMB) && (isFolder || impossible != nil):
		folder, err := b.workspace(spec)
		return files{folder: folder}, err
	case isFolder:
		return files{}, fmt.Errorf("%w: disk_mb: the workspace was made without a bound; end the session to begin with an empty one", backends.ErrUnsupported)
	case impossible != nil:
		return files{}, fmt.Errorf("%w: disk_mb: nothing bounds a workspace on the host's disk: %w (accept it with backends.bubblewrap.accept_missing_limits: [disk_mb])",
			backends.ErrUnsupported, impossible)
	}
	if err := b.makeDisk(ctx, disk, shareMB(spec.DiskMB, workspaceFolder)); err != nil {
		return files{}, fmt.Errorf("%w: making the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	return b.onDisk(disk)
}

func sizeMB(disk string) (int, error) {
	about, err := os.Stat(disk)
	if err != nil {
		return 0, err
	}
	return int(about.Size() >> 20), nil
}

// onDisk shows the disk where the workspaces that are folders are otherwise.
func (b *Backend) onDisk(disk string) (files, error) {
	if err := b.shelter(); err != nil {
		return files{}, err
	}
	device, err := loop.Attach(disk)
	if err != nil {
		return files{}, fmt.Errorf("%w: showing the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	return files{b.shelf(), device}, nil
}

// makeDisk makes one unless it was made meanwhile.
func (b *Backend) makeDisk(ctx context.Context, disk string, sizeMB int) error {
	b.making.Lock()
	defer b.making.Unlock()
	if exists(disk) {
		return nil
	}
	if err := os.MkdirAll(b.diskShelf(), 0o700); err != nil {
		return err
	}
	return loop.Make(ctx, disk, sizeMB)
}

func (b *Backend) removeDisk(owner, workspace string) error {
	disk := b.disk(owner, workspace)
	for _, path := range []string{disk, disk + loop.Unfinished} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
