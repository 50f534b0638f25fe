// Package workdirs keeps the workspaces of sandboxes that are on this machine, below
// one folder of the sidecar's, a folder for each, or a disk where there is a bound
// on what may be written.
//
// A disk is a file system in a file (package loop). It is mounted where only its
// sandbox sees it, in a mount namespace that goes with the sandbox, so that nothing
// of it is ever left mounted. What was made without a bound stays a folder, and a
// disk a disk.
package workdirs

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
	"sync"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

// DiskMB is the name by which a configuration accepts that nothing bounds a
// workspace.
const DiskMB = "disk_mb"

// Dirs holds the workspaces of one backend.
type Dirs struct {
	// Backend is its name in the configuration, for errors.
	Backend string
	// Folder is where everything is, for these workspaces alone.
	Folder string
	// UID and GID are whose the workspaces are, where the sidecar is root.
	UID, GID int
	// AcceptUnbounded says that a bound may be left out where it cannot be kept.
	AcceptUnbounded bool
	// removing are the names of the folders that are just being removed.
	removing sync.Map
}

// Acceptable are the limits that a backend of this machine may be configured to go without.
var Acceptable = []string{cgroup.CPUs, cgroup.MemoryMB, cgroup.PIDs, DiskMB}

// New makes the workspaces of a backend, in a folder and as a user (uid:gid) that are the
// configuration's. Accepted are the limits that it goes without.
func New(backend, folder, user string, accepted []string) (*Dirs, error) {
	d := &Dirs{Backend: backend, Folder: folder, AcceptUnbounded: slices.Contains(accepted, DiskMB)}
	var faults []error
	if !filepath.IsAbs(folder) {
		faults = append(faults, fmt.Errorf("%s state folder is %q, want an absolute path", backend, folder))
	}
	if err := backends.IsUnprivileged(user); err != nil {
		faults = append(faults, fmt.Errorf("%s user is %q: %w", backend, user, err))
	} else if _, err := fmt.Sscanf(user, "%d:%d", &d.UID, &d.GID); err != nil {
		faults = append(faults, fmt.Errorf("reading %s user %q: %w", backend, user, err))
	}
	for _, name := range accepted {
		if !slices.Contains(Acceptable, name) {
			faults = append(faults, fmt.Errorf("accept_missing_limits names %q, want one of %s", name, strings.Join(Acceptable, ", ")))
		}
	}
	return d, errors.Join(faults...)
}

func (d *Dirs) folder(owner, workspace string) string {
	return filepath.Join(d.folders(), fileName(owner, workspace))
}

func fileName(owner, workspace string) string { return ownersPrefix(owner) + url.PathEscape(workspace) }

func (d *Dirs) folders() string { return filepath.Join(d.Folder, "workspaces") }

// ownersPrefix is how the names of an owner's folders begin.
func ownersPrefix(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8]) + "-"
}

// Workspaces lists the owner's by the names of their folders and disks.
func (d *Dirs) Workspaces(_ context.Context, owner string) ([]string, error) {
	var list []string
	for _, place := range []string{d.folders(), d.disks()} {
		entries, err := os.ReadDir(place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: listing workspaces: %w", backends.ErrUnavailable, err)
		}
		for _, entry := range entries {
			name := entry.Name()
			if place == d.disks() {
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

// keep makes the folder of a workspace, if need be, and gives it to the sandbox's
// user.
func (d *Dirs) keep(owner, workspace string) (string, error) {
	if err := d.stand(); err != nil {
		return "", err
	}
	folder := d.folder(owner, workspace)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making a workspace: %w", err)
	}
	if os.Getuid() != 0 {
		return folder, nil
	}
	if err := os.Lchown(folder, d.UID, d.GID); err != nil {
		return "", fmt.Errorf("giving a workspace to its user: %w", err)
	}
	return folder, nil
}

// stand makes the folder that holds the workspaces.
func (d *Dirs) stand() error {
	if err := os.MkdirAll(d.folders(), 0o711); err != nil {
		return fmt.Errorf("%w: making the folder of the workspaces: %w", backends.ErrUnavailable, err)
	}
	return nil
}

// Reachable wants every folder on the way to the workspaces to be open for their
// user.
func (d *Dirs) Reachable() error {
	if err := d.stand(); err != nil || os.Getuid() != 0 {
		return err
	}
	for folder := d.folders(); folder != "/"; folder = filepath.Dir(folder) {
		stat, err := os.Stat(folder)
		if err != nil {
			return fmt.Errorf("%w: reaching the workspaces: %w", backends.ErrUnavailable, err)
		}
		if stat.Mode()&0o001 == 0 && !d.owns(stat) {
			return fmt.Errorf("%w: user %d cannot pass through %s to the workspaces: allow it with chmod o+x %s",
				backends.ErrUnavailable, d.UID, folder, folder)
		}
	}
	return nil
}

func (d *Dirs) owns(stat fs.FileInfo) bool {
	of, ok := stat.Sys().(*syscall.Stat_t)
	return ok && int(of.Uid) == d.UID && stat.Mode()&0o100 != 0
}
