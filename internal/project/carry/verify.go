package carry

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

const (
	// mostInput is how many bytes a pack may have that is brought out, mostContent how many
	// what is in it, mostPath how many a path.
	mostInput   = 2 << 30
	mostContent = 4 << 30
	mostPath    = 4096
	// mostCommits is how many bytes are read of what new commits change.
	mostCommits = 1 << 30
)

// quarantine holds the objects that a step brings, until all of them are known to be sound.
type quarantine struct {
	l   *Link
	dir string
	// parents are those of the new commits.
	parents map[string][]string
	fault   error
}

// group is what is brought or refused as one: a ref, or all of the index, of the stash.
type group struct {
	name    string
	tips    []string
	commits bool
}

// groups are the values that changed inside and that the real side may not have.
func (l *Link) groups(s *sides, privateBase repository.Index) (all []group) {
	known := map[string]bool{"": true}
	for _, value := range s.r.Refs {
		known[value] = true
	}
	for _, e := range s.r.Stash {
		known[e.Hash] = true
	}
	add := func(name string, commits bool, tips ...string) {
		tips = slices.DeleteFunc(tips, func(tip string) bool { return known[tip] })
		if len(tips) > 0 && s.refused[name] == "" {
			all = append(all, group{name, tips, commits})
		}
	}
	for name, value := range s.p.Refs {
		if value != l.base.Private.Refs[name] && (strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/")) {
			add(name, true, value)
		}
	}
	added, _ := differ(l.base.Private.Stash, s.p.Stash)
	var stash []string
	for _, e := range added {
		stash = append(stash, e.Hash)
	}
	add("stash", true, stash...)
	if s.p.Unfinished != "" || s.p.IsLocked {
		return all
	}
	if s.p.Branch() == "" && s.p.Head != l.base.Private.Head {
		add("HEAD", true, s.p.Head)
	}
	var index []string
	for _, c := range s.pi.Changes(privateBase) {
		if c.Is != nil && c.Is.Mode != repository.ModeRepository && !c.Is.IsAnnounced {
			index = append(index, c.Is.Hash)
		}
	}
	add("index", false, index...)
	var merged []string
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if now := s.p.Notes[name]; now != l.base.Private.Notes[name] && l.areHashes(now) {
			merged = append(merged, strings.Fields(now)...)
		}
	}
	add("merge", true, merged...)
	return all
}

// verify brings the objects of what changed into a quarantine. What git does not take is in refused afterwards.
func (l *Link) verify(ctx context.Context, s *sides, privateBase repository.Index) (q *quarantine, err error) {
	all := l.groups(s, privateBase)
	q = &quarantine{l: l, parents: map[string][]string{}}
	if len(all) == 0 {
		return q, nil
	}
	fault := q.fill(ctx, s, all)
	if fault == nil || ctx.Err() != nil {
		return q, cmp.Or(fault, ctx.Err())
	}
	if len(all) == 1 {
		q.remove()
		s.refused[all[0].name] = reason(fault)
		return &quarantine{l: l, parents: map[string][]string{}}, nil
	}
	var sound []group
	for i, one := range all {
		q.remove()
		if fault := q.fill(ctx, s, []group{one}); fault != nil || i >= mostAlone {
			s.refused[one.name] = reason(fault)
			continue
		}
		sound = append(sound, one)
	}
	q.remove()
	if len(sound) == 0 {
		return q, nil
	}
	return q, q.fill(ctx, s, sound)
}

func reason(fault error) string {
	if fault == nil {
		return "too much was refused at once"
	}
	var failure *keeper.Failure
	if errors.As(fault, &failure) && failure.Stderr != "" {
		return "git does not take its objects: " + failure.Stderr
	}
	return fault.Error()
}

// alternates are where the real objects are shown to a job, and the binds for it.
func (l *Link) alternates() (binds []keeper.Bind, list string) {
	var names []string
	for i, folder := range l.Place.Objects {
		at := fmt.Sprintf("/alt/%d", i)
		binds, names = append(binds, keeper.Bind{Source: folder, Target: at}), append(names, at)
		if alternates := filepath.Join(folder, "info", "alternates"); isThere(alternates) {
			binds = append(binds, keeper.Bind{Source: filepath.Join(l.State, "empty"), Target: at + "/info/alternates"})
		}
	}
	return binds, strings.Join(names, ":")
}

func isThere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// begin makes a folder for a job, with a git directory in it that has no objects.
func (q *quarantine) begin() (err error) {
	if q.dir, err = os.MkdirTemp(q.l.State, "work-"); err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if q.l.Place.Hash != 20 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	files := map[string]string{"git/HEAD": "ref: refs/heads/main\n", "git/config": config}
	if text, err := os.ReadFile(filepath.Join(q.l.Place.Common, "shallow")); err == nil {
		files["git/shallow"] = string(text)
	}
	for _, folder := range []string{"git/refs", "git/objects/pack"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(q.dir, folder), 0o700))
	}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(q.dir, name), []byte(text), 0o600))
	}
	return err
}

