// Package guard keeps the folders that a command may write as they were, where programs start by their files later.
//
// Here: what a look at those folders costs while something runs, what is told of changes that were put back, and when a
// sandbox is dropped because its user replaced a folder that it must not write. The git directories of those folders are kept
// in step beside that.
//
// Promised: no guard, nothing runs; after [Guard.End] a changed protected file is as it was, or the answer says that it is not.
//
// Not here: which files are protected, and how a change is found ([protected]); what git does in a sandbox
// (internal/project/carry); the sandbox itself (enforcer/lease).
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// ErrProtected keeps a command from a folder whose protected files cannot be compared.
var ErrProtected = errors.New("protected files")

// Repositories keep private git directories in step with the real ones.
type Repositories interface {
	// Watch is for a command in a sandbox that shows these folders of the sidecar's own. Why names the command.
	Watch(own []bailiff.Mount, why string, protection Protection) Git
	// Copy makes a git directory in an empty folder from one that commands made.
	Copy(kept, fresh string) error
}

// Protection says what git may not bring into a folder: [protected.Watch] does.
type Protection interface {
	IsPlace(name string, isLink bool) bool
	Holds(name string) (content []byte, ok bool)
}

// Git keeps the private git directories of one sandbox in step with the real ones.
type Git interface {
	// IsOfAny says whether there is any.
	IsOfAny() bool
	// Begin brings in what the user did, Look brings out what was done inside. An error says that nothing may run, since git in the
	// sandbox has written too much.
	Begin(ctx context.Context) error
	Look(ctx context.Context) error
	// Told are sentences about what stays inside, and about what stays the user's.
	Told() []string
}

// Config is what guards need; Repositories is nil where git in sandboxes is not kept apart.
type Config struct {
	// Kept is the file in which changes that were put back are remembered; empty if they are not.
	Kept         string
	Repositories Repositories
	// PutBack is told of changes that were put back.
	PutBack func(changes int)
	Log     *slog.Logger
}

// Guards are those of all that runs. They are safe for concurrent use.
type Guards struct {
	config    Config
	protected protected.Keeper
}

// New returns guards, none of which watches yet.
func New(c Config) *Guards {
	g := &Guards{config: c}
	g.protected.File = c.Kept
	return g
}

// Guard keeps the protected files of the folders that one command, script or process may write as
// they were. It looks at them every second, and once more at its end. It is safe for concurrent use.
type Guard struct {
	watch *protected.Watch
	git   Git // nil where git in sandboxes is not kept apart
	log   func(changes []protected.Change, fault error)
	over  chan struct{}
	// isDisplaced says whether the sandbox shows what mounts hid; drop removes it then.
	isDisplaced func() bool
	drop        func()
	// settle waits until nothing writes any more in a sandbox that is being removed.
	settle func()

	mu    sync.Mutex
	ended bool
	kept  []protected.Change // put back, and to be told
	lost  []protected.Change // could not be
	made  []protected.Change // git directories, which are kept where the user's git does not find them
	more  int                // changes beyond those that are told
	fault error
	// isFull says that git in the sandbox has written too much.
	isFull bool
}

// errDisplaced is of a sandbox that could write what it must not, for as long as nothing looked.
var errDisplaced = errors.New("a folder that the sandbox must not write, or its .git, was replaced on the host meanwhile; the sandbox " +
	"was removed: look at that folder before a program of yours uses it")

// mostName is how many bytes of a name are said.
const mostName = 300

// mostTold is how many changes an answer names, and a line of the log.
const mostTold = 20

// Begin watches what a sandbox that is held may write of its mounts, for the request of a decision.
func (g *Guards) Begin(ctx context.Context, held *lease.Lease, mounts []bailiff.Mount, decision string) (*Guard, error) {
	if held.IsDisplaced(mounts) {
		held.DropDisplaced()
		return nil, errors.Join(ErrProtected, errors.New("a folder that the sandbox must not write was replaced: the next request gets "+
			"another sandbox"))
	}
	own := held.Own()
	watch, err := g.protected.Watch(lease.Guarded(mounts, own), own...)
	if err != nil {
		return nil, errors.Join(ErrProtected, err)
	}
	w := &Guard{watch: watch, over: make(chan struct{}), drop: held.DropDisplaced,
		isDisplaced: func() bool { return held.IsDisplaced(mounts) },
		settle: func() {
			if held.WhyGone() != "" {
				<-held.Done()
			}
		},
		log: func(changes []protected.Change, fault error) { g.told(ctx, decision, changes, fault) }}
	if g.config.Repositories != nil && len(own) > 0 {
		w.git = g.config.Repositories.Watch(own, decision, watch)
		if err := w.git.Begin(ctx); err != nil {
			w.End()
			return nil, errors.Join(ErrProtected, err)
		}
	}
	if watch.IsOfAny() || w.git != nil && w.git.IsOfAny() {
		go w.attend()
	}
	return w, nil
}

