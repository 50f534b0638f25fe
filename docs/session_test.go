package docs_test

import (
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
	"sync"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// session is a fresh copy of the repository in which a reader types what one
// page says, block after block, into one shell.
type session struct {
	folder   string
	reader   *apptest.User // nil means the tests' own user
	database string        // its connection string, where the page wants one
}

// parts says what a copy has besides what each page needs: Go's files and those of its tests, most of it all; and all tests of the
// shipped policies, which are part of bailiff where it is compiled. These take longer each time than what a page is about, and pass
// elsewhere: "make policies" runs them as a page does, TestEditsOfTablesThatAreShownPassTheTests has them pass before policies come
// into force.
type parts struct{ code, policyTests bool }

// fewTests are those that a copy has anyhow, since policies without tests do not come into force, and what they call.
var fewTests = []string{"policies/backups_test.rego", "policies/requests_test.rego"}

func (p parts) lack(place string, isFolder bool) bool {
	if strings.HasPrefix(place, "policies/") && strings.HasSuffix(place, "_test.rego") {
		return !p.policyTests && !slices.Contains(fewTests, place)
	}
	return !p.code && (isFolder && filepath.Base(place) == "testdata" || strings.HasSuffix(place, ".go"))
}

// newSession makes a copy with parts of the repository. Its reader is an ordinary
// user without control groups, who may use the engine, or the tests' own user.
func newSession(t *testing.T, with parts, ordinary bool) session {
	t.Helper()
	backendtest.Starts(t)
	folder, err := os.MkdirTemp("", "docs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := session{folder: folder}
	if err := s.clone(with); err != nil {
		t.Fatal(err)
	}
	if ordinary {
		s.reader = apptest.NewUser(t, "docker")
		s.reader.Own(t, folder)
	}
	return s
}

func (s session) clone(with parts) error {
	if err := os.Chmod(s.folder, 0o711); err != nil { // sandboxes of another user are below
		return err
	}
	if err := os.Mkdir(s.home(), 0o700); err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		place, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{".git", "bin"}, place) || with.lack(place, true)):
			return fs.SkipDir
		case !entry.IsDir() && with.lack(place, false):
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(s.work(), place), 0o755)
		case entry.Type() == fs.ModeSymlink:
			return relink(path, filepath.Join(s.work(), place))
		case !entry.Type().IsRegular():
			return nil
		}
		return duplicate(path, filepath.Join(s.work(), place))
	})
}

func relink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	return os.Symlink(target, to)
}

func duplicate(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	about, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, about.Mode().Perm()&^0o022)
}

func (s session) work() string { return filepath.Join(s.folder, "bailiff") }
func (s session) home() string { return filepath.Join(s.folder, "home") }

// install puts the programs where "make" puts them.
func (s session) install(t *testing.T) {
	t.Helper()
	bin := filepath.Join(s.work(), "bin")
	programs, err := os.ReadDir(apptest.Programs(t))
	err = errors.Join(err, os.Mkdir(bin, 0o755))
	for _, program := range programs {
		err = errors.Join(err, os.Link(filepath.Join(apptest.Programs(t), program.Name()), filepath.Join(bin, program.Name())))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// installClients puts the clients from npm where "npm install" does.
func (s session) installClients(t *testing.T) {
	t.Helper()
	modules := filepath.Join(apptest.Clients(t), "node_modules")
	if err := os.Symlink(modules, filepath.Join(s.work(), "node_modules")); err != nil {
		t.Fatal(err)
	}
}

// run types the blocks and returns what they printed. What they left running in
// the background is stopped.
func (s session) run(t *testing.T, name string, blocks []block) (printed string, err error) {
	t.Helper()
	output, err := os.Create(filepath.Join(s.folder, "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	shell := exec.CommandContext(awaittest.Context(t), "bash", "-eu", "-c", script(name, blocks))
	shell.Dir, shell.Env = s.work(), s.environment(t)
	shell.Stdout, shell.Stderr = output, output
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.reader != nil {
		s.reader.Run(shell)
	}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	err = shell.Run()
	text, _ := os.ReadFile(output.Name())
	said, _ := os.ReadFile(filepath.Join(s.work(), "sidecar.log")) // which a page that waits for its sidecar does not show
	return string(text) + string(said), err
}

// script says before each block where it stands, for whoever must repair it.
func script(name string, blocks []block) string {
	text := "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n"
	for _, b := range blocks {
		text += fmt.Sprintf("echo '== %s:%d'\n%s", name, b.line, b.text)
	}
	return text
}

// environment is a reader's, without settings of this test's own run, and without
// any program that a page does not say how to come by. Programs are not stamped with a
// version: the copy of the tree is no repository, and a folder above it may look like one,
// since some sandboxes leave an empty ".git" in the folder for temporary files.
func (s session) environment(t *testing.T) []string {
	t.Helper()
	env := []string{"HOME=" + s.home(), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	if s.database != "" {
		env = append(env, "DATABASE_URL="+s.database)
	}
	for _, name := range slices.Sorted(maps.Keys(goEnvironment(t))) {
		value := goEnvironment(t)[name]
		if name == "GOFLAGS" {
			value = strings.TrimSpace(value + " -buildvcs=false")
		}
		env = append(env, name+"="+value)
	}
	return env
}

// goEnvironment are the settings of Go that a reader shares with the tests.
func goEnvironment(t *testing.T) (values map[string]string) {
	t.Helper()
	text, err := askedGo.environment()
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		t.Fatalf("asking go for its settings: %v", err)
	}
	return values
}

// askedGo is asked once for all pages, which takes it a second together.
var askedGo = struct{ environment, opa func() ([]byte, error) }{
	environment: sync.OnceValues(exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GONOSUMDB",
		"GOFLAGS", "GOTOOLCHAIN").Output),
	opa: sync.OnceValues(exec.Command("go", "tool", "-n", "opa").Output),
}

// stockOPA is the path of OPA's own command.
func stockOPA(t *testing.T) string {
	t.Helper()
	path, err := askedGo.opa()
	if err != nil {
		t.Fatalf("asking go for opa: %v", err)
	}
	return strings.TrimSpace(string(path))
}

// output is what a program prints that must not fail.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = root
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	return string(printed)
}
