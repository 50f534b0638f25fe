package sights_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/sights"
)

// disk has one installed program, and the files of this machine.
type disk struct{}

func (disk) Installed(name string) bool { return name == "installed" }

func (disk) Read(_ context.Context, workdir, path string, _ int) (bailiff.Content, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(workdir, path)
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return bailiff.Content{Kind: bailiff.ContentMissing}, nil
	} else if err != nil || filepath.Base(path) == "unreadable" {
		return bailiff.Content{}, errors.New("it cannot be read")
	}
	return bailiff.Content{}, nil
}

func (disk) Digest(_ context.Context, _ string, paths []string) ([]bailiff.File, error) {
	return []bailiff.File{{Path: paths[0], SHA256: "digest"}}, nil
}

func TestAProgramOfTheProjectIsKnownByWhatItWasBeforeTheFirstSession(t *testing.T) {
	t.Parallel()
	state, around := t.TempDir(), t.TempDir()
	folder := filepath.Join(around, "project")
	write(t, folder, "tracked", "untracked", "changed", "bin/git", "unreadable")
	repository(t, folder, "tracked", "changed", "bin/git")
	must(t, os.Symlink("tracked", filepath.Join(folder, "link")))
	s := open(t, state)
	programs := []string{"installed", "unheard-of", "./tracked", "./untracked", "./changed", "./missing", "./unreadable", "bin/../tracked",
		"./bin/git", "./link"}
	if got := known(t, s, folder, programs); len(got) != 2 {
		t.Errorf("before a session came known are %q, want what is installed and what is not there", got)
	}
	must(t, s.Note(filepath.Join(folder, "bin"), nil))
	write(t, folder, "brought")
	must(t, os.WriteFile(filepath.Join(folder, "changed"), []byte("\x7fELF other"), 0o700))
	git(t, folder, "add", "brought", "changed")
	must(t, s.Note(folder, []string{"~/other", "brought", "/bailiff-test-missing/x"}))
	want := []string{"installed", "./tracked", "./missing", "bin/../tracked", "./bin/git", "./link"}
	if got := known(t, s, folder, append(programs, "./brought")); !slices.Equal(got, want) {
		t.Errorf("known are %q, want %q", got, want)
	}
	if got := known(t, open(t, state), folder, append(programs, "./brought")); !slices.Equal(got, want) {
		t.Errorf("for the next run of the sidecar known are %q, want %q", got, want)
	}
	from := []string{"project/tracked", "project/brought"}
	if got := known(t, s, around, from); !slices.Equal(got, from[:1]) {
		t.Errorf("seen from the folder around it known are %q, want %q", got, from[:1])
	}
}

func TestAProjectIsNotedWithTheFolderAroundItUnlessASessionMadeIt(t *testing.T) {
	t.Parallel()
	around := t.TempDir()
	s := open(t, t.TempDir())
	was, made, inner := filepath.Join(around, "work", "was"), filepath.Join(around, "made"), filepath.Join(around, "work", "was", "inner")
	for _, folder := range []string{was, inner} {
		write(t, folder, "tracked")
		repository(t, folder, "tracked")
	}
	must(t, s.Note(t.TempDir(), []string{made + "/*"}))
	write(t, made, "tracked")
	repository(t, made, "tracked")
	for folder, want := range map[string]int{was: 1, inner: 1, made: 0} {
		must(t, s.Note(folder, nil))
		if got := known(t, s, folder, []string{"./tracked"}); len(got) != want {
			t.Errorf("of %s known are %q, want %d", folder, got, want)
		}
	}
}

func TestALinkToAnInstalledProgramIsThatOnlyUnderItsName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "*")
	for name, of := range map[string]string{"env": "env", "env3.1": "env", "git": "env"} {
		must(t, os.Symlink("/usr/bin/"+of, filepath.Join(folder, name)))
	}
	got := open(t, t.TempDir()).Look(t.Context(), folder, everything{}, disk{}, []string{"./env", "./env3.1", "./git",
		"/usr/bin/env", "$X/missing", "*/missing", `./\*`, "~nobody/missing"})
	if want := []string{"./env", "./env3.1", "/usr/bin/env"}; !slices.Equal(got.Known, want) {
		t.Errorf("known are %q, want %q", got.Known, want)
	}
}

// everything is a machine on which root installed all that it has.
type everything struct{}

func (everything) Installed(string) bool { return true }

func TestWhatCannotBeRememberedIsAFault(t *testing.T) {
	t.Parallel()
	s, err := sights.New("machine", full{})
	must(t, err)
	folder := t.TempDir()
	write(t, folder, "tracked")
	repository(t, folder, "tracked")
	if err := s.Note(folder, nil); err == nil || len(known(t, s, folder, []string{"./tracked"})) > 0 {
		t.Errorf("got %v, want a fault, and that the project declares nothing", err)
	}
}

// full has no place for entries.
type full struct{}

func (full) Keep(ledger.Project) error      { return errors.New("no space is left") }
func (full) Drop(string) error              { return nil }
func (full) All() ([]ledger.Project, error) { return nil, nil }

func TestADamagedEntryStandsForAllFolders(t *testing.T) {
	t.Parallel()
	state, folder := t.TempDir(), t.TempDir()
	must(t, open(t, state).Note(t.TempDir(), nil))
	entries, err := filepath.Glob(filepath.Join(state, "sights", "*.json"))
	must(t, err)
	for _, entry := range entries {
		must(t, os.WriteFile(entry, []byte("{"), 0o600))
	}
	write(t, folder, "tracked")
	repository(t, folder, "tracked")
	s := open(t, state)
	must(t, s.Note(folder, nil))
	if got := known(t, s, folder, []string{"./tracked"}); len(entries) == 0 || len(got) > 0 {
		t.Errorf("with %d damaged entries known are %q, want none", len(entries), got)
	}
}

func TestAnotherMachineHasNothingInstalledAndNoProject(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "tracked")
	repository(t, folder, "tracked")
	s := open(t, t.TempDir())
	must(t, s.Note(folder, nil))
	got := s.Look(t.Context(), folder, nil, disk{}, []string{"installed", "./tracked", "./missing"})
	if !slices.Equal(got.Known, []string{"./missing"}) || !got.Sought {
		t.Errorf("known are %q, want ./missing alone", got.Known)
	}
}

func known(t *testing.T, s *sights.Sights, folder string, programs []string) []string {
	t.Helper()
	ground := s.Look(t.Context(), folder, disk{}, disk{}, programs)
	if !ground.Sought || ground.Host != "machine" || len(ground.Known)+len(ground.Unknown) != len(programs) {
		t.Errorf("the look tells %+v of %q", ground, programs)
	}
	return ground.Known
}

func open(t *testing.T, dir string) *sights.Sights {
	t.Helper()
	l, err := ledger.Open(ledger.Config{StateDir: dir})
	must(t, err)
	s, err := sights.New("machine", l.Projects)
	must(t, err)
	return s
}

func write(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("\x7fELF "+name), 0o700))
	}
}

func repository(t *testing.T, dir string, tracked ...string) {
	t.Helper()
	git(t, dir, "init", "-q")
	git(t, dir, append([]string{"add"}, tracked...)...)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
