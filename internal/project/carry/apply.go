package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// journal says which locks of git's a step holds, so that a later run can take them away, and what it writes, so that
// a later run does not take it for the user's.
type journal struct {
	// Index is the inode of the lock of the index, Refs are the refs that are written with their new values, Head is
	// HEAD's; empty if that stays.
	Index uint64
	Refs  map[string]string
	Head  string
	Began time.Time
}

// apply carries a plan out: the entries are written to a copy of the index; then, with the index locked, the refs are moved
// in one transaction, HEAD after them, and the copy takes the index's place. The lock is held for no longer than the
// transaction takes.
func (l *Link) apply(ctx context.Context, real repository.Dirs, s *sides, p plan, q *quarantine, why string) (err error) {
	if q.dir == "" {
		if err := q.begin(); err != nil {
			return err
		}
	}
	script, err := l.script(s, p, q, why)
	if err != nil {
		return err
	}
	var lock *held
	ready := func() (err error) {
		if lock, err = l.lock(real, p); err != nil {
			return err
		}
		if isSame, err := l.isUnchanged(real, s); err != nil || !isSame {
			return errors.Join(err, errMoved)
		}
		return l.step("locked")
	}
	defer func() { lock.release() }()
	if err := l.runTo(ctx, l.applying(q, script), ready); err != nil {
		if isSame, again := l.isUnchanged(real, s); lock != nil && (again != nil || !isSame) {
			return errMoved
		}
		return err
	}
	if err := l.step("refs"); err != nil {
		return err
	}
	if err := writeNotes(real.Git, p.notes); err != nil {
		return err
	}
	if len(p.entries) > 0 {
		return lock.fill(filepath.Join(q.dir, "index"))
	}
	return nil
}

// runTo runs a job that says a line once it is prepared, and goes on when it is told one. What has to be done between
// is its caller's; if that fails, the job ends.
func (l *Link) runTo(ctx context.Context, j keeper.Job, ready func() error) error {
	in, tell, err := os.Pipe() // of the system, which no copying waits for: the job may end before it is told anything
	if err != nil {
		return err
	}
	defer in.Close()
	defer tell.Close()
	var fault error
	j.Stdin, j.MaxOutput = in, maxSaid
	isReady := false
	j.Stdout = writer(func(p []byte) (int, error) {
		if isReady {
			return len(p), nil
		}
		isReady = true
		if fault = ready(); fault == nil {
			_, _ = tell.WriteString("go\n")
		}
		_ = tell.Close()
		return len(p), nil
	})
	err = l.run.Run(ctx, j)
	if fault != nil {
		return fault
	}
	return err
}

const maxSaid = 1 << 10

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// isUnchanged says whether the user's git wrote nothing since a plan was made.
func (l *Link) isUnchanged(real repository.Dirs, s *sides) (bool, error) {
	now := sides{}
	if err := l.lookOutside(real, &now); err != nil {
		return false, err
	}
	return now.r.Head == s.r.Head && len(now.ri.Changes(s.ri)) == 0 &&
		maps.Equal(now.r.Refs, s.r.Refs) && now.r.Unfinished == s.r.Unfinished &&
		len(now.r.Stash) == len(s.r.Stash) && maps.Equal(now.r.Notes, s.r.Notes), nil
}

// held is the lock of the user's index; nil where none is needed.
type held struct {
	root *os.Root
	file *os.File
	mode fs.FileMode
	l    *Link
	done bool
}

