package snapshot_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
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

	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

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

// Files that come together are kept in one pack, which is written anew once most of them are old.
func TestManyFilesTakeOnePackThatIsNotKeptForAFewOfThem(t *testing.T) {
	t.Parallel()
	var late atomic.Int64
	w := open(t, func(c *snapshot.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	})
	w.sh("mkdir d; for i in $(seq 210); do echo $i >d/$i; done; echo kept > b")
	w.ready()
	packs := func() []string {
		all, err := filepath.Glob(filepath.Join(w.config.Dir, "folders", "*", "repo", "objects", "pack", "*.pack"))
		must(t, err)
		return all
	}
	first := packs()
	if len(first) != 1 {
		t.Fatalf("the packs are %q", first)
	}
	was := w.files()
	w.undo(w.do("rm -r d"), false)
	w.same(was)
	w.do("rm -r d")
	late.Store(int64(snapshot.Lasting + time.Hour))
	w.reopen()
	awaittest.Until(t, "another pack", func() bool { all := packs(); return len(all) == 1 && all[0] != first[0] })
	w.undo(w.do("rm b"), false)
	if is := w.files(); len(is) != 1 || !strings.HasSuffix(is["b"], "kept\n") {
		t.Errorf("it has %d files", len(is))
	}
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

// TestRandomDestructionIsUndone has each file of a project back after random commands, one to four at a time. With BAILIFF_TEST_ALL
// there are 1,000 rounds, in four projects.
func TestRandomDestructionIsUndone(t *testing.T) {
	projects, rounds := 1, 12
	if os.Getenv("BAILIFF_TEST_ALL") != "" {
		projects, rounds = 4, 250
	}
	for project := range projects {
		t.Run(strconv.Itoa(project), func(t *testing.T) {
			t.Parallel()
			destroyAndUndo(t, rand.New(rand.NewPCG(1, uint64(2+project))), rounds)
		})
	}
}

func destroyAndUndo(t *testing.T, random *rand.Rand, rounds int) {
	w := open(t, nil)
	w.sh("git init -q .")
	w.ready()
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
