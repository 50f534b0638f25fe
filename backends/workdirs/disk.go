package workdirs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

func (d *Dirs) disks() string { return filepath.Join(d.Folder, "disks") }

// diskSuffix ends the name of a disk.
const diskSuffix = ".ext4"

func (d *Dirs) disk(owner, workspace string) string {
	return filepath.Join(d.disks(), fileName(owner, workspace)+diskSuffix)
}

// Workspace is a named workspace, as a sandbox is to find it.
type Workspace struct {
	// Folder is what the sandbox sees as its workspace.
	Folder string
	// device is what has to be mounted there first; nil where the folder is it.
	device   *os.File
	uid, gid int
}

// Close gives up what only the making of a sandbox needs: what is mounted stays.
func (w Workspace) Close() {
	if w.device != nil {
		w.device.Close()
	}
}

// Mount shows the workspace in its folder to the calling thread and what it starts,
// and to no other user.
func (w Workspace) Mount() error {
	if w.device == nil {
		return nil
	}
	err := mountAlone(w.device.Name(), w.Folder)
	if err == nil {
		err = os.Chown(w.Folder, w.uid, w.gid)
	}
	if err != nil {
		return fmt.Errorf("mounting the disk of a workspace: %w", err)
	}
	return nil
}

// TakeFor finds or makes the named workspace of a spec, within its part of the spec's bound;
// it is the zero value where the spec names none.
func (d *Dirs) TakeFor(ctx context.Context, spec backends.Spec) (Workspace, error) {
	if spec.Workspace == "" {
		return Workspace{}, nil
	}
	return d.Take(ctx, spec.Owner, spec.Workspace, ShareMB(spec.DiskMB, MountPath))
}

// Take finds or makes the workspace that a spec names, within a bound; zero asks for
// none.
func (d *Dirs) Take(ctx context.Context, owner, workspace string, boundMB int) (Workspace, error) {
	disk := d.disk(owner, workspace)
	switch size, err := sizeMB(disk); {
	case err == nil && boundMB > 0 && size != boundMB && !d.AcceptUnbounded:
		return Workspace{}, fmt.Errorf("%w: disk_mb: the workspace was made with a bound of %d MiB, not %d; end the session to begin "+
			"with an empty one",
			backends.ErrUnsupported, size, boundMB)
	case err == nil:
		return d.onDisk(disk)
	case !errors.Is(err, fs.ErrNotExist):
		return Workspace{}, fmt.Errorf("%w: looking for a workspace: %w", backends.ErrUnavailable, err)
	}
	impossible := loop.Possible()
	switch isFolder := exists(d.folder(owner, workspace)); {
	case boundMB == 0 || d.AcceptUnbounded && (isFolder || impossible != nil):
		folder, err := d.keep(owner, workspace)
		return Workspace{Folder: folder}, err
	case isFolder:
		return Workspace{}, fmt.Errorf("%w: disk_mb: the workspace was made without a bound; end the session to begin with an empty one",
			backends.ErrUnsupported)
	case impossible != nil:
		return Workspace{}, fmt.Errorf("%w: disk_mb: nothing bounds a workspace on the host's disk: %w (accept it with "+
			"backends.%s.accept_missing_limits: [disk_mb])",
			backends.ErrUnsupported, impossible, d.Backend)
	}
	if err := d.makeDisk(ctx, disk, boundMB); err != nil {
		return Workspace{}, fmt.Errorf("%w: making the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	return d.onDisk(disk)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sizeMB(disk string) (int, error) {
	about, err := os.Stat(disk)
	if err != nil {
		return 0, err
	}
	return int(about.Size() >> 20), nil
}

// onDisk shows the disk where the workspaces that are folders are otherwise.
func (d *Dirs) onDisk(disk string) (Workspace, error) {
	if err := d.stand(); err != nil {
		return Workspace{}, err
	}
	device, err := loop.Attach(disk)
	if err != nil {
		return Workspace{}, fmt.Errorf("%w: showing the disk of a workspace: %w", backends.ErrUnavailable, err)
	}
	return Workspace{d.folders(), device, d.UID, d.GID}, nil
}

// makeDisk makes one unless it was made meanwhile, by another process too.
func (d *Dirs) makeDisk(ctx context.Context, disk string, sizeMB int) error {
	if err := os.MkdirAll(d.disks(), 0o700); err != nil {
		return err
	}
	folder, err := os.Open(d.disks())
	if err != nil {
		return err
	}
	defer folder.Close() // which ends the lock
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if exists(disk) {
		return nil
	}
	return loop.Make(ctx, disk, sizeMB)
}

func (d *Dirs) removeDisk(owner, workspace string) error {
	disk := d.disk(owner, workspace)
	for _, path := range []string{disk, disk + loop.Unfinished} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
