package protected

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// Keeper watches the folders that sandboxes may write. It is safe for concurrent use; the zero
// value is ready.
type Keeper struct {
	mu      sync.Mutex
	folders map[string]*watched // by source
}

// watched is a folder with what uses it. Its states are those of when the first of its users
// began, or of what was put back or accepted since.
type watched struct {
	mu       sync.Mutex
	patterns map[string]int // by how many users each is protected
	states   map[string]state
}

// Watch is the time in which one command may change folders.
type Watch struct {
	keeper *Keeper
	mounts []bailiff.Mount
}

// Change is a change that was put back.
type Change struct {
	// Path is where it was, as the host calls it.
	Path string
	// Kept is where what the command had left is now; empty if it had left nothing.
	Kept string
}

func (c Change) String() string {
	if c.Kept == "" {
		return c.Path + " was missing and is there again"
	}
	return fmt.Sprintf("%s (the changed one is %s)", c.Path, path.Base(c.Kept))
}

// Watch begins to watch those mounts that name protected places. An error means that one cannot
// be compared; nothing is watched then.
func (k *Keeper) Watch(mounts []bailiff.Mount) (*Watch, error) {
	w := &Watch{keeper: k}
	for _, m := range mounts {
		if m.ReadOnly || len(m.Protected) == 0 {
			continue
		}
		if err := k.of(m.Source).begin(m); err != nil {
			_, undo := w.End()
			return nil, errors.Join(fmt.Errorf("keeping protected files of %s as they are: %w", m.Source, err), undo)
		}
		w.mounts = append(w.mounts, m)
	}
	return w, nil
}

// End puts back the changes since Watch, and tells them. What could not be put back is in the
// error. The second End does nothing.
func (w *Watch) End() (changes []Change, err error) {
	for _, m := range w.mounts {
		found, fault := w.keeper.of(m.Source).end(m)
		changes = append(changes, found...)
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("putting back protected files of %s: %w", m.Source, fault))
		}
	}
	w.mounts = nil
	return changes, err
}

func (k *Keeper) of(source string) *watched {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folders == nil {
		k.folders = map[string]*watched{}
	}
	if k.folders[source] == nil {
		k.folders[source] = &watched{patterns: map[string]int{}, states: map[string]state{}}
	}
	return k.folders[source]
}

// begin takes the states of the places that no other user of the folder has protected already.
func (f *watched) begin(m bailiff.Mount) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := os.OpenRoot(m.Source)
	if err != nil {
		return err
	}
	defer root.Close()
	fresh := map[string]state{}
	for _, pattern := range m.Protected {
		if f.patterns[pattern] > 0 {
			continue
		}
		if err := take(root, pattern, fresh); err != nil {
			return err
		}
	}
	for _, pattern := range m.Protected {
		f.patterns[pattern]++
	}
	for name, s := range fresh {
		f.states[name] = s
	}
	return nil
}

func take(root *os.Root, pattern string, into map[string]state) error {
	names, err := expand(root, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := look(root, name)
		if err == nil {
			err = s.read(root, name)
		}
		if err != nil {
			return err
		}
		into[name] = s
	}
	return nil
}

// end puts back what changed in the places that a user protected, the highest first, and
// forgets those that are protected by no other.
func (f *watched) end(m bailiff.Mount) (changes []Change, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := os.OpenRoot(m.Source)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, pattern := range m.Protected {
		names, fault := f.names(root, pattern)
		err = errors.Join(err, fault)
		for _, name := range names {
			kept, changed, fault := f.restore(root, name)
			if changed {
				changes = append(changes, change(m.Source, name, kept))
			}
			err = errors.Join(err, fault)
		}
		if f.patterns[pattern]--; f.patterns[pattern] == 0 {
			f.forget(pattern)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, err
}

func change(source, name, kept string) Change {
	c := Change{Path: path.Join(source, name)}
	if kept != "" {
		c.Kept = path.Join(source, kept)
	}
	return c
}

// names are those that a pattern stands for now, and those that it stood for.
func (f *watched) names(root *os.Root, pattern string) ([]string, error) {
	names, err := expand(root, pattern)
	for name := range f.states {
		if stands(pattern, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func (f *watched) forget(pattern string) {
	delete(f.patterns, pattern)
	for name := range f.states {
		if stands(pattern, name) {
			delete(f.states, name)
		}
	}
}

// stands says whether a pattern stands for a name.
func stands(pattern, name string) bool {
	ok, err := path.Match(strings.TrimSuffix(pattern, "/"), name)
	return ok && err == nil
}

// restore makes a place as it was, if it is not.
func (f *watched) restore(root *os.Root, name string) (kept string, changed bool, err error) {
	was := f.states[name]
	now, err := look(root, name)
	if err != nil || was.untouched(now) {
		return "", false, err
	}
	if was.kind == file && now.kind == file {
		if err := now.read(root, name); err == nil && (was.equal(now) || isHarmless(name, was, now)) {
			f.states[name] = now
			return "", false, nil
		}
	}
	if kept, err = setAside(root, name); err != nil {
		return kept, true, err
	}
	if err := was.write(root, name); err != nil {
		return kept, true, err
	}
	now, err = look(root, name)
	if err == nil {
		err = now.read(root, name)
	}
	if was.kind == folder { // it is where the command moved it; the place stays empty
		f.states[name] = now
		return kept, true, err
	}
	if err == nil && !was.equal(now) {
		err = fmt.Errorf("%s is changed again while it is put back", name)
	}
	f.states[name] = now
	return kept, true, err
}