// lock takes the user's index, if a plan moves what belongs together with it.
func (l *Link) lock(real repository.Dirs, p plan) (*held, error) {
	h := &held{root: real.Git, mode: 0o644, l: l}
	j := journal{Refs: map[string]string{}, Head: p.head, Began: time.Now()}
	for _, m := range p.moves {
		j.Refs[m.name] = m.fresh
	}
	if info, err := real.Git.Lstat("index"); err == nil {
		h.mode = info.Mode().Perm()
	}
	f, err := lockFile(real.Git, "index.lock", lockWait)
	if errors.Is(err, fs.ErrExist) {
		return nil, errLocked
	}
	if err != nil {
		return nil, fmt.Errorf("locking the index: %w", err)
	}
	h.file = f
	if info, err := f.Stat(); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			j.Index = stat.Ino
		}
	}
	text, err := json.Marshal(j)
	if err == nil {
		err = replaceFile(l.file("journal"), text)
	}
	if err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// fill makes a file the user's index.
func (h *held) fill(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	_, err = h.file.Write(text)
	if err = errors.Join(err, h.file.Chmod(h.mode), h.file.Sync()); err != nil {
		return err
	}
	if err := h.l.step("index"); err != nil {
		return err
	}
	h.done = true
	return h.root.Rename("index.lock", "index")
}

// release gives the lock back.
func (h *held) release() {
	if h == nil {
		return
	}
	_ = h.file.Close()
	if h.l.fault != nil && h.l.fault("release") != nil {
		return // as if the sidecar had been killed
	}
	if !h.done {
		_ = h.root.Remove("index.lock")
	}
	_ = os.Remove(h.l.file("journal"))
}

// recover takes locks away that an earlier run left when it was killed. What it had not finished is done
// again by the next step out.
func (l *Link) recover() error {
	stale, err := filepath.Glob(filepath.Join(l.State, "work-*"))
	for _, folder := range stale {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	text, fault := os.ReadFile(l.file("journal"))
	if errors.Is(fault, fs.ErrNotExist) {
		return err
	}
	var j journal
	if err := errors.Join(err, fault); err != nil {
		return err
	}
	if json.Unmarshal(text, &j) != nil {
		j = journal{} // no lock is known to be bailiff's then, and what was written counts as the user's
	}
	real, err := repository.Open(l.Place.Git, l.Place.Common)
	if err != nil {
		return err
	}
	defer real.Close()
	if info, err := real.Git.Lstat("index.lock"); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Ino == j.Index {
			_ = real.Git.Remove("index.lock")
		}
	}
	removeStale(real.Git, "HEAD", j.Began)
	removeStale(real.Common, "packed-refs", j.Began)
	for name := range j.Refs {
		removeStale(real.Common, name, j.Began)
	}
	if err := l.takeOver(real, j); errors.As(err, new(*damage)) {
		return os.Remove(l.file("journal")) // the next step makes all of it anew
	} else if err != nil {
		return err
	}
	l.base.Pending = "interrupted"
	return errors.Join(l.save(), os.Remove(l.file("journal")))
}

