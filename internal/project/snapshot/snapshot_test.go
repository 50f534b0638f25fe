package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// work is a project with its snapshots.
type work struct {
	testing.TB
	*snapshot.Store
	config snapshot.Config
	dir    string
	count  int
}

func open(t testing.TB, change func(*snapshot.Config)) *work {
	t.Helper()
	k, err := keeper.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &work{TB: t, dir: filepath.Join(t.TempDir(), "project"), config: snapshot.Config{Dir: t.TempDir(), Jobs: k,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
	must(t, os.Mkdir(w.dir, 0o755))
	if change != nil {
		change(&w.config)
	}
	w.Store, err = snapshot.Open(w.config)
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// reopen is what a sidecar does that starts again.
func (w *work) reopen() {
	w.Helper()
	w.Close()
	var err error
	w.Store, err = snapshot.Open(w.config)
	must(w, err)
}

// ready has the first snapshot made.
func (w *work) ready() {
	w.Helper()
	w.Prepare([]string{w.dir})
	awaittest.Until(w, "the first snapshot", func() bool { return w.Ready([]string{w.dir}) })
}

// failing are jobs of which the first one fails.
type failing struct {
	snapshot.Jobs
	runs atomic.Int32
}

func (f *failing) Run(ctx context.Context, j keeper.Job) error {
	if f.runs.Add(1) == 1 {
		return errors.New("a command is in the way")
	}
	return f.Jobs.Run(ctx, j)
}

func TestAFirstSnapshotThatFailsIsTriedAgainSoon(t *testing.T) {
	var late atomic.Int64
	jobs := &failing{}
	w := open(t, func(c *snapshot.Config) {
		jobs.Jobs, c.Jobs = c.Jobs, jobs
		c.Now = func() time.Time { return time.Unix(late.Load(), 0) }
	})
	w.Prepare([]string{w.dir})
	awaittest.Until(t, "the fault", func() bool { return jobs.runs.Load() == 1 })
	late.Store(10)
	awaittest.Until(t, "the next try", func() bool {
		w.Prepare([]string{w.dir})
		return w.Ready([]string{w.dir})
	})
}

func (w *work) mounts() []bailiff.Mount { return []bailiff.Mount{{Source: w.dir, Target: w.dir}} }

// do runs a command as the enforcer does. Its id is returned.
func (w *work) do(command string) string {
	w.Helper()
	w.count++
	e, err := w.Before(w.Context(), snapshot.Entry{ID: fmt.Sprintf("c%d", w.count), Session: "s", Text: command}, w.mounts(),
		snapshot.Reach{All: true})
	must(w, err)
	w.sh(command)
	w.After(e)
	must(w, w.Settle(w.Context(), []string{w.dir}))
	return e.ID
}

func (w *work) sh(command string) {
	w.Helper()
	c := exec.Command("bash", "-c", command)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b")
	if out, err := c.CombinedOutput(); err != nil {
		w.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (w *work) undo(id string, force bool, paths ...string) snapshot.Undone {
	w.Helper()
	w.count++
	done, err := w.Undo(w.Context(), id, paths, force, snapshot.Entry{ID: fmt.Sprintf("u%d", w.count), Text: "undo"})
	must(w, err)
	return done
}

// files are all of the project with mode and content.
func (w *work) files() map[string]string {
	w.Helper()
	all := map[string]string{}
	must(w, filepath.WalkDir(w.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, _ := filepath.Rel(w.dir, at)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			text, err = os.Readlink(at)
		} else if info.Mode().IsRegular() {
			var bytes []byte
			bytes, err = os.ReadFile(at)
			text = string(bytes)
		}
		all[name] = info.Mode().String() + " " + text
		return err
	}))
	return all
}

func (w *work) same(want map[string]string) {
	w.Helper()
	is := w.files()
	for name, what := range want {
		if is[name] != what {
			w.Errorf("%s is %.60q, was %.60q", name, is[name], what)
		}
	}
	for name := range is {
		if _, was := want[name]; !was {
			w.Errorf("%s was not there", name)
		}
	}
}

// changes are what a command changed, a word each.
func (w *work) changes(id string) string {
	w.Helper()
	e, err := w.Find(w.Context(), id)
	must(w, err)
	all, err := w.Changes(w.Context(), e)
	must(w, err)
	var said []string
	for _, c := range all[0] {
		said = append(said, fmt.Sprintf("%s %s +%d -%d", c.Kind, c.Path, c.Added, c.Removed))
	}
	return strings.Join(said, ", ")
}

const fill = `
printf 'one\ntwo\n' > a.txt; printf 'a\r\nb\r\n' > crlf.txt; printf '\0\1\2' > binary
mkdir -p src/deep 'a b'; echo x > src/x.go; echo y > src/deep/y.go; echo z > 'a b/ü
n'; echo run > run.sh; chmod 755 run.sh; echo s > .env; chmod 600 .env; echo r > read-only; chmod 444 read-only
ln -s a.txt link; ln -s /nowhere dangling
printf '.env\nbuilt/\n*.log\n' > .gitignore; mkdir built; echo b > built/b; echo l > one.log
echo '* text=auto eol=lf filter=evil' > .gitattributes`

func TestADeletedProjectIsBackAsItWas(t *testing.T) {
	for _, kind := range []string{"plain folder", "repository"} {
		t.Run(kind, func(t *testing.T) {
			w := open(t, nil)
			w.sh(fill)
			if kind == "repository" {
				w.sh("git init -q . && git add -A && git commit -qm one && echo staged >> a.txt && git add a.txt && echo more >> a.txt")
			}
			was := w.files()
			w.ready()
			id := w.do("shopt -s dotglob; for f in *; do case $f in .git) ;; *) rm -rf \"$f\";; esac; done; mkdir a.txt")
			done := w.undo(id, false)
			if len(done.Failed)+len(done.Changed) > 0 {
				t.Errorf("not back: %q %q", done.Failed, done.Changed)
			}
			w.same(was)
			w.undo(done.Entry.ID, false)
			w.same(map[string]string{})
		})
	}
}

func TestChangesAreTold(t *testing.T) {
	w := open(t, nil)
	w.sh(fill)
	w.ready()
	second := time.Now().Unix() // by which git sees a change of permissions
	awaittest.Until(t, "the next second", func() bool { return time.Now().Unix() != second })
	id := w.do("echo three >> a.txt; rm src/x.go; echo n > new; chmod 600 crlf.txt; echo t >> .env; : > binary; touch run.sh")
	want := "changed .env +1 -0, changed a.txt +1 -0, changed binary +-1 --1, " +
		"permissions crlf.txt +0 -0, added new +1 -0, deleted src/x.go +0 -1"
	if is := w.changes(id); is != want {
		t.Errorf("changes are %s", is)
	}
	e, err := w.Find(t.Context(), id)
	must(t, err)
	patch, isCut, err := w.Patch(t.Context(), e)
	must(t, err)
	if isCut || !strings.Contains(patch, "+three") || strings.Contains(patch, "+t\n") {
		t.Errorf("the patch is\n%s", patch)
	}
	w.undo(id, false, "crlf.txt", "src")
	if is := w.files(); !strings.HasPrefix(is["crlf.txt"], "-rw-r--r--") || is["src/x.go"] == "" || is["new"] == "" {
		t.Errorf("of two paths is back: %q", is)
	}
}

func TestWhatChangedSinceIsLeft(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a; echo 1 > b; echo 1 > c")
	w.ready()
	id := w.do("echo 2 > a; echo 2 > b; rm c")
	w.sh("echo mine > a; echo 1 > c")
	done := w.undo(id, false)
	if !slices.Equal(done.Changed, []string{"a"}) || !slices.Equal(done.Restored, []string{"b"}) {
		t.Errorf("left %q, back %q", done.Changed, done.Restored)
	}
	w.undo(id, true)
	if is := w.files(); !strings.HasSuffix(is["a"], " 1\n") {
		t.Errorf("with force a is %q", is["a"])
	}
	w.undo("u3", false) // the undoing with force
	if is := w.files(); !strings.HasSuffix(is["a"], " mine\n") {
		t.Errorf("undone again a is %q", is["a"])
	}
}

func TestWhatIsNotKeptIsNamedAndGetsNoPromise(t *testing.T) {
	w := open(t, nil)
	w.sh(`git init -q .; git init -q sub; echo x > sub/x; printf 'big/\n' > .gitignore; mkdir big
for i in $(seq 201); do echo > big/$i; done; mkfifo pipe; echo x > src`)
	w.ready()
	for _, test := range []struct {
		paths []string
		all   bool
		git   bool
		lacks string
	}{
		{[]string{"/src"}, true, false, ""},
		{[]string{"/other/**"}, true, false, ""},
		{[]string{"/big"}, true, false, "big"},
		{[]string{"/big/7"}, true, false, "big"},
		{[]string{"/b*"}, true, false, "big"},
		{[]string{""}, true, false, ".git"},
		{[]string{"/sub/x"}, true, false, "sub"},
		{nil, true, true, "sub"},
		{nil, false, false, ".git"},
	} {
		paths := slices.Clone(test.paths)
		for i := range paths {
			paths[i] = w.dir + paths[i]
		}
		_, err := w.Before(t.Context(), snapshot.Entry{ID: "x"}, w.mounts(), snapshot.Reach{Paths: paths, All: test.all, Git: test.git})
		if is := errors.Is(err, snapshot.ErrUnkept); is != (test.lacks != "") || is && !strings.Contains(err.Error(), test.lacks) {
			t.Errorf("%q, all %v, git %v: %v", test.paths, test.all, test.git, err)
		}
	}
}

func TestAFullStorePromisesNothingAndGivesNothingUp(t *testing.T) {
	w := open(t, func(c *snapshot.Config) { c.MaxBytes = 1 << 20 })
	w.sh("head -c 300000 /dev/urandom > a")
	w.ready()
	var last error
	for i := range 10 {
		w.sh("head -c 300000 /dev/urandom > a")
		e, err := w.Before(t.Context(), snapshot.Entry{ID: fmt.Sprint("f", i)}, w.mounts(), snapshot.Reach{All: true})
		if last = err; err != nil {
			break
		}
		w.After(e)
		must(t, w.Settle(t.Context(), []string{w.dir}))
	}
	if !errors.Is(last, snapshot.ErrFull) {
		t.Fatalf("the store takes more than it may: %v", last)
	}
	w.reopen()
	if all := w.Entries(""); len(all) == 0 {
		t.Error("what was promised is gone")
	}
	w.undo("f0", true)
}

func TestOldSnapshotsMakeRoom(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	w := open(t, func(c *snapshot.Config) { c.MaxBytes, c.Now = 1<<20, clock })
	w.sh("echo kept > b")
	w.ready()
	w.sh("head -c 900000 /dev/urandom > a")
	w.do("rm a")
	if w.sh("head -c 900000 /dev/urandom > a"); w.take() == nil {
		t.Fatal("there is room for two")
	}
	mu.Lock()
	now = now.Add(snapshot.Lasting + time.Hour)
	mu.Unlock()
	w.reopen()
	w.sh("rm a; head -c 500000 /dev/urandom > a")
	awaittest.Until(t, "a snapshot, which is made beside the work", func() bool { return w.take() == nil })
	id := w.do("rm b")
	w.undo(id, false)
	if is := w.files(); !strings.HasSuffix(is["b"], "kept\n") {
		t.Error("what was never old is gone with it")
	}
}

func (w *work) take() error {
	_, err := w.Before(w.Context(), snapshot.Entry{ID: "t"}, w.mounts(), snapshot.Reach{All: true})
	return err
}

// racing replaces a file by a link to a secret while a snapshot is taken.
type racing struct {
	*keeper.Keeper
	before func()
}

func (r *racing) Run(ctx context.Context, j keeper.Job) error {
	if r.before != nil {
		r.before()
	}
	return r.Keeper.Run(ctx, j)
}

func TestAPathThatBecomesALinkLeadsNowhere(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("the secret of the host"), 0o600))
	var r *racing
	w := open(t, func(c *snapshot.Config) {
		k, _ := c.Jobs.(*keeper.Keeper)
		r = &racing{Keeper: k}
		c.Jobs = r
	})
	w.sh("echo x > a; mkdir d; echo y > d/secret")
	w.ready()
	for _, swap := range []string{"ln -sfn " + secret + " a", "rm -r d; ln -s " + filepath.Dir(secret) + " d"} {
		w.sh("rm -rf a d; mkdir d; echo x2 > a; echo y2 > d/secret")
		jobs := 0
		r.before = func() {
			if jobs++; jobs == 2 { // what to take is chosen
				w.sh(swap)
			}
		}
		_ = w.take()
		r.before = nil
	}
	must(t, filepath.WalkDir(w.config.Dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(at)
			if strings.Contains(string(text), "the secret of") {
				t.Errorf("%s has the secret", at)
			}
		}
		return err
	}))
}

