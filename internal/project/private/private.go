// Package private makes the git directory that programs in a sandbox work on in place of the real
// one, and says how it is shown there. Its objects are those that are made inside; it borrows the others
// from the real directory, of which a sandbox sees nothing else, and that read-only.
//
// Promised: of the user's settings only those enter that start no program and hold no secret;
// nothing is written into a private directory through a link, since an agent may have made one.
//
// Not here: what is brought in and out later (package carry).
package private

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// userConfig is the file in a private directory with the user's settings.
	userConfig = "bailiff.config"
	// inside is the folder of a sandbox below which objects and directories are shown.
	inside = "/run/bailiff"
	// mostHook is how many bytes a hook may have that is copied.
	mostHook = 1 << 20
)

// User is who programs in a sandbox are: the numbers on the host, and those inside.
type User struct{ UID, GID, InsideUID, InsideGID int }

// Directory is a private git directory with what the sidecar remembers beside it, which no sandbox sees.
type Directory struct {
	Place repository.Place
	// State is the folder of both.
	State string
	User  User
}

// Of is the private directory of a place, in the folder that has those of all places.
func Of(p repository.Place, all string, u User) Directory {
	sum := sha256.Sum256([]byte(p.Git + "\x00" + p.ID))
	return Directory{Place: p, State: filepath.Join(all, hex.EncodeToString(sum[:12])), User: u}
}

// Path is the private directory itself.
func (d Directory) Path() string { return filepath.Join(d.State, "git") }

func (d Directory) name() string { return filepath.Base(d.State) }

// Mounts are what shows the directory in a sandbox that shows the working folder at a target.
func (d Directory) Mounts(target string) []bailiff.Mount {
	var all []bailiff.Mount
	if info, err := os.Lstat(filepath.Join(d.Place.Dir, ".git")); err == nil && info.IsDir() {
		all = append(all, bailiff.Mount{Source: d.Path(), Target: path.Join(target, ".git")})
	} else {
		all = append(all, bailiff.Mount{Source: d.Path(), Target: d.directoryInside()},
			bailiff.Mount{Source: filepath.Join(d.State, "gitfile"), Target: path.Join(target, ".git"), ReadOnly: true})
	}
	for i, folder := range d.Place.Objects {
		at := d.objectsInside(i)
		all = append(all, bailiff.Mount{Source: folder, Target: at, ReadOnly: true})
		if isThere(filepath.Join(folder, "info", "alternates")) { // the chain of it is named by the private directory
			all = append(all, bailiff.Mount{Source: filepath.Join(d.State, "empty"), Target: path.Join(at, "info/alternates"),
				ReadOnly: true})
		}
		if lfs := filepath.Join(filepath.Dir(folder), "lfs"); isFolder(lfs) {
			all = append(all, bailiff.Mount{Source: lfs, Target: path.Join(path.Dir(at), "lfs"), ReadOnly: true})
		}
	}
	return all
}

func (d Directory) directoryInside() string { return path.Join(inside, "git", d.name()) }

func (d Directory) objectsInside(i int) string {
	return path.Join(inside, "alt", d.name(), fmt.Sprint(i), "objects")
}

func isThere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// Make makes a directory that is not there yet, with the state of the real one, and says whether it did.
func (d Directory) Make(ctx context.Context) (fresh bool, err error) {
	if isThere(filepath.Join(d.State, "whole")) {
		return false, nil
	}
	if err := os.MkdirAll(d.Path(), 0o700); err != nil {
		return false, err
	}
	for name, text := range map[string]string{"empty": "", "gitfile": "gitdir: " + d.directoryInside() + "\n"} {
		if err := os.WriteFile(filepath.Join(d.State, name), []byte(text), 0o444); err != nil && !errors.Is(err, fs.ErrPermission) {
			return false, err
		}
	}
	if err := d.Fill(ctx); err != nil {
		return false, err
	}
	return true, os.WriteFile(filepath.Join(d.State, "whole"), nil, 0o600)
}