// removeStale takes a lock away that the step of a journal left. It waits for the lock to be older than any that git holds in
// passing: a step that was killed a moment ago leaves a young one.
func removeStale(root *os.Root, name string, began time.Time) {
	for {
		info, err := root.Lstat(name + ".lock")
		if err != nil || info.ModTime().Sub(began) >= keeper.Longest {
			return
		}
		if time.Since(info.ModTime()) > lockWait {
			_ = root.Remove(name + ".lock")
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// takeOver remembers of what an interrupted step wrote that it is no change of the user's.
func (l *Link) takeOver(real repository.Dirs, j journal) error {
	if err := l.load(); err != nil {
		return err
	}
	now, err := real.State(l.Place.Hash)
	if err != nil {
		return err
	}
	for name, fresh := range j.Refs {
		if now.Refs[name] == fresh {
			set(&l.base.Real.Refs, name, fresh)
			set(&l.base.Private.Refs, name, fresh)
		}
	}
	if j.Head != "" && now.Head == j.Head {
		l.base.Real.Head, l.base.Private.Head = j.Head, j.Head
	}
	return nil
}

// applying is the job that writes the user's refs and a copy of the index.
func (l *Link) applying(q *quarantine, script string) keeper.Job {
	binds := []keeper.Bind{{Source: l.Place.Common, Target: l.Place.Common, Writable: true}}
	for _, folder := range l.Place.Objects[1:] {
		binds = append(binds, keeper.Bind{Source: folder, Target: folder})
	}
	binds = append(binds, keeper.Bind{Source: q.dir, Target: "/job", Writable: true})
	return keeper.Job{Binds: binds, Dir: "/job", Args: []string{"sh", "-c", script},
		Env: []string{"GIT_WORK_TREE=/job", "GIT_COMMITTER_NAME=bailiff", "GIT_COMMITTER_EMAIL=bailiff@localhost"}}
}

// script is what that job runs. Its input is in files of the quarantine's folder.
func (l *Link) script(s *sides, p plan, q *quarantine, why string) (string, error) {
	files := map[string]string{}
	lines := []string{"set -e; exec 3>&1 >/dev/null"}
	real := func(args ...string) string { return gitOn(l.Place.Git, args...) }
	if len(p.entries) > 0 {
		lines = append(lines, l.entries(s, p, files)...)
	}
	lines = append(lines, "echo ready >&3; exec 3>&-; read go")
	gone, fresh := p.transaction(s.r, time.Now(), strings.Repeat("0", 2*l.Place.Hash))
	files["gone"], files["fresh"] = gone, fresh
	message := "bailiff: " + cleanLine(why)
	for _, name := range []string{"fresh", "gone"} { // what is kept is kept before it goes
		if files[name] != "" {
			lines = append(lines, real("update-ref", "-m", message, "--stdin")+" </job/"+name)
		}
	}
	for _, i := range p.drops {
		lines = append(lines, real("stash", "drop", "-q", fmt.Sprintf("stash@{%d}", i)))
	}
	for _, e := range p.stores {
		lines = append(lines, real("stash", "store", "-q", "-m", e.Message, e.Hash))
	}
	if name, ok := strings.CutPrefix(p.head, "ref: "); ok {
		lines = append(lines, real("symbolic-ref", "-m", message, "HEAD", name))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(q.dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return strings.Join(lines, "\n"), os.WriteFile(filepath.Join(q.dir, "index"), s.ri.Text, 0o600)
}

// entries are the lines that write a copy of the index.
func (l *Link) entries(s *sides, p plan, files map[string]string) (lines []string) {
	paths := map[string]bool{}
	for _, c := range p.entries {
		paths[c.Path()] = true
	}
	var info, skipped strings.Builder
	zero := strings.Repeat("0", 2*l.Place.Hash)
	for path := range paths {
		fmt.Fprintf(&info, "0 %s\t%s\x00", zero, path) // takes all stages away
	}
	for path, all := range s.pi.Select(paths) {
		for _, e := range all {
			fmt.Fprintf(&info, "%06o %s %d\t%s\x00", e.Mode, e.Hash, e.Stage, path)
		}
	}
	for path, all := range s.ri.Select(paths) {
		for _, e := range all {
			if e.IsSkipped && e.Stage == 0 {
				fmt.Fprintf(&skipped, "%s\x00", path)
			}
		}
	}
	files["entries"] = info.String()
	on := "GIT_INDEX_FILE=/job/index "
	if len(s.ri.Text) == 0 {
		lines = append(lines, "rm -f /job/index")
	}
	lines = append(lines, on+gitOn(l.Place.Git, "-c", "core.splitIndex=false", "update-index", "-z", "--index-info")+" </job/entries")
	if files["skipped"] = skipped.String(); files["skipped"] != "" {
		lines = append(lines, on+gitOn(l.Place.Git, "-c", "core.splitIndex=false", "update-index", "-z", "--skip-worktree",
			"--stdin")+" </job/skipped")
	}
	return lines
}

// writeNotes writes the files of a merge.
func writeNotes(root *os.Root, notes map[string]*string) error {
	for name, text := range notes {
		var err error
		if text != nil {
			err = private.Write(root, name, []byte(*text), 0o644)
		} else if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
