package protected_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

var anywhere = []string{".git", ".git/config", "**/.git", "**/.npmrc", "**/.vscode/tasks.json", "**/*.code-workspace", ".vscode/"}

func watchAnywhere(t *testing.T, k *protected.Keeper, dir string) *protected.Watch {
	t.Helper()
	w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: anywhere}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// packages is a project with packages of its own and of others.
func packages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, `git init -q . && mkdir -p a/b old node_modules/x && echo a=1 > a/.npmrc && echo o=1 > old/.npmrc && echo x > a/b/f`)
	return dir
}

func TestFilesThatCountInEachFolderArePutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"a new file":                  {`echo evil=1 > a/b/.npmrc`, "a/b/.npmrc"},
		"in a new folder":             {`mkdir -p c/d/e; echo evil=1 > c/d/e/.npmrc`, "c/d/e/.npmrc"},
		"at the top":                  {`echo evil=1 > .npmrc`, ".npmrc"},
		"changed":                     {`echo evil=1 > a/.npmrc`, "a/.npmrc"},
		"changed in its place":        {`printf 'e=1' | dd of=a/.npmrc conv=notrunc status=none`, "a/.npmrc"},
		"made to run":                 {`chmod 755 a/.npmrc`, "a/.npmrc"},
		"removed":                     {`rm a/.npmrc`, "a/.npmrc"},
		"by a link":                   {`echo evil=1 > x; ln -s ../../x a/b/.npmrc`, "a/b/.npmrc"},
		"by a hard link":              {`echo evil=1 > x; ln x a/b/.npmrc`, "a/b/.npmrc"},
		"by a second name":            {`ln a/.npmrc a/b/x`, "a/.npmrc"},
		"moved there":                 {`echo evil=1 > x; mv x a/b/.npmrc`, "a/b/.npmrc"},
		"in a folder that is moved":   {`mkdir x; echo evil=1 > x/.npmrc; mv x a/b/y`, "a/b/y/.npmrc"},
		"by its folder":               {`mkdir a/.vscode; echo '{}' > a/.vscode/tasks.json`, "a/.vscode/tasks.json"},
		"by a folder that is renamed": {`mkdir a/x; echo '{}' > a/x/tasks.json; mv a/x a/.vscode`, "a/.vscode/tasks.json"},
		"by a link to its folder":     {`mkdir x; echo '{}' > x/tasks.json; ln -s ../x a/.vscode`, "a/.vscode"},
		"by the end of its name":      {`echo '{}' > a/b/x.code-workspace`, "a/b/x.code-workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := packages(t)
			var k protected.Keeper
			before := ""
			for _, step := range []string{"true", c.script} { // the second time what was heard since the first counts
				w := watchAnywhere(t, &k, dir)
				sh(t, dir, step)
				changes, err := w.End()
				if step != c.script {
					before = settings(t, dir)
					continue
				}
				if err != nil || len(changes) != 1 || changes[0].Path != filepath.Join(dir, c.want) {
					t.Errorf("changes %v, %v, want one of %s", changes, err, c.want)
				}
			}
			if after := settings(t, dir); after != before {
				t.Errorf("there is\n%swant\n%s", after, before)
			}
			if again, err := watchAnywhere(t, &k, dir).End(); len(again) > 0 || err != nil {
				t.Errorf("the next command: %v, %v", again, err)
			}
		})
	}
}

// settings are the files of a project that count.
func settings(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		base := filepath.Base(name)
		if err == nil && (base == ".npmrc" || base == "tasks.json" && strings.HasSuffix(filepath.Dir(name), ".vscode") ||
			strings.HasSuffix(base, ".code-workspace")) {
			text, _ := os.ReadFile(name)
			fmt.Fprintf(&all, "%s %s %q\n", strings.TrimPrefix(name, dir), d.Type(), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestWhatEverydayWorkDoesWithFilesOfEachFolderStays(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string][]string{
		"a package is copied and goes": {`cp -r a c`, `rm -r c`},
		"a package is moved":           {`mv a d`, `mv d/b e`},
		"packages are installed": {`echo x > node_modules/x/.npmrc; mkdir -p node_modules/y/.vscode
			echo x > node_modules/y/.vscode/tasks.json`},
		"a worktree in the folder": {`mkdir wt; cp a/.npmrc wt/`},
		"names that are alike": {`echo x > a/npmrc; echo x > a/tasks.json; mkdir -p a/vscode/.npmrc
			echo x > a/x.npmrc; echo x > code-workspace`},
		"much is built": {`mkdir -p build/x/y; for i in 1 2 3 4 5 6 7 8 9; do echo x > build/x/y/$i.o; done; echo x > a/b/new.go`,
			`rm -r build`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := packages(t)
			var k protected.Keeper
			for _, script := range append([]string{"true"}, scripts...) {
				w := watchAnywhere(t, &k, dir)
				sh(t, dir, script)
				if changes, err := w.Look(); len(changes) > 0 || err != nil {
					t.Errorf("after %q a look put back %v, %v", script, changes, err)
				}
				if changes, err := w.End(); len(changes) > 0 || err != nil {
					t.Errorf("after %q is put back %v, %v", script, changes, err)
				}
			}
		})
	}
}

// Where more comes and goes than the kernel tells of, the whole folder is walked through.
func TestWhatTheKernelDoesNotTellIsFoundByAWalk(t *testing.T) {
	t.Parallel()
	dir := packages(t)
	var k protected.Keeper
	if _, err := watchAnywhere(t, &k, dir).End(); err != nil {
		t.Fatal(err)
	}
	w := watchAnywhere(t, &k, dir)
	for i := range 9_000 { // of 16,384 names at most it tells
		name := filepath.Join(dir, "a/b", fmt.Sprint(i))
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Remove(name)); err != nil {
			t.Fatal(err)
		}
	}
	sh(t, dir, `echo evil=1 > a/b/.npmrc`)
	changes, err := w.End()
	if err != nil || len(changes) != 1 {
		t.Errorf("changes %v, %v", changes, err)
	}
}

func TestAFaultInOneFolderHidesNoOther(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"too deep":       `mkdir -p a/$(printf 'd/%.0s' $(seq 130))`,
		"too many names": `mkdir -p a/objects a/refs a/hooks; touch a/HEAD; cd a/hooks; seq 1001 | xargs touch`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sh(t, dir, "git init -q .")
			var k protected.Keeper
			w := watchAnywhere(t, &k, dir)
			sh(t, dir, script)
			sh(t, dir, "mkdir z; echo evil=1 > z/.npmrc; git init -q zz; git -C zz config core.fsmonitor evil")
			if _, err := w.End(); err == nil {
				t.Error("the fault is not told")
			}
			sh(t, dir, "test ! -e z/.npmrc; ! grep evil zz/.git/config")
		})
	}
}
