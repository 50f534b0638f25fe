package protected

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/project/nested"
	gitdir "github.com/bailiff-dev/bailiff/internal/project/repository"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// Keeper watches the folders that sandboxes may write. It is safe for concurrent use; the zero
// value is ready.
type Keeper struct {
	// File is where changes that were put back are remembered; empty if they are not.
	File string

	mu      sync.Mutex
	folders map[string]*watched // by source

	asideMu  sync.Mutex
	aside    []Kept
	isLoaded bool
}

// Watch is the time in which one command may change folders.
type Watch struct {
	parts []part
	// early are changes of earlier commands that could be put back only when this one began.
	early []Change
}

// part is one folder of a watch with the patterns that are protected in it.
type part struct {
	folder   *watched
	patterns []string
	places   *places // once it was asked for
	// ended are the states when the watch ended; nil before.
	ended map[string]held
}

// Change is a change that was put back, or of which it is said that it could not be.
type Change struct {
	// Path is where it was, as the host calls it.
	Path string
	// Kept is where what the command had left is now; empty if it had left nothing.
	Kept string
	// How says what became of it, if neither of them does.
	How string
	// Lost says that what was there is gone.
	Lost bool
	// IsNested says that it is a git directory which was new, and is where the user's git does not find it.
	IsNested bool

	source string
}

// mostSaid is how many bytes of a name are said, which a command may have made long.
const mostSaid = 300

func (c Change) String() string {
	where := termsafe.Brief(c.Path, mostSaid)
	switch {
	case c.How != "":
		return where + " " + termsafe.Brief(c.How, mostSaid)
	case c.Kept == "":
		return where + " was missing and is there again"
	}
	return fmt.Sprintf("%s (the changed one is %s)", where, termsafe.Brief(path.Base(c.Kept), mostSaid))
}

// Watch begins to watch those mounts that name protected places, in a sandbox that shows these folders of the sidecar's own. An error
// means that one cannot be compared, or that what an earlier command changed still cannot be put back; nothing is
// watched then.
func (k *Keeper) Watch(mounts []bailiff.Mount, own ...bailiff.Mount) (*Watch, error) {
	w := &Watch{}
	for _, m := range mounts {
		if m.ReadOnly || len(m.Protected) == 0 {
			continue
		}
		folder := k.of(m.Source)
		changes, err := folder.begin(m.Protected, nested.Shown(own, m.Source))
		w.early = append(w.early, changes...)
		if err != nil {
			done, undo := w.End()
			for _, c := range done {
				undo = errors.Join(undo, fmt.Errorf("put back: %s", c))
			}
			return nil, errors.Join(fmt.Errorf("keeping protected files of %s as they are: %w", m.Source, err), undo)
		}
		w.parts = append(w.parts, part{folder: folder, patterns: m.Protected})
	}
	return w, nil
}

// IsOfAny says whether any folder is watched.
func (w *Watch) IsOfAny() bool { return len(w.parts) > 0 }

// Look puts back the changes since Watch, while what was watched goes on, and tells them. It
// leaves alone what only a thing that has ended should be measured by: the lines of a rebase, and
// the index. Where another watch on the folder looked a moment ago, it does nothing.
func (w *Watch) Look() ([]Change, error) {
	return w.each(func(p *part) ([]Change, error) { return p.folder.look(p.patterns) })
}

// Pause is how long to wait between two looks: a second, and longer where they take their time, so
// that they cost little.
func (w *Watch) Pause() time.Duration {
	pause := time.Second
	for _, p := range w.parts {
		pause = max(pause, p.folder.pause())
	}
	return pause
}

// End puts back the changes since Watch, and tells them. What could not be put back is in the
// error, and is tried again when the next command begins. The second End does nothing.
func (w *Watch) End() ([]Change, error) {
	return w.each(func(p *part) (changes []Change, err error) {
		if p.ended == nil {
			changes, p.ended, err = p.folder.end(p.patterns)
		}
		return changes, err
	})
}

func (w *Watch) each(do func(*part) ([]Change, error)) (changes []Change, err error) {
	changes, w.early = w.early, nil
	for i := range w.parts {
		p := &w.parts[i]
		found, fault := do(p)
		changes = append(changes, found...)
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("putting back protected files of %s: %w", p.folder.source, fault))
		}
	}
	return changes, err
}

func (k *Keeper) of(source string) *watched {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folders == nil {
		k.folders = map[string]*watched{}
	}
	if k.folders[source] == nil {
		k.folders[source] = &watched{source: source, patterns: map[string]int{}, owed: map[string]bool{}, states: map[string]held{},
			walk: walk{isDeaf: len(k.folders) >= maxTrees}}
	}
	return k.folders[source]
}

// watched is a folder with what uses it. Its states are those of when the first of its users
// began, or of what was put back or accepted since.
type watched struct {
	source string

	mu sync.Mutex
	// dir and root are the folder, held while it is used: it may be closed meanwhile.
	dir      *os.File
	root     *os.Root
	patterns map[string]int  // by how many users each is protected
	owed     map[string]bool // patterns of ended users, where not all could be put back
	states   map[string]held
	bare     map[string]bool // repositories that are not called .git
	index    gitdir.Index
	linked   map[string]bool // repositories that the index names
	sealed   map[string]bool // folders that could not be listed at the beginning
	gits     map[string]bool // what was called .git at the beginning
	nested   nested.Place    // for what is called so since; none where no sandbox shows it

	walk   walk
	looked time.Time
	took   time.Duration
}