// Of a folder that git ignores, git lists nothing where the last snapshot has a file of its name.
func TestAnIgnoredFolderInAFilesPlaceIsUndone(t *testing.T) {
	t.Parallel()
	w := open(t, nil)
	w.sh("git init -q . && echo a > a.txt")
	w.ready()
	was := w.files()
	id := w.do("echo '*' > .gitignore; rm a.txt; mkdir -p a.txt/b; echo c > a.txt/b/c")
	if done := w.undo(id, false); len(done.Failed) > 0 {
		t.Errorf("it fails at %q", done.Failed)
	}
	w.same(was)
}

// TestRandomDestructionIsUndone has each file of the project back after random commands, one to four at a time. CI runs thirty.
func TestRandomDestructionIsUndone(t *testing.T) {
	t.Parallel()
	rounds := 12
	if os.Getenv("BAILIFF_TEST_ALL") != "" {
		rounds = 1000
	}
	w := open(t, nil)
	w.sh("git init -q .")
	w.ready()
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		w.sh(fill + " 2>/dev/null || true")
		was := w.files()
		var script []string
		for range 1 + random.IntN(4) {
			if random.IntN(2) == 0 {
				script = append(script, deletion(random, was))
				continue
			}
			script = append(script, destruction[random.IntN(len(destruction))])
		}
		command := "{ " + strings.Join(script, "; ") + "; } 2>/dev/null || true"
		id := w.do(command)
		done := w.undo(id, false)
		w.same(was)
		if len(done.Failed) > 0 || w.Failed() {
			t.Fatalf("%s: %q", command, done.Failed)
		}
	}
}

