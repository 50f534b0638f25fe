package carry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// mostPlaces is how many repositories belong to one folder: its own, its submodules, and its linked
	// working folders that lie in it.
	mostPlaces = 64
	// openTimeout is how long a private directory may take to be made.
	openTimeout = 30 * time.Second
	// stepTimeout is how long it may take to bring one repository's state in or out.
	stepTimeout = 2 * time.Minute
)

// Repositories are those of the folders that sandboxes may write. It is safe for concurrent use.
type Repositories struct {
	state string
	run   Runner
	log   *slog.Logger

	mu     sync.Mutex
	links  map[string]*Link  // by the private directory
	faults map[string]string // said already, by folder
	nested map[string]*place // by the folder of what is kept

	mostBytes int64
	measured  map[string]measurement // by folder
}

// New keeps private directories in a folder of the sidecar's state. Without a runner, which is nil where this
// machine has no bubblewrap or no git, there are none.
func New(state string, run Runner, log *slog.Logger) *Repositories {
	return &Repositories{state: state, run: run, log: log, links: map[string]*Link{}, faults: map[string]string{},
		nested: map[string]*place{}, mostBytes: mostBytes, measured: map[string]measurement{}}
}

// Mounts are what a sandbox shows in place of the repositories of a folder, that it shows at a
// target, and where those are kept that commands make within it. There are none of the former if the folder has no repository, or
// one that cannot be kept apart, which is logged once.
func (r *Repositories) Mounts(dir, target string, u backends.User) []bailiff.Mount {
	within := r.nestedMounts(dir, u)
	places, err := placesOf(dir)
	if err != nil {
		r.warn(dir, err)
		return within
	}
	all := within
	for i, p := range places {
		d := private.Of(p, r.state, private.User(u))
		if err := r.open(d); err != nil {
			if r.warn(p.Dir, err); i == 0 {
				return within
			}
			continue
		}
		rel, _ := filepath.Rel(dir, p.Dir)
		all = append(all, d.Mounts(filepath.Join(target, rel))...)
	}
	return all
}

// warn says once why the git directory of a folder is not kept apart.
func (r *Repositories) warn(dir string, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.faults[dir] != fault.Error() {
		r.faults[dir] = fault.Error()
		r.log.Warn("git in sandboxes works on the real git directory of a project", "project", dir, "reason", fault)
	}
}

var errNoKeeper = errors.New("this machine lacks bubblewrap or git")

// check says why a repository cannot be kept apart.
func (r *Repositories) check(p repository.Place, u private.User) error {
	if r.run == nil {
		return errNoKeeper
	}
	if u.UID != os.Geteuid() {
		return fmt.Errorf("commands run as user %d and the sidecar as %d", u.UID, os.Geteuid())
	}
	for _, name := range []string{p.Git, p.Common, p.Objects[0]} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if of, ok := info.Sys().(*syscall.Stat_t); !ok || int(of.Uid) != os.Geteuid() {
			return fmt.Errorf("%s belongs to another user than the sidecar's", name)
		}
	}
	return nil
}

// open has a link for a private directory.
func (r *Repositories) open(d private.Directory) error {
	if err := r.check(d.Place, d.User); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if link := r.links[d.Path()]; link != nil {
		return link.update(d)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	link, err := Open(ctx, d, r.run)
	if err == nil {
		r.links[d.Path()] = link
	}
	return err
}

// placesOf are the repository of a folder, those of its submodules, and its linked working folders that lie in it.
func placesOf(dir string) (all []repository.Place, err error) {
	queue := []string{dir}
	seen := map[string]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		p, err := repository.PlaceOf(queue[0])
		if err != nil && len(all) > 0 || errors.Is(err, fs.ErrNotExist) {
			continue // an agent may write what leads to a submodule: it must not be what keeps the others from being apart
		}
		if err != nil {
			return all, err
		}
		if seen[p.Git] {
			continue
		}
		seen[p.Git] = true
		if all = append(all, p); len(all) > mostPlaces {
			return all, fmt.Errorf("%s has more than %d submodules and linked working folders: %w", dir, mostPlaces,
				repository.ErrUnsupported)
		}
		below, err := belowOf(p, dir)
		if err != nil {
			return all, err
		}
		queue = append(queue, below...)
	}
	return all, nil
}

