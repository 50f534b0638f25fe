package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a snapshot takes at most.
const (
	mostFiles       = 200_000
	mostFile        = 64 << 20 // bytes of a file
	mostIgnoredFile = 1 << 20  // of one that git ignores and that stands alone
	// A folder that git ignores is taken whole or not at all.
	mostInIgnored      = 200
	mostBytesInIgnored = 10 << 20
	// All that git ignores.
	mostIgnored      = 5_000
	mostBytesIgnored = 100 << 20
	// mostLoose is how many new files one snapshot writes as files of their own: more of them go into one pack, which costs half.
	mostLoose = 200
	// blockSize is what a small file takes on disk at least.
	blockSize = 4 << 10
)

// taken is a snapshot.
type taken struct {
	Tree   string
	Unkept []Unkept
	// Span is the time since the snapshot before.
	Span Span
}

// look lists, each list ending with an empty name: files that are not as in the last snapshot; those that are new;
// files and folders that git ignores; of the ignored ones that the last snapshot has, those that changed, and all.
const look = `
"$@" diff-files -z --name-only; printf '\0'
"$@" ls-files -z -o --exclude-standard; printf '\0'
"$@" ls-files -z -o -i --exclude-standard --directory; printf '\0'
export GIT_INDEX_FILE=/store/ignored
"$@" diff-files -z --name-only; printf '\0'
"$@" ls-files -z; printf '\0'
`

// write puts what was chosen into the store, and says the tree and how many files it has.
const write = `
put() { # an index, a name of lists
	export GIT_INDEX_FILE="/store/$1"
	list="$1"
	shift
	if test -s "/store/in/$list.drop"; then "$@" update-index --force-remove -z --stdin <"/store/in/$list.drop"; fi
	if test -s "/store/in/$list.add"; then "$@" $packed update-index --add --replace --remove -z --stdin <"/store/in/$list.add"; fi
	"$@" write-tree
}
files=$(put files "$@")
ignored=$(put ignored "$@")
modes=$("$@" hash-object -w --no-filters -t blob /store/in/modes)
printf '040000 tree %s\tfiles\n040000 tree %s\tignored\n100644 blob %s\tmodes\n' "$files" "$ignored" "$modes" | "$@" mktree
`

// take takes a snapshot of a folder, which must be locked, and notes who ran since the one before. Its store may then take so many bytes.
func (s *Store) take(ctx context.Context, f *folder, most int64) (t taken, err error) {
	f.mu.Lock()
	last, ran := f.state, f.watch.cut()
	f.mu.Unlock()
	t, err = s.takeNow(ctx, f, most)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.watch.rejoin(ran)
		if errors.As(err, new(*exec.ExitError)) || errors.Is(err, errDamaged) {
			f.state.Tree, f.state.Taken = "", time.Time{} // the next is made anew, beside the work
		}
		return t, err
	}
	t.Span = f.watch.close(Span{From: last.Tree, To: t.Tree, Began: last.Taken}, ran)
	return t, nil
}

func (s *Store) takeNow(ctx context.Context, f *folder, most int64) (t taken, err error) {
	if err = f.makeRepo(); err == nil && f.now().Tree == "" {
		err = f.dropIndexes()
	}
	if err != nil {
		return t, err
	}
	began := time.Now()
	said, err := s.run(ctx, f, look, nil)
	if err != nil {
		return t, err
	}
	found, err := lists(said, 5)
	if err != nil {
		return t, err
	}
	now := f.now()
	c, err := choose(f, now, found, began)
	if err != nil {
		return t, err
	}
	if now.Bytes+c.bytes > most {
		return t, fmt.Errorf("%w: those of %s may take %d MiB", ErrFull, f.path, s.config.MaxBytes>>20)
	}
	t = taken{Tree: now.Tree, Unkept: c.unkept}
	if now.Tree == "" || c.changesAnything() || f.isUnfinished() {
		if t.Tree, err = s.write(ctx, f, c); err != nil {
			return t, err
		}
	}
	now.Tree, now.Taken, now.Fault = t.Tree, s.config.Now(), ""
	now.Bytes += c.bytes
	now.Files = max(0, now.Files+c.more)
	if err = f.set(now); err == nil {
		err = os.RemoveAll(f.unfinished())
	}
	return t, err
}

// errDamaged says that the store is not as it was written.
var errDamaged = errors.New("what is kept of the last snapshot is damaged")

// dropIndexes has the next snapshot taken as the first is. What earlier ones have stays.
func (f *folder) dropIndexes() (err error) {
	for _, name := range []string{"files", "ignored", "in/modes"} {
		if wrong := os.Remove(filepath.Join(f.repo(), name)); wrong != nil && !errors.Is(wrong, fs.ErrNotExist) {
			err = wrong
		}
	}
	return err
}