var destruction = []string{
	"rm -rf src", "rm -f *", "git clean -fdq", "find . -name '*.go' -delete", "rm -rf 'a b' built .env", "mv src built/src",
	"mv a.txt src/x.go", "rm -rf src; ln -s built src", "rm -f a.txt; mkdir -p a.txt/b; echo c > a.txt/b/c", "chmod 755 crlf.txt",
	"ln -sf b.txt link", "rm link; echo plain > link", "truncate -s 1 binary", "cp run.sh read-only -f", "echo '*' > .gitignore",
	"rm -f .gitignore .gitattributes", "for f in src/*; do echo gone > \"$f\"; done", "rm -rf built; echo file > built",
	"mkdir -p x/y/z; echo n > x/y/z/n",
}

// deletion deletes a file by lot, or a folder above it.
func deletion(random *rand.Rand, files map[string]string) string {
	names := slices.Sorted(maps.Keys(files))
	name := names[random.IntN(len(names))]
	if dir := filepath.Dir(name); dir != "." && random.IntN(2) == 0 {
		name = dir
	}
	return "rm -rf -- '" + name + "'"
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is damaged of the last snapshot is made anew from the files, with their permissions; what commands before it changed stays undoable.
func TestADamagedStoreIsBegunAnew(t *testing.T) {
	for _, name := range []string{"state.json", "repo/files", "repo/in/modes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, nil)
			w.sh("echo '*.log' > .gitignore; echo l > x.log; echo 1 > a; echo 1 > b; echo 1 > c; chmod 600 *")
			w.ready()
			was := w.files()
			first := w.do("rm a")
			at, err := filepath.Glob(filepath.Join(w.config.Dir, "folders", "*", name))
			if err != nil || len(at) != 1 {
				t.Fatalf("the files are %q, %v", at, err)
			}
			must(t, os.WriteFile(at[0], []byte("damaged"), 0o600))
			w.reopen()
			if w.take() != nil {
				w.ready()
			}
			second := w.do("rm b x.log; chmod 644 c")
			for _, id := range []string{second, first} {
				if done := w.undo(id, false); len(done.Failed)+len(done.Changed) > 0 {
					t.Errorf("not back: %q %q", done.Failed, done.Changed)
				}
			}
			w.same(was)
		})
	}
}

