package snapshot_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

func (w *work) take() error {
	_, err := w.Before(w.Context(), snapshot.Entry{ID: "t"}, w.mounts(), snapshot.Reach{All: true})
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
