package apptainer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// stage makes the writable folders, file systems in memory of their sizes, for the
// calling thread and what it starts: no other process sees them, and they go with the
// sandbox.
func (b *Backend) stage(spec backends.Spec) error {
	if !asRoot() {
		return nil
	}
	if err := b.mountFolders(spec); err != nil {
		return fmt.Errorf("making folders in memory: %w", err)
	}
	return nil
}

func (b *Backend) mountFolders(spec backends.Spec) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return err
	}
	if err := mount(b.path(stageFolder), "mode=0711,size=64k"); err != nil {
		return err
	}
	for _, folder := range workdirs.Writable {
		if err := b.mountFolder(spec, folder); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) mountFolder(spec backends.Spec, folder string) error {
	if folder == workdirs.Root && spec.ReadOnly {
		return nil
	}
	path, options := b.staged(folder), fmt.Sprintf("mode=0700,uid=%d,gid=%d", b.UID, b.GID)
	if folder == workdirs.Root {
		options = "mode=0755"
	}
	if size := workdirs.ShareMB(spec.DiskMB, folder); size > 0 {
		options += fmt.Sprintf(",size=%dm", size)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if err := mount(path, options); err != nil || folder != workdirs.Root {
		return err
	}
	// Of a layer over the image, the upper folder stands for the root itself.
	upper := filepath.Join(path, "upper")
	return errors.Join(os.Mkdir(upper, 0o755), os.Chown(upper, b.UID, b.GID), os.Mkdir(filepath.Join(path, "work"), 0o755))
}

func mount(path, options string) error {
	return unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}