// Fill writes all of a private directory that is empty.
func (d Directory) Fill(ctx context.Context) error {
	root, err := os.OpenRoot(d.Path())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, folder := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags", "info", "hooks", "logs"} {
		if err := root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{"HEAD": "ref: refs/heads/main\n", "config": ownConfig(d.Place.Hash),
		"description": "The private git directory of a sandbox.\n"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := Write(root, name, []byte(files[name]), 0o600); err != nil {
			return err
		}
	}
	if err := d.HealAlternates(root); err != nil {
		return err
	}
	if err := d.WriteSettings(ctx, root); err != nil {
		return err
	}
	return d.CopyFiles(root)
}

const alternates = "objects/info/alternates"

// HealAlternates names the real objects where a command left another text.
func (d Directory) HealAlternates(root *os.Root) error {
	var chain strings.Builder
	for i := range d.Place.Objects {
		fmt.Fprintln(&chain, d.objectsInside(i))
	}
	if old, err := repository.Read(root, alternates, int64(chain.Len())); err == nil && string(old) == chain.String() {
		return nil
	}
	return Write(root, alternates, []byte(chain.String()), 0o600)
}

// WriteSettings brings the user's settings in, as they are now.
func (d Directory) WriteSettings(ctx context.Context, root *os.Root) error {
	all, err := settingsOf(ctx, d.Place)
	if err != nil {
		return err
	}
	return Write(root, userConfig, []byte(configText(all)), 0o600)
}

// CopyFiles brings in the user's hooks, and the small files that say what a working folder leaves out.
func (d Directory) CopyFiles(root *os.Root) error {
	real, err := repository.Open(d.Place.Git, d.Place.Common)
	if err != nil {
		return err
	}
	defer real.Close()
	for _, name := range []string{"shallow", "info/exclude", "info/attributes", "info/sparse-checkout"} {
		from := real.Common
		if name == "info/sparse-checkout" {
			from = real.Git
		}
		if err := copyIn(root, from, name, 0o600); err != nil {
			return err
		}
	}
	return copyHooks(root, real.Common)
}

// copyIn brings a small file in. What is not there is taken away inside.
func copyIn(to, from *os.Root, name string, mode fs.FileMode) error {
	text, err := repository.Read(from, name, mostHook)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err = to.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	case err != nil:
		return err
	}
	if old, err := repository.Read(to, name, mostHook); err == nil && string(old) == string(text) {
		return nil
	}
	return Write(to, name, text, mode)
}

// copyHooks brings in the hooks that git would start.
func copyHooks(to, common *os.Root) error {
	dir, err := common.Open("hooks")
	if err != nil {
		return nil
	}
	defer dir.Close()
	inside, err := dir.ReadDir(1000)
	if err != nil {
		return nil // io.EOF: there are none
	}
	for _, e := range inside {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o100 == 0 || info.Size() > mostHook || path.Ext(e.Name()) == ".sample" {
			continue
		}
		if err := copyIn(to, common, path.Join("hooks", e.Name()), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// SettingsLook is a text that differs once the user's settings changed.
func (d Directory) SettingsLook() string {
	var text strings.Builder
	for _, name := range settingsFiles(d.Place) {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(&text, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return text.String()
}

// Write puts a file in its place in one step, under a fresh name first.
func Write(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	fresh := name + ".bailiff-new"
	_ = root.Remove(fresh)
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(fresh, name)
	}
	return err
}

// SetAside empties a private directory that is no longer whole, and keeps what was in it.
func (d Directory) SetAside(stamp string) error {
	to := filepath.Join(d.State, "aside", stamp)
	if err := errors.Join(os.MkdirAll(to, 0o700), os.Chmod(d.Path(), 0o700)); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.State) // through which no link that lies in it leads out
	if err != nil {
		return err
	}
	defer root.Close()
	inside, err := os.ReadDir(d.Path())
	if err != nil {
		return err
	}
	for _, e := range inside {
		from := path.Join("git", e.Name())
		if e.IsDir() {
			_ = root.Chmod(from, 0o700) // to move a folder, its owner must be able to write it
		}
		if err := root.Rename(from, path.Join("aside", stamp, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
