// Package carry keeps a private git directory and the real one in step: what the user did is
// brought in before a command, what the command did is brought out after it.
//
// What comes out is a list, all else stays inside: objects, branches, new tags, the stash, HEAD, the entries of the
// index, and the small files that say how a merge stands. What the private directory says is a claim of
// the agent's: names and values are checked, objects go through a quarantine in which git takes
// each for what its content says, and a repository within the project comes out only where the user's index
// has one. The real directory is written by git's own commands, which read nothing that an agent
// wrote, and by this package, with git's locks.
//
// Promised: where both sides changed a ref, HEAD or an entry, the user's stays, and the agent's commits
// are on a branch bailiff/NAME-HASH; the value of a ref that goes or does not move forward is kept for 14 days
// below refs/bailiff/kept; what could not be brought out stays inside and is tried again; after a crash
// each step can be taken again, so that the real directory is as before or as after.
//
// Not here: where private directories are shown (package private); other files of the project.
package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// Runner runs a job in a sandbox of its own.
type Runner interface {
	Run(ctx context.Context, j keeper.Job) error
}

// Link is a private directory and the real one. It is safe for concurrent use.
type Link struct {
	private.Directory
	run Runner

	mu sync.Mutex
	// base is what both sides had when they were last brought in step; nil until it is read.
	base *base
	// wrong are files of git-lfs inside whose content is not what their names say.
	wrong map[string]version
	// fault ends a step early, in tests.
	fault func(step string) error
}

// base is what both sides had. With one memory for both, a branch that only the user has would look as if
// it had been deleted inside.
type base struct {
	Real, Private side
	// RealLook and PrivateLook are how the two looked, Settings how the files of the user's settings did.
	RealLook, PrivateLook, Settings string
	// Pending says why something waits inside to be brought out.
	Pending string
}

// side is what one of them had. Its index is a file beside.
type side struct {
	Head  string
	Refs  map[string]string
	Stash []repository.Entry
	Notes map[string]string
}

func sideOf(s repository.State) side { return side{s.Head, s.Refs, s.Stash, s.Notes} }

// Open makes the private directory, unless it is there.
func Open(ctx context.Context, d private.Directory, run Runner) (*Link, error) {
	l := &Link{Directory: d, run: run}
	fresh, err := d.Make(ctx)
	if err != nil {
		return nil, fmt.Errorf("making a git directory for sandboxes: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if fresh {
		err = l.begin()
	}
	if err == nil {
		err = l.recover()
	}
	return l, err
}

// begin remembers what a private directory has that was made just now.
func (l *Link) begin() error {
	inside, err := repository.Open(l.Path(), l.Path())
	if err != nil {
		return err
	}
	defer inside.Close()
	s, err := inside.State(l.Place.Hash)
	if err != nil {
		return err
	}
	l.base = &base{Private: sideOf(s)}
	return l.save()
}

// update has a link know a place that is the same directory, and says otherwise where objects or the working folder are.
func (l *Link) update(d private.Directory) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	isSame := slices.Equal(l.Place.Objects, d.Place.Objects)
	if l.Directory = d; isSame {
		return nil
	}
	root, err := os.OpenRoot(l.Path())
	if err != nil {
		return err
	}
	defer root.Close()
	return l.HealAlternates(root)
}

func (l *Link) file(name string) string { return filepath.Join(l.State, name) }

// load reads what was remembered.
func (l *Link) load() error {
	if l.base != nil {
		return nil
	}
	text, err := os.ReadFile(l.file("base.json"))
	if errors.Is(err, fs.ErrNotExist) {
		l.base = &base{}
		return nil
	}
	if err != nil {
		return err
	}
	b := &base{}
	if err := json.Unmarshal(text, b); err != nil {
		return &damage{fmt.Errorf("what git had on both sides cannot be read: %w", err)}
	}
	l.base = b
	return nil
}

// damage is of files that only this package writes.
type damage struct{ error }

// save remembers it. The files of the indexes are written before.
func (l *Link) save() error {
	text, err := json.Marshal(l.base)
	if err == nil {
		err = replaceFile(l.file("base.json"), text)
	}
	return err
}

func replaceFile(name string, text []byte) error {
	fresh := name + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(fresh, name)
	}
	return err
}

// open opens the folders of both sides.
func (l *Link) open() (real, inside repository.Dirs, err error) {
	if real, err = repository.Open(l.Place.Git, l.Place.Common); err != nil {
		return real, inside, err
	}
	if info, err := os.Lstat(l.Path()); err == nil && info.Mode().Perm() != 0o700 {
		_ = os.Chmod(l.Path(), 0o700) // it is no link: no sandbox sees the folder that it is in
	}
	if inside, err = repository.Open(l.Path(), l.Path()); err != nil {
		real.Close()
	}
	return real, inside, err
}

// indexes are the two that were remembered.
func (l *Link) indexes() (real, inside repository.Index, err error) {
	root, err := os.OpenRoot(l.State)
	if err != nil {
		return real, inside, err
	}
	defer root.Close()
	if real, err = repository.ReadIndex(root, "real.index", l.Place.Hash); err == nil {
		inside, err = repository.ReadIndex(root, "private.index", l.Place.Hash)
	}
	if err != nil {
		err = &damage{fmt.Errorf("an index that was remembered cannot be read: %w", err)}
	}
	return real, inside, err
}

func (l *Link) saveIndex(name string, x repository.Index) error {
	if len(x.Text) == 0 {
		err := os.Remove(l.file(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	return replaceFile(l.file(name), x.Text)
}

// step is where a test may end what goes on.
func (l *Link) step(name string) error {
	if l.fault == nil {
		return nil
	}
	return l.fault(name)
}

// stamp is a time in the name of what is kept.
func stamp() string { return time.Now().UTC().Format(stampFormat) }

const stampFormat = "20060102T150405.000000"
