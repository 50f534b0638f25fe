package carry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/private"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// world is a project of a user's with a sandbox on it.
type world struct {
	testing.TB
	dir, state string
	link       *Link
	protection Protection
}

// start makes a project with one commit of two files.
func start(t testing.TB, setup ...string) *world {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = User\n\temail = user@example.com\n[init]\n\tdefaultBranch = main\n"+
		"[protocol \"file\"]\n\tallow = always\n")
	w := &world{TB: t, dir: filepath.Join(t.TempDir(), "project"), state: t.TempDir()}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if len(setup) == 0 {
		setup = []string{"git init -q; echo one >a; echo two >b; git add .; git commit -qm first"}
	}
	for _, text := range setup {
		w.outside(text)
	}
	w.open()
	return w
}

// open opens the link, as a sidecar does that starts.
func (w *world) open() {
	w.Helper()
	w.link = w.openAt(w.dir)
}

func (w *world) openAt(dir string) *Link {
	w.Helper()
	place, err := repository.PlaceOf(dir)
	if err != nil {
		w.Fatal(err)
	}
	k, err := keeper.New()
	if err != nil {
		w.Fatal(err)
	}
	link, err := Open(w.Context(), private.Of(place, w.state, private.User(me())), k)
	if err != nil {
		w.Fatal(err)
	}
	return link
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// outside runs a script of the user's, which must end well.
func (w *world) outside(script string) string {
	w.Helper()
	out, err := w.try(script)
	if err != nil {
		w.Fatalf("outside: %s: %v\n%s", script, err, out)
	}
	return out
}

func (w *world) try(script string) (string, error) {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// run runs a script in a sandbox on the project, between bringing in and out, and is what was told.
func (w *world) run(script string) (told string) {
	w.Helper()
	in, err := w.link.In(w.Context(), w.protection)
	if err != nil {
		w.Fatal(err)
	}
	w.inside(script)
	out, err := w.link.Out(w.Context(), "request 1", w.protection)
	if err != nil {
		w.Fatal(err)
	}
	return strings.Join(append(in, out...), "\n")
}

// inside runs a script in a sandbox on the project, and lets it fail.
func (w *world) inside(script string) string {
	w.Helper()
	return w.show(w.dir, w.link.Mounts(w.dir), script)
}

// want compares what a script of the user's says.
func (w *world) want(script, said string) {
	w.Helper()
	if out := w.outside(script); out != said {
		w.Errorf("outside, %s says\n%s\nwant\n%s", script, out, said)
	}
}

func (w *world) told(told, part string) {
	w.Helper()
	if part == "" && told != "" || !strings.Contains(told, part) {
		w.Errorf("it told %q, want %q", told, part)
	}
}