// unfinished is there while a snapshot is written, whose indexes may then be ahead of the last tree.
func (f *folder) unfinished() string { return filepath.Join(f.repo(), "in", "unfinished") }

func (f *folder) isUnfinished() bool {
	_, err := os.Lstat(f.unfinished())
	return err == nil
}

func (s *Store) write(ctx context.Context, f *folder, c *choice) (string, error) {
	if f.now().Tree == "" {
		c.modes.settle()
	}
	text, err := json.Marshal(c.modes)
	if err == nil {
		err = os.WriteFile(f.unfinished(), nil, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.repo(), "in", "modes"), text, 0o600)
	}
	for name, list := range map[string][]string{
		"files.add": c.add, "files.drop": c.drop, "ignored.add": c.ignoredAdd, "ignored.drop": c.ignoredDrop,
		"recent": c.recent,
	} {
		if err == nil {
			err = f.give(name, list)
		}
	}
	if err != nil {
		return "", err
	}
	script := write
	if len(c.add)+len(c.ignoredAdd) > mostLoose {
		script = "packed='-c core.bigFileThreshold=1'\n" + write // git streams what is larger into one pack
	}
	said, err := s.run(ctx, f, script, nil)
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(said))
	if len(tree) != 40 || strings.Trim(tree, "0123456789abcdef") != "" {
		return "", fmt.Errorf("git gave no tree")
	}
	return tree, nil
}

// choice is what a snapshot takes and what it does not.
type choice struct {
	folder       string
	add, drop    []string
	ignoredAdd   []string
	ignoredDrop  []string
	unkept       []Unkept
	modes        *modes
	modesChanged bool
	// recent are the files that changed no earlier than the second before this look, which began then: git compares whole seconds, so
	// that other permissions in the same second are found by the next look alone.
	recent       []string
	began        time.Time
	bytes        int64
	more         int
	ignoredFiles int
	ignoredBytes int64
	links        map[string]bool
}

func (c *choice) changesAnything() bool {
	return len(c.add)+len(c.drop)+len(c.ignoredAdd)+len(c.ignoredDrop) > 0 || c.modesChanged
}

