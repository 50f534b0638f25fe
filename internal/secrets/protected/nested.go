package protected

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/internal/project/nested"
	gitdir "github.com/bailiff-dev/bailiff/internal/project/repository"
)

// takeNested takes aside what is called .git since the first of the commands began that go on, so that no git of the user's reads it.
func (c *comparison) takeNested() {
	if c.nested == (nested.Place{}) || !c.patterns[repositories] {
		return
	}
	for _, name := range sortedNames(c.survey.gits) {
		if !c.gits[name] && !c.isUsers(name) {
			delete(c.survey.settings, name) // if it is a file: the link in its place is none of a command's
			c.fail(c.takeGitAside(name))
		}
	}
}

// isUsers says whether a file .git is that of a submodule or a linked working folder that the user has made meanwhile: its
// directory is in the real repository, which the sandbox does not see, and names the folder in its turn.
func (c *comparison) isUsers(name string) bool {
	if c.patterns[repository] {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(c.source, repository))
	if err != nil {
		return false
	}
	p, err := gitdir.PlaceOf(filepath.Join(c.source, path.Dir(name)))
	return err == nil && strings.HasPrefix(p.Git, real+"/")
}

func (c *comparison) takeGitAside(name string) error {
	c.tellOpened(open(c.root, name))
	folder, err := openBelow(int(c.dir.Fd()), path.Dir(name))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for %s: %w", name, err)
	}
	defer func() { _ = unix.Close(folder) }()
	change := Change{IsNested: true}
	if change.Kept, err = c.nested.Take(folder, path.Base(name)); errors.Is(err, unix.EXDEV) {
		if !c.ended {
			return nil // a git that runs would lose it; its settings are compared
		}
		change.How = "is set aside, in the sandbox too, since the sidecar's state is on another file system"
		change.Kept, err = setAside(c.root, name)
	}
	if err != nil {
		return fmt.Errorf("taking %s aside: %w", name, err)
	}
	if change.Kept != "" {
		c.tell(name, change)
	}
	return nil
}

// isInPlace says whether the git directory is still to be had by the folder that it was taken from.
func (k Kept) isInPlace() bool {
	to, err := os.Readlink(k.Path)
	return err == nil && filepath.Base(to) == filepath.Base(k.Kept) || filepath.Dir(k.Path) == filepath.Dir(k.Kept)
}

// AdoptNested gives the user a git directory that was taken out of a folder: a copy, which fill makes of what is kept. It says where
// that is, which stays. The error wraps [ErrNotKept] where there is none.
func (k *Keeper) AdoptNested(folder string, fill func(kept, fresh string) error) (former string, err error) {
	folder = filepath.Clean(folder)
	if filepath.Base(folder) == repository {
		folder = filepath.Dir(folder)
	}
	link, _ := os.Readlink(filepath.Join(folder, repository))
	k.asideMu.Lock()
	defer k.asideMu.Unlock()
	k.load()
	for i, one := range slices.Backward(k.aside) {
		isOf := filepath.Base(one.Kept) == filepath.Base(link) || one.Path == filepath.Join(folder, repository) && one.isInPlace()
		if !one.IsNested || !isOf || !strings.HasPrefix(folder, one.Source+"/") {
			continue
		}
		if err := k.of(one.Source).adoptNested(one, folder, fill); err != nil {
			return "", fmt.Errorf("taking the repository of %s: %w", folder, err)
		}
		k.aside = slices.Delete(k.aside, i, i+1)
		return one.Kept, k.save()
	}
	return "", fmt.Errorf("%s: %w", folder, ErrNotKept)
}

// adoptNested puts a copy in its place, while no command runs in the folder that could change it.
func (f *watched) adoptNested(one Kept, folder string, fill func(kept, fresh string) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.active()) > 0 {
		return fmt.Errorf("commands run in %s: end them, or wait, and try again", f.source)
	}
	if real, err := filepath.EvalSymlinks(folder); err != nil || real != folder {
		return fmt.Errorf("%s is no folder, or a link", folder)
	}
	fresh := filepath.Join(folder, ".bailiff-"+rand.Text())
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	err := fill(one.Kept, fresh)
	if place := filepath.Join(folder, repository); err == nil {
		if text, fault := os.Readlink(place); fault == nil && nested.IsLink(text) {
			err = os.Remove(place)
		}
		if err == nil {
			err = os.Rename(fresh, place)
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	return nil
}
