package workdirs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/host/removal"
)

// removed is where folders of workspaces are put until they are gone.
func (d *Dirs) removed() string { return filepath.Join(d.Folder, "removed") }

// RemoveWorkspace deletes the folder of a workspace, or its disk. The folder is put aside
// first, so that no later sandbox finds it even if its files cannot be removed; then the error
// says so, and [Dirs.Clear] tries again.
func (d *Dirs) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	if workspace == "" {
		return errors.New("removing a workspace: it has no name")
	}
	aside := rand.Text()
	d.removing.Store(aside, true)
	defer d.removing.Delete(aside)
	err := d.setAside(d.folder(owner, workspace), aside)
	if err == nil {
		err = removal.All(ctx, filepath.Join(d.removed(), aside))
	}
	if err := errors.Join(err, d.removeDisk(owner, workspace)); err != nil {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	return nil
}

// setAside takes a folder, if it is there, away from where workspaces are found.
func (d *Dirs) setAside(folder, name string) error {
	if err := os.MkdirAll(d.removed(), 0o700); err != nil {
		return err
	}
	if err := os.Rename(folder, filepath.Join(d.removed(), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Clear removes the folders that were put aside, those of earlier sidecars too, except folders that
// are just being removed.
func (d *Dirs) Clear(ctx context.Context) error {
	left, err := os.ReadDir(d.removed())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	faults := []error{err}
	for _, entry := range left {
		if _, busy := d.removing.Load(entry.Name()); !busy {
			faults = append(faults, removal.All(ctx, filepath.Join(d.removed(), entry.Name())))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%w: removing the files of workspaces that are gone: %w", backends.ErrUnavailable, err)
	}
	return nil
}