// held is a state and the pattern for which it is held.
type held struct {
	state
	pattern string
	// isFurther says that the pattern led there, and does not stand for the name.
	isFurther bool
}

// keep holds another state of a place.
func (f *watched) keep(name string, s state, pattern string) {
	f.states[name] = held{s, pattern, f.states[name].isFurther}
}

// begin takes the states of the places that no other user of the folder has protected already.
func (f *watched) begin(patterns []string, place nested.Place) (changes []Change, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.release() }()
	if err := f.hold(); err != nil {
		return nil, err
	}
	if len(f.owed) > 0 {
		if changes, err = f.settle(); err != nil {
			return changes, err
		}
	}
	fresh, err := f.take(patterns)
	if err != nil {
		return changes, err
	}
	for _, pattern := range patterns {
		f.patterns[pattern]++
	}
	if place != (nested.Place{}) {
		f.nested = place
	}
	for name, s := range fresh {
		f.states[name] = s
	}
	return changes, nil
}

// settle tries once more what could not be put back.
func (f *watched) settle() (changes []Change, err error) {
	c := comparison{watched: f, patterns: f.owed, own: f.owed, ended: true}
	if changes, err = c.run(); err != nil {
		return changes, fmt.Errorf("an earlier command changed them, and they are not yet as they were: %w", err)
	}
	for pattern := range f.owed {
		delete(f.owed, pattern)
		f.drop(pattern)
	}
	return changes, nil
}

// hold opens the folder, unless it is held. What has another one in its place meanwhile is not
// what is watched.
func (f *watched) hold() error {
	if f.root != nil {
		now, err := os.Stat(f.source)
		if err != nil {
			return err
		}
		if was, err := f.dir.Stat(); err == nil && os.SameFile(was, now) {
			return nil
		}
		if len(f.active()) > 0 {
			return fmt.Errorf("%s is another folder than the one in which commands still run", f.source)
		}
		clear(f.owed)
		clear(f.patterns)
		f.release()
	}
	dir, err := os.Open(f.source)
	if err != nil {
		return err
	}
	if f.root, err = os.OpenRoot(f.source); err != nil {
		return errors.Join(err, dir.Close())
	}
	f.dir = dir
	about, err := dir.Stat()
	if err == nil && !f.walk.isIn(about) {
		f.walk.drop()
		f.walk.folder = about
	}
	return err
}

// active are the patterns that any user protects.
func (f *watched) active() map[string]bool {
	set := map[string]bool{}
	for pattern, users := range f.patterns {
		if users > 0 {
			set[pattern] = true
		}
	}
	return set
}

// release closes the folder once nothing uses it.
func (f *watched) release() {
	if f.root == nil || len(f.patterns) > 0 || len(f.owed) > 0 {
		return
	}
	_, _ = f.root.Close(), f.dir.Close()
	f.index = gitdir.Index{}
	f.root, f.dir, f.bare, f.linked, f.sealed, f.gits, f.nested = nil, nil, nil, nil, nil, nil, nested.Place{}
	clear(f.states)
}

// look compares what is protected while a user goes on.
func (f *watched) look(patterns []string) ([]Change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < f.rest() {
		return nil, nil
	}
	began := time.Now()
	c := comparison{watched: f, patterns: f.active(), own: names(patterns...)}
	changes, err := c.run()
	f.looked = time.Now()
	f.took = f.looked.Sub(began)
	return changes, err
}

const (
	// lookEvery is the time between two looks at a folder.
	lookEvery = time.Second
	// lookShare is how many times longer than a look the time until the next one is.
	lookShare = 50
)

// rest is a little less than the time between two looks, so that a user who waited that long looks.
func (f *watched) rest() time.Duration { return max(lookEvery, lookShare*f.took) * 8 / 10 }

func (f *watched) pause() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(lookEvery, lookShare*f.took)
}

// end puts back what changed, and forgets the places that are protected by no other user, unless
// not all could be put back. What this user was allowed to change, and another one is not, is put
// back as well: the other one could have changed it just then.
func (f *watched) end(patterns []string) ([]Change, map[string]held, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := comparison{watched: f, patterns: f.active(), own: names(patterns...), ended: true}
	changes, err := c.run()
	states := maps.Clone(f.states)
	for _, pattern := range patterns {
		f.patterns[pattern]--
		if err != nil {
			f.owed[pattern] = true
		}
		f.drop(pattern)
	}
	f.release()
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, states, err
}

// drop forgets a pattern that nothing needs any more.
func (f *watched) drop(pattern string) {
	if f.patterns[pattern] > 0 || f.owed[pattern] {
		return
	}
	delete(f.patterns, pattern)
	for name, s := range f.states {
		if s.pattern == pattern {
			delete(f.states, name)
		}
	}
}

// stands says whether a pattern stands for a name.
func stands(pattern, name string) bool {
	ok, err := path.Match(strings.TrimSuffix(pattern, "/"), name)
	return ok && err == nil
}