// told notes changes for the log, the metrics and [Guards.Aside].
func (g *Guards) told(ctx context.Context, decision string, changes []protected.Change, fault error) {
	fault = errors.Join(fault, g.protected.Remember(changes))
	var made []string
	changes = slices.DeleteFunc(slices.Clone(changes), func(c protected.Change) bool {
		if c.IsNested {
			made = append(made, c.Path)
		}
		return c.IsNested
	})
	if len(made) > 0 {
		g.config.Log.InfoContext(context.WithoutCancel(ctx), "a command made repositories within a project", "decision", decision,
			"repositories", made[:min(mostTold, len(made))], "count", len(made))
	}
	if len(changes) == 0 && fault == nil {
		return
	}
	g.config.PutBack(len(changes))
	g.config.Log.WarnContext(context.WithoutCancel(ctx), "a command changed protected files", "decision", decision,
		"put_back", changes[:min(mostTold, len(changes))], "changes", len(changes), "error", fault)
}

// Change is a change of a protected file that was put back: where the file is, and where the version that is not in its place. A
// nested one is a git directory that a command made, and Path its folder.
type Change struct {
	Path, Kept string
	IsNested   bool
}

// Aside are the changes of protected files that were put back, and whose changed version is there.
func (g *Guards) Aside() (all []Change) {
	for _, k := range g.protected.Aside() {
		if all = append(all, Change{Path: k.Path, Kept: k.Kept, IsNested: k.IsNested}); k.IsNested {
			all[len(all)-1].Path = filepath.Dir(k.Path)
		}
	}
	return all
}

// Adopt puts the changed version of a protected file in its place, and says where the one before it is. In a folder with a git
// directory that a command made it puts a copy of that.
func (g *Guards) Adopt(path string) (Change, error) {
	if g.config.Repositories != nil {
		former, err := g.protected.AdoptNested(path, g.config.Repositories.Copy)
		if !errors.Is(err, protected.ErrNotKept) {
			return Change{Path: path, Kept: former, IsNested: true}, err
		}
	}
	k, err := g.protected.Adopt(path)
	return Change{Path: k.Path, Kept: k.Kept}, err
}

// attend looks while what is guarded goes on.
func (w *Guard) attend() {
	for {
		pause := time.NewTimer(w.pause())
		select {
		case <-w.over:
			pause.Stop()
			return
		case <-pause.C:
			w.look()
		}
	}
}

func (w *Guard) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watch.Pause()
}

func (w *Guard) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.take(w.withPlaces(w.watch.Look()))
		if w.bringOut(); w.isFull {
			w.drop()
		}
	}
}

// withPlaces adds to the faults of a look that the sandbox shows what mounts hid, and ends it then.
func (w *Guard) withPlaces(changes []protected.Change, fault error) ([]protected.Change, error) {
	if w.isDisplaced() {
		w.drop()
		fault = errors.Join(fault, errDisplaced)
	}
	return changes, fault
}

// bringOut brings out what git did, also of a command whose caller went away.
func (w *Guard) bringOut() {
	if w.git == nil {
		return
	}
	err := w.git.Look(context.Background())
	w.isFull = err != nil
	w.fault = errors.Join(w.fault, err)
}

// End puts back what was changed.
func (w *Guard) End() {
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	close(w.over)
	w.take(w.withPlaces(w.watch.End()))
	w.bringOut()
}

// take keeps what is to be told. A fault of one look may be gone at the next, and is told if it is
// that of the last.
func (w *Guard) take(changes []protected.Change, fault error) {
	isNew := fault != nil && (w.fault == nil || w.fault.Error() != fault.Error())
	if w.fault = fault; len(changes) > 0 || isNew || fault != nil && w.ended {
		w.log(changes, fault)
	}
	for _, c := range changes {
		switch {
		case len(w.kept)+len(w.lost)+len(w.made) >= mostTold:
			w.more++
		case c.IsNested:
			w.made = append(w.made, c)
		case c.Lost:
			w.lost = append(w.lost, c)
		default:
			w.kept = append(w.kept, c)
		}
	}
}

// Tell puts into an answer what was put back, and what could not be.
func (w *Guard) Tell(a *bailiff.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) > 0 {
		a.Note("Put back, since programs start by it later and the change was not asked about: " + changeList(w.kept) + ".")
	}
	if len(w.lost) > 0 {
		a.Note("Protected, and not put back: " + changeList(w.lost) + ".")
	}
	for _, c := range w.made {
		a.Note(madeText(c))
	}
	if w.more > 0 {
		a.Note(fmt.Sprintf("There are %d more such changes.", w.more))
	}
	if w.fault != nil {
		a.Note(bailiff.Sentence(w.fault.Error()))
	}
	if w.git != nil {
		a.Note(w.git.Told()...)
	}
}

// madeText says what became of a git directory that a command made.
func madeText(c protected.Change) string {
	folder := termsafe.Brief(filepath.Dir(c.Path), mostName)
	if c.How != "" {
		return fmt.Sprintf("The git directory of %s %s: %s.", folder, c.How, termsafe.Brief(c.Kept, mostName))
	}
	return fmt.Sprintf("The repository in %[1]s is one in sandboxes alone: outside, the folder has plain files until its user runs "+
		"\"bailiff project adopt %[1]s\".", folder)
}

func changeList(changes []protected.Change) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
}