func TestACommandWhoseEntryOrContentIsDamagedIsNotUndone(t *testing.T) {
	w := open(t, nil)
	w.sh("echo 1 > a; echo 2 > b")
	w.ready()
	first, second := w.do("rm a"), w.do("rm b")
	must(t, os.WriteFile(filepath.Join(w.config.Dir, "commands", first+".json"), []byte("damaged"), 0o600))
	objects, err := filepath.Glob(filepath.Join(w.config.Dir, "folders", "*", "repo", "objects", "0c", "*"))
	if err != nil || len(objects) != 1 { // of "2\n"
		t.Fatalf("the objects are %q, %v", objects, err)
	}
	must(t, os.Chmod(objects[0], 0o600))
	must(t, os.WriteFile(objects[0], []byte("damaged"), 0o600))
	w.reopen()
	if _, err := w.Find(t.Context(), first); !errors.Is(err, snapshot.ErrUnknown) {
		t.Errorf("the damaged entry: %v", err)
	}
	if done, err := w.Undo(t.Context(), second, nil, false, snapshot.Entry{ID: "u"}); err == nil {
		t.Errorf("without its content %q is back", done.Restored)
	}
	if len(w.files()) > 0 {
		t.Errorf("there is %q", w.files())
	}
}

func TestAnUndoingFollowsNoLink(t *testing.T) {
	w := open(t, nil)
	w.sh("mkdir d; echo was > d/f; mkdir .vscode; echo own > .vscode/f")
	w.ready()
	id := w.do("rm -r d")
	w.sh("ln -s .vscode d")
	done := w.undo(id, true)
	if len(done.Failed) != 1 || !strings.Contains(done.Failed[0], "d is no folder any more") {
		t.Errorf("it fails with %q", done.Failed)
	}
	if is := w.files(); !strings.HasSuffix(is[".vscode/f"], "own\n") {
		t.Errorf("a link led an undoing to %q", is[".vscode/f"])
	}
}

