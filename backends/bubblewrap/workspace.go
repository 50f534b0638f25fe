package bubblewrap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

// folder is where a workspace is.
func (b *Backend) folder(owner, workspace string) string {
	return filepath.Join(b.shelf(), fileName(owner, workspace))
}

func fileName(owner, workspace string) string { return ownersPrefix(owner) + url.PathEscape(workspace) }

func (b *Backend) shelf() string { return filepath.Join(b.cfg.StateDir, "workspaces") }

// ownersPrefix is how the names of an owner's folders begin.
func ownersPrefix(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8]) + "-"
}

// Workspaces lists the owner's by the names of their folders and disks.
func (b *Backend) Workspaces(_ context.Context, owner string) ([]string, error) {
	var list []string
	for _, shelf := range []string{b.shelf(), b.diskShelf()} {
		entries, err := os.ReadDir(shelf)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: listing workspaces: %w", backends.ErrUnavailable, err)
		}
		for _, entry := range entries {
			name := entry.Name()
			if shelf == b.diskShelf() {
				name = strings.TrimSuffix(strings.TrimSuffix(name, loop.Unfinished), diskSuffix)
			}
			escaped, its := strings.CutPrefix(name, ownersPrefix(owner))
			if name, err := url.PathUnescape(escaped); its && err == nil && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, nil
}

// workspace makes the folder of a spec's workspace, if need be, and gives it to
// the sandbox's user.
func (b *Backend) workspace(spec backends.Spec) (string, error) {
	if err := b.shelter(); err != nil {
		return "", err
	}
	folder := b.folder(spec.Owner, spec.Workspace)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making a workspace: %w", err)
	}
	if os.Getuid() != 0 {
		return folder, nil
	}
	if err := os.Lchown(folder, b.uid, b.gid); err != nil {
		return "", fmt.Errorf("giving a workspace to its user: %w", err)
	}
	return folder, nil
}

// shelter makes the folder that holds the workspaces, and wants every folder on
// the way there to be open for the sandbox's user.
func (b *Backend) shelter() error {
	folder := b.shelf()
	if err := os.MkdirAll(folder, 0o711); err != nil {
		return fmt.Errorf("%w: making the folder of the workspaces: %w", backends.ErrUnavailable, err)
	}
	if os.Getuid() != 0 {
		return nil
	}
	for ; folder != "/"; folder = filepath.Dir(folder) {
		stat, err := os.Stat(folder)
		if err != nil {
			return fmt.Errorf("%w: reaching the workspaces: %w", backends.ErrUnavailable, err)
		}
		if stat.Mode()&0o001 == 0 && !b.owns(stat) {
			return fmt.Errorf("%w: user %d cannot pass through %s to the workspaces: allow it with chmod o+x %s",
				backends.ErrUnavailable, b.uid, folder, folder)
		}
	}
	return nil
}

func (b *Backend) owns(stat fs.FileInfo) bool {
	of, ok := stat.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == b.uid && stat.Mode()&0o100 != 0
}

// RemoveWorkspace deletes the folder of a workspace, or its disk.
func (b *Backend) RemoveWorkspace(_ context.Context, owner, workspace string) error {
	if workspace == "" {
		return errors.New("removing a workspace: it has no name")
	}
	folder := b.folder(owner, workspace)
	err := errors.Join(os.RemoveAll(folder), b.removeDisk(owner, workspace))
	if errors.Is(err, fs.ErrPermission) {
		unlock(folder)
		err = os.RemoveAll(folder)
	}
	if err != nil {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	return nil
}

// unlock opens folders that a command closed to its own user.
func unlock(folder string) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && err != nil && os.Chmod(path, 0o700) == nil {
			unlock(path)
		}
		return nil
	})
}