// remove takes the folder away.
func (q *quarantine) remove() {
	if q.dir != "" {
		_ = os.RemoveAll(q.dir)
	}
	q.dir, q.parents = "", map[string][]string{}
}

// git is a line of a shell's that starts git safely, on the folder of a job.
func git(args ...string) string { return gitOn("/job/git", args...) }

func gitOn(dir string, args ...string) string {
	words := keeper.GitArgs(dir, args...)
	for i, word := range words {
		words[i] = shellquote.Quote(word)
	}
	return strings.Join(words, " ")
}

// fill brings the objects of groups, checks that all are sound and there, and reads the commits.
func (q *quarantine) fill(ctx context.Context, s *sides, groups []group) error {
	if err := q.begin(); err != nil {
		return err
	}
	var want, tips strings.Builder
	log := git("log", "--stdin", "-r", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--no-color",
		"--no-decorate", "--no-notes", "--no-mailmap", "--format=commit %H %P") + " </job/tips"
	for _, one := range groups {
		for _, tip := range one.tips {
			fmt.Fprintln(&want, tip)
			if one.commits {
				fmt.Fprintln(&tips, tip)
			}
		}
	}
	if tips.Len() == 0 {
		log = ""
	}
	has := map[string]bool{"": true}
	real := maps.Clone(s.r.Refs)
	real["HEAD"] = s.r.Commit()
	for name, value := range real {
		if !has[value] && !strings.HasPrefix(name, keptRefs) {
			has[value] = true
			fmt.Fprintf(&want, "^%s\n", value)
			fmt.Fprintf(&tips, "^%s\n", value)
		}
	}
	err := errors.Join(os.WriteFile(filepath.Join(q.dir, "want"), []byte(want.String()), 0o600),
		os.WriteFile(filepath.Join(q.dir, "tips"), []byte(tips.String()), 0o600))
	if err != nil {
		return err
	}
	if err := q.l.run.Run(ctx, q.job(log)); err != nil {
		return err
	}
	if err := q.checkSizes(); err != nil {
		return err
	}
	claims, err := q.readCommits(s)
	if err != nil {
		return err
	}
	if len(claims) > 0 {
		if wrong, err := q.unknown(ctx, s, claims); err != nil || wrong != (claim{}) {
			return cmp.Or(err, fmt.Errorf("it changes %s, by which programs of yours start, and no person agreed to that",
				cleanLine(wrong.path)))
		}
	}
	return q.checkCommits(ctx, groups)
}

// checkCommits refuses branches that stand on anything but a commit.
func (q *quarantine) checkCommits(ctx context.Context, groups []group) error {
	var asked strings.Builder
	for _, one := range groups {
		if _, isNew := q.parents[one.tips[0]]; !isNew && (one.name == "HEAD" || strings.HasPrefix(one.name, "refs/heads/")) {
			fmt.Fprintln(&asked, one.tips[0])
		}
	}
	if asked.Len() == 0 {
		return nil
	}
	var said bytes.Buffer
	binds, list := q.l.alternates()
	err := q.l.run.Run(ctx, keeper.Job{Binds: append(binds, keeper.Bind{Source: q.dir, Target: "/job"}), Dir: "/job",
		Env: []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + list}, Stdin: strings.NewReader(asked.String()), Stdout: &said,
		MaxOutput: mostPath << 8,
		Args:      keeper.GitArgs("/job/git", "cat-file", "--batch-check=%(objecttype)")})
	if err != nil {
		return err
	}
	for line := range strings.Lines(said.String()) {
		if line != "commit\n" {
			return errors.New("a branch has to stand on a commit")
		}
	}
	return nil
}

// job is what checks objects. The private objects are read by the first git alone, and what it says by the
// second, which names each object by its content; the others see the quarantine and the real objects.
func (q *quarantine) job(log string) keeper.Job {
	binds, list := q.l.alternates()
	binds = append(binds, keeper.Bind{Source: filepath.Join(q.l.Path(), "objects"), Target: "/private"},
		keeper.Bind{Source: q.dir, Target: "/job", Writable: true})
	script := "set -e; export GIT_ALTERNATE_OBJECT_DIRECTORIES=" + list + "\n" +
		"GIT_OBJECT_DIRECTORY=/private " + git("-c", "core.bigFileThreshold=64m", "pack-objects", "--revs", "--thin", "--stdout",
		"--delta-base-offset", "-q", "--threads=1", "--window=5") + " </job/want | " +
		git("index-pack", "--stdin", "--fix-thin", "--strict", "--threads=1", "--max-input-size="+strconv.Itoa(mostInput)) + " " +
		">/job/pack\n" +
		"GIT_ALTERNATE_OBJECT_DIRECTORIES= " + git("cat-file", "--batch-all-objects", "--batch-check=%(objectsize)", "--unordered",
		"--buffer") + " >/job/sizes\n" +
		git("rev-list", "--objects", "--stdin") + " </job/want >/job/objects\n" +
		cmp.Or(log, ":") + " >/job/commits\n"
	return keeper.Job{Binds: binds, Dir: "/job", Args: []string{"sh", "-c", script}}
}