// choose decides by sizes and kinds, as they are now, what a snapshot takes.
func choose(f *folder, now state, found [][]string, began time.Time) (*choice, error) {
	changed, fresh, ignored, ignoredChanged, ignoredKnown := found[0], found[1], found[2], found[3], found[4]
	modes, err := f.modes(now.Tree)
	if err != nil {
		return nil, err
	}
	c := &choice{folder: f.path, modes: modes, links: map[string]bool{}, began: began}
	if err := c.lookAgain(f, now.Tree); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(filepath.Join(f.path, ".git")); err == nil && info.IsDir() {
		c.unkept = append(c.unkept, Unkept{".git", "git keeps it itself", true})
	}
	if now.Files+len(fresh) > mostFiles {
		return nil, fmt.Errorf("%s has more than %d files", f.path, mostFiles)
	}
	for _, name := range changed {
		c.takeFile(name, false)
	}
	for _, name := range fresh {
		c.takeFile(name, true)
	}
	wanted := map[string]bool{}
	for _, name := range slices.Concat(ignored, c.unlisted(changed, fresh, ignored)) {
		c.chooseIgnored(name, wanted)
	}
	known := map[string]bool{}
	for _, name := range ignoredKnown {
		if known[name] = true; !wanted[name] {
			c.ignoredDrop = append(c.ignoredDrop, name)
			c.forget(name)
		}
	}
	for _, name := range ignoredChanged {
		if wanted[name] {
			delete(known, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !known[name] {
			c.ignoredAdd = append(c.ignoredAdd, name)
			c.measure(name)
		}
	}
	return c, nil
}

// unlisted are folders that stand in the place of files of the last snapshot, and of which git lists nothing: where it ignores one
// as a whole, it goes by the file of that name.
func (c *choice) unlisted(changed, fresh, ignored []string) (folders []string) {
	for _, name := range changed {
		isBelow := func(listed string) bool { return strings.HasPrefix(listed, name+"/") }
		if info, err := os.Lstat(filepath.Join(c.folder, name)); err == nil && info.IsDir() && !c.isBehindLink(filepath.Dir(name)) &&
			!slices.ContainsFunc(fresh, isBelow) && !slices.ContainsFunc(ignored, isBelow) {
			folders = append(folders, name+"/")
		}
	}
	return folders
}

// lookAgain notes the permissions of files that the look before found as they had just changed.
func (c *choice) lookAgain(f *folder, tree string) error {
	if tree == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(f.repo(), "in", "recent"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is of an earlier program
	}
	for name := range strings.SplitSeq(string(text), "\x00") {
		if name != "" {
			c.measure(name)
		}
	}
	return err
}

// ErrFull says that there is no room for another snapshot before an old one has had its time.
var ErrFull = errors.New("there is no room for another snapshot")

// takeFile takes a file that git would add, or that the last snapshot has.
func (c *choice) takeFile(name string, isNew bool) {
	if strings.HasSuffix(name, "/") {
		c.unkept = append(c.unkept, Unkept{strings.TrimSuffix(name, "/"), "it is a repository of its own", false})
		return
	}
	info, err := os.Lstat(filepath.Join(c.folder, name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || err == nil && info.IsDir() || c.isBehindLink(filepath.Dir(name)) {
		if !isNew {
			c.drop = append(c.drop, name)
			c.forget(name)
			c.more--
		}
		return
	}
	why := ""
	if err != nil {
		why = "it cannot be looked at"
	} else {
		why = c.unfit(name, info, mostFile)
	}
	if why != "" {
		c.unkept = append(c.unkept, Unkept{name, why, false})
		if !isNew {
			c.drop = append(c.drop, name)
			c.forget(name)
		}
		return
	}
	c.add = append(c.add, name)
	if isNew {
		c.more++
	}
	c.note(name, info)
}

// isBehindLink says whether a folder of the project is a link by now, or lies behind one.
func (c *choice) isBehindLink(dir string) bool {
	if dir == "." {
		return false
	}
	is, known := c.links[dir]
	if !known {
		info, err := os.Lstat(filepath.Join(c.folder, dir))
		is = err == nil && info.Mode()&fs.ModeSymlink != 0 || c.isBehindLink(filepath.Dir(dir))
		c.links[dir] = is
	}
	return is
}

// unfit says why a file is not taken; empty if it is.
func (c *choice) unfit(name string, info fs.FileInfo, most int64) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return ""
	case !mode.IsRegular():
		return "it is no plain file"
	case info.Size() > most:
		return fmt.Sprintf("it has more than %d MiB", most>>20)
	case !isReadable(filepath.Join(c.folder, name), info):
		return "it cannot be read"
	}
	return ""
}

// isReadable says whether a keeper can read a file, in which root has no more rights than another user.
func isReadable(at string, info fs.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return unix.Access(at, unix.R_OK) == nil
	}
	perm := info.Mode().Perm()
	return perm&0o004 != 0 || of.Uid == 0 && perm&0o400 != 0
}

// chooseIgnored takes a file that git ignores, or a folder of such, if it is small.
func (c *choice) chooseIgnored(name string, wanted map[string]bool) {
	dir, isDir := strings.CutSuffix(name, "/")
	if !isDir {
		c.wantAll([]string{name}, name, mostIgnoredFile, wanted)
		return
	}
	var inside []string
	size, why := int64(0), ""
	err := filepath.WalkDir(filepath.Join(c.folder, dir), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, _ := filepath.Rel(c.folder, at)
		switch {
		case d.IsDir() && d.Name() == ".git":
			why = "it has a repository of its own"
		case d.IsDir():
			return nil
		case len(inside) == mostInIgnored:
			why = fmt.Sprintf("it has more than %d files", mostInIgnored)
		default:
			info, err := d.Info()
			if err != nil {
				return err
			}
			if size += info.Size(); size > mostBytesInIgnored {
				why = fmt.Sprintf("it has more than %d MiB", mostBytesInIgnored>>20)
			}
			inside = append(inside, rest)
		}
		if why != "" {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		why = "it cannot be read"
	}
	if why != "" {
		c.unkept = append(c.unkept, Unkept{dir, why, true})
		return
	}
	c.wantAll(inside, dir, mostBytesInIgnored, wanted)
}

// wantAll wants files that git ignores. What is beyond the bound of all such is told by its folder's name.
func (c *choice) wantAll(names []string, as string, most int64, wanted map[string]bool) {
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(c.folder, name))
		why := "it cannot be looked at"
		if err == nil {
			why = c.unfit(name, info, most)
			c.ignoredFiles++
			c.ignoredBytes += info.Size()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case why != "":
			c.unkept = append(c.unkept, Unkept{name, why, true})
		case c.ignoredFiles > mostIgnored || c.ignoredBytes > mostBytesIgnored:
			c.unkept = append(c.unkept, Unkept{as, "git ignores too much beside it", true})
			return
		default:
			wanted[name] = true
		}
	}
}

// measure counts a file that goes into the store.
func (c *choice) measure(name string) {
	if info, err := os.Lstat(filepath.Join(c.folder, name)); err == nil {
		c.note(name, info)
	}
}

// note keeps a file's permissions, and counts its size.
func (c *choice) note(name string, info fs.FileInfo) {
	c.bytes += info.Size() + blockSize
	if info.Mode().IsRegular() {
		c.modesChanged = c.modes.set(name, info.Mode().Perm()) || c.modesChanged
	}
	if isRecent(info, c.began) {
		c.recent = append(c.recent, name)
	}
}

func (c *choice) forget(name string) {
	if _, is := c.modes.Others[name]; is {
		delete(c.modes.Others, name)
		c.modesChanged = true
	}
}