// BenchmarkASnapshot is of a repository in which one file changed, with the files that BAILIFF_BENCH_FILES says.
func BenchmarkASnapshot(b *testing.B) {
	files := 2400
	if n, err := strconv.Atoi(os.Getenv("BAILIFF_BENCH_FILES")); err == nil {
		files = n
	}
	w := open(b, nil)
	text := []byte(strings.Repeat("a line of text\n", 100))
	for i := range files {
		dir := filepath.Join(w.dir, fmt.Sprint("d", i/480), fmt.Sprint("e", i/12))
		must(b, os.MkdirAll(dir, 0o755))
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), append([]byte(fmt.Sprintln(i)), text...), 0o644))
	}
	before := children(b)
	w.ready()
	must(b, w.Settle(b.Context(), []string{w.dir}))
	first := children(b) - before
	before = children(b)
	for i := 0; b.Loop(); i++ {
		must(b, os.WriteFile(filepath.Join(w.dir, "d0", "e0", "f0"), fmt.Appendln(nil, i, w.count), 0o644))
		w.count++
		must(b, w.take())
	}
	b.ReportMetric(float64((children(b)-before)/time.Millisecond)/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(first/time.Millisecond), "first-cpu-ms")
}

// children is the CPU time of this process and of programs that it started and that ended, none of which may run. Bubblewrap does
// not wait for what runs inside, which is left to this process as its reaper.
func children(b *testing.B) (sum time.Duration) {
	must(b, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			break
		} else if err != nil && err != syscall.EINTR {
			b.Fatal(err)
		}
	}
	for _, who := range []int{syscall.RUSAGE_CHILDREN, syscall.RUSAGE_SELF} {
		var used syscall.Rusage
		_ = syscall.Getrusage(who, &used)
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}