// lines calls do for each line of a file that a job wrote.
func (q *quarantine) lines(name string, do func(line string) error) error {
	f, err := os.OpenFile(filepath.Join(q.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, mostCommits))
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		if err := do(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (q *quarantine) checkSizes() error {
	var sum int64
	err := q.lines("sizes", func(line string) error {
		n, err := strconv.ParseInt(line, 10, 64)
		if sum += n; err != nil || sum > mostContent {
			return fmt.Errorf("its objects have more than %d GiB", mostContent>>30)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return q.lines("objects", func(line string) error {
		if len(line) > 2*q.l.Place.Hash+1+mostPath {
			return fmt.Errorf("a path in it has more than %d bytes", mostPath)
		}
		return nil
	})
}

// readCommits reads the parents of the new commits and what these have in places by which programs start, and refuses those
// that add a repository which the user's index has not.
func (q *quarantine) readCommits(s *sides) (claims []claim, err error) {
	repositories := s.ri.Repositories()
	err = q.lines("commits", func(line string) error {
		if rest, ok := strings.CutPrefix(line, "commit "); ok {
			words := strings.Fields(rest)
			q.parents[words[0]] = words[1:]
			return nil
		}
		if !strings.HasPrefix(line, ":") {
			return nil
		}
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if len(words) < 5 || words[4] == "D" {
			return nil
		}
		if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
			name = plain
		}
		if words[1] == "160000" && !repositories[name] {
			return fmt.Errorf("a commit adds a repository within the project: %s", cleanLine(name))
		}
		claims = s.claimOf(q.l, claims, claim{name, words[1], words[3]})
		return nil
	})
	return claims, err
}

// isForward says whether one commit is an ancestor of another.
func (q *quarantine) isForward(ctx context.Context, old, fresh string) bool {
	if old == fresh {
		return true
	}
	outside := false // whether the way leads to commits that the real side has
	seen := map[string]bool{}
	for queue := []string{fresh}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		if at == old {
			return true
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		parents, isNew := q.parents[at]
		outside = outside || !isNew
		queue = append(queue, parents...)
	}
	return outside && q.askForward(ctx, old, fresh)
}

// askForward has git say whether one commit is an ancestor of another.
func (q *quarantine) askForward(ctx context.Context, old, fresh string) bool {
	own := q.dir
	if own == "" {
		if err := q.begin(); err != nil {
			q.fault = err
			return false
		}
	}
	binds, list := q.l.alternates()
	err := q.l.run.Run(ctx, keeper.Job{Binds: append(binds, keeper.Bind{Source: q.dir, Target: "/job"}), Dir: "/job",
		Env:  []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + list},
		Args: keeper.GitArgs("/job/git", "merge-base", "--is-ancestor", old, fresh)})
	return err == nil
}

// install puts the pack of a quarantine where the user's git finds it.
func (q *quarantine) install() error {
	if q.dir == "" {
		return nil
	}
	from := filepath.Join(q.dir, "git", "objects", "pack")
	inside, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	to := filepath.Join(q.l.Place.Objects[0], "pack")
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, end := range []string{".pack", ".idx"} { // git reads a pack once it has an index
		for _, e := range inside {
			if path.Ext(e.Name()) != end {
				continue
			}
			if info, err := e.Info(); err != nil || end == ".pack" && info.Size() <= int64(12+q.l.Place.Hash) {
				return err // an empty one
			}
			if err := moveFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return fmt.Errorf("bringing objects out: %w", err)
			}
		}
	}
	return nil
}

// moveFile moves a file, to another file system as well, in one step for who reads it.
func moveFile(from, to string) error {
	if isThere(to) {
		return nil
	}
	fresh := filepath.Join(filepath.Dir(to), "tmp_bailiff_"+filepath.Base(to))
	if err := os.Rename(from, fresh); err != nil {
		if err := copyFile(from, fresh); err != nil {
			return errors.Join(err, os.Remove(fresh))
		}
	}
	f, err := os.Open(fresh)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o444), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