// belowOf are the folders of a place's submodules, and the linked working folders of its repository that lie in a folder.
func belowOf(p repository.Place, dir string) (all []string, err error) {
	dirs, err := repository.Open(p.Git, p.Common)
	if err != nil {
		return nil, err
	}
	defer dirs.Close()
	index, err := dirs.Index(p.Hash)
	if err != nil {
		return nil, err
	}
	for name := range index.Repositories() {
		at := filepath.Join(p.Dir, name)
		if real, err := filepath.EvalSymlinks(at); err != nil || real != at {
			continue // not there, or a link by which an agent may lead elsewhere
		}
		if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil && info.Mode().IsRegular() && isBelow(p.Git, at) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	inside, err := os.ReadDir(filepath.Join(p.Common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range inside {
		text, err := os.ReadFile(filepath.Join(p.Common, "worktrees", e.Name(), "gitdir"))
		at, ok := strings.CutSuffix(strings.TrimSpace(string(text)), "/.git")
		if err != nil || !ok || !strings.HasPrefix(at, dir+"/") {
			continue
		}
		linked, err := repository.PlaceOf(at)
		if err == nil && linked.Common == p.Common && filepath.Base(linked.Git) == e.Name() {
			all = append(all, at)
		}
	}
	return all, nil
}

// isBelow says whether a submodule's repository is among those that git keeps below another's.
func isBelow(git, at string) bool {
	sub, err := repository.PlaceOf(at)
	return err == nil && strings.HasPrefix(sub.Git, filepath.Join(git, "modules")+"/")
}

// Watch keeps the private directories of a sandbox in step with the real ones while a command runs.
type Watch struct {
	links      []*Link
	why        string
	protection Protection
	// full says which of the folders hold too much that the sandbox may write.
	full func() error
	// sweep removes what is kept of repositories that are gone.
	sweep func()
	// told are sentences, each once.
	told []string
}

// Watch is for a command in a sandbox that shows these folders of the sidecar's own. Why names the command; protection may be nil.
func (r *Repositories) Watch(own []bailiff.Mount, why string, protection Protection) *Watch {
	r.mu.Lock()
	defer r.mu.Unlock()
	folders := writable(own)
	w := &Watch{why: why, protection: protection, full: func() error { return r.full(folders) }, sweep: func() { r.sweep(folders) }}
	for _, m := range own {
		if link := r.links[m.Source]; link != nil {
			w.links = append(w.links, link)
		}
	}
	return w
}

// IsOfAny says whether there is any private directory.
func (w *Watch) IsOfAny() bool { return len(w.links) > 0 }

// Begin brings in what the user did. An error says that nothing may run, since git in the sandbox has written too much.
func (w *Watch) Begin(ctx context.Context) error {
	w.sweep()
	w.each(ctx, func(ctx context.Context, l *Link) ([]string, error) { return l.In(ctx, w.protection) })
	return w.full()
}

// Look brings out what changed so far. The error is that of [Watch.Begin].
func (w *Watch) Look(ctx context.Context) error {
	w.each(ctx, func(ctx context.Context, l *Link) ([]string, error) { return l.Out(ctx, w.why, w.protection) })
	return w.full()
}

func (w *Watch) each(ctx context.Context, do func(context.Context, *Link) ([]string, error)) {
	for _, link := range w.links {
		ctx, cancel := context.WithTimeout(ctx, stepTimeout)
		told, err := do(ctx, link)
		cancel()
		if err != nil {
			told = append(told, fmt.Sprintf("Git's state of %s is not carried between you and the sandbox: %v.", link.Place.Dir, err))
		}
		for _, one := range told {
			if !slices.Contains(w.told, one) {
				w.told = append(w.told, one)
			}
		}
	}
}

// mostTold is how many sentences an answer gets.
const mostTold = 20

// Told are the sentences about what stays inside, and about what stays the user's.
func (w *Watch) Told() []string {
	if len(w.told) > mostTold {
		return append(slices.Clone(w.told[:mostTold]), fmt.Sprintf("There are %d more such notes.", len(w.told)-mostTold))
	}
	return w.told
}
