package protected_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

var patterns = []string{".git", ".git/config", ".git/hooks/", ".git/modules/*/hooks/", ".claude/", ".mcp.json", ".envrc"}

// project is a folder with a repository in it.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, `git init -q . && git remote add origin https://git.test/a.git
		echo 'export A=1' > .envrc && mkdir -p .git/modules/x/hooks`)
	return dir
}

func sh(t testing.TB, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func watch(t *testing.T, k *protected.Keeper, dir string) *protected.Watch {
	t.Helper()
	w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: patterns}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestChangesArePutBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"a new file", `echo '{}' > .mcp.json`, ".mcp.json"},
		{"a changed file", `echo 'export A=2' > .envrc`, ".envrc"},
		{"a changed file of the same size and time",
			`touch -r .envrc ref; echo 'export A=2' > .envrc; touch -r ref .envrc; rm ref`, ".envrc"},
		{"a changed mode", `chmod 777 .envrc`, ".envrc"},
		{"a removed file", `rm .envrc`, ".envrc"},
		{"a file that became a link", `mv .envrc x; ln -s x .envrc`, ".envrc"},
		{"a file that became a folder", `rm .envrc; mkdir .envrc`, ".envrc"},
		{"a file that became a pipe", `rm .envrc; mkfifo .envrc`, ".envrc"},
		{"a new folder", `mkdir -p .claude/hooks; echo x > .claude/settings.json`, ".claude"},
		{"a new link", `mkdir c; ln -s c .claude`, ".claude"},
		{"a link to nothing", `ln -s nowhere .claude`, ".claude"},
		{"a new match", `mkdir -p .git/modules/y/hooks`, ".git/modules/y/hooks"},
		{"a setting that runs a program", `git config core.fsmonitor ./x`, ".git/config"},
		{"a setting in a branch's section", `git config branch.main.x y`, ".git/config"},
		{"a program that signs", `git config user.name a; git config gpg.program ./x`, ".git/config"},
		{"a name that goes on", `git config user.name 'a\b'`, ".git/config"},
		{"a new remote", `git remote add evil https://evil.test/x`, ".git/config"},
		{"a branch that follows an address", `git config branch.main.remote https://evil.test/x`, ".git/config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			before := snapshot(t, dir)
			var k protected.Keeper
			w := watch(t, &k, dir)
			sh(t, dir, c.script)
			changes, err := w.End()
			if err != nil || len(changes) != 1 || changes[0].Path != filepath.Join(dir, c.want) {
				t.Errorf("changes %v, %v, want one of %s", changes, err, c.want)
			}
			if after := snapshot(t, dir); !slices.Equal(before, after) {
				t.Errorf("after it was put back:\n%s\nwant\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			if again, err := w.End(); len(again) > 0 || err != nil {
				t.Errorf("the second end: %v, %v", again, err)
			}
		})
	}
}

// snapshot is what protected places hold.
func snapshot(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(dir, strings.TrimSuffix(pattern, "/")))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			info, err := os.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if info.Mode().IsRegular() {
				content, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				text = string(content)
			}
			all = append(all, name+" "+info.Mode().String()+" "+text)
		}
	}
	return all
}

func TestWhatIsNotProtectedStays(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nothing":                       `true`,
		"another file":                  `echo x > main.go; mkdir -p src/.claude`,
		"the same content":              `cp .envrc x; mv x .envrc`,
		"a commit":                      `git -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m x; git branch new`,
		"who commits":                   `git config user.name "Ana B."; git config user.email a@b.test`,
		"a branch that follows another": `git config branch.new.remote origin; git config branch.new.merge refs/heads/new`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			var k protected.Keeper
			w := watch(t, &k, dir)
			sh(t, dir, script)
			if changes, err := w.End(); len(changes) > 0 || err != nil {
				t.Errorf("put back %v, %v", changes, err)
			}
		})
	}
}

func TestAMovedFolderLeavesAnEmptyPlace(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var k protected.Keeper
	w := watch(t, &k, dir)
	sh(t, dir, `mv .git/hooks h; mkdir .git/hooks; touch .git/hooks/pre-commit`)
	changes, err := w.End()
	if err != nil || len(changes) != 1 || filepath.Base(changes[0].Kept) != "hooks.refused" {
		t.Errorf("changes %v, %v", changes, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git/hooks")); !os.IsNotExist(err) {
		t.Errorf("hooks are there: %v", err)
	}
}

func TestAMovedRepositoryLeavesNothingThatRuns(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var k protected.Keeper
	w := watch(t, &k, dir)
	sh(t, dir, `mv .git real; mkdir -p fake/hooks; cp real/config fake/; git config -f fake/config core.fsmonitor ./x
		touch fake/hooks/pre-commit; ln -s fake .git`)
	changes, err := w.End()
	if err != nil || len(changes) == 0 {
		t.Errorf("changes %v, %v", changes, err)
	}
	if stat, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && !stat.IsDir() {
		t.Errorf("a link is left: %v", stat.Mode())
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || strings.Contains(string(text), "fsmonitor") {
		t.Errorf("git's settings: %s, %v", text, err)
	}
	if hooks, err := filepath.Glob(filepath.Join(dir, ".git/hooks/*[^e]")); err != nil || len(hooks) > 0 {
		t.Errorf("hooks are left: %v, %v", hooks, err)
	}
}

func TestWhatTheUserChangedBetweenCommandsStays(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var k protected.Keeper
	for _, script := range []string{`echo 'export A=3' > .envrc`, `mkdir .claude`} {
		sh(t, dir, script)
		if changes, err := watch(t, &k, dir).End(); len(changes) > 0 || err != nil {
			t.Errorf("put back %v, %v", changes, err)
		}
	}
}

func TestCommandsAtOnceHaveTheStateOfTheFirst(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var k protected.Keeper
	first := watch(t, &k, dir)
	sh(t, dir, `echo '{}' > .mcp.json`)
	if changes, err := watch(t, &k, dir).End(); len(changes) != 1 || err != nil {
		t.Errorf("at the end of the second: %v, %v", changes, err)
	}
	if changes, err := first.End(); len(changes) != 0 || err != nil {
		t.Errorf("at the end of the first: %v, %v", changes, err)
	}
}

func TestWhatCannotBeComparedIsAnError(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"too large a file": `truncate -s 2M .mcp.json`,
		"too many matches": `cd .git/modules; for i in $(seq 1100); do mkdir m$i; done`,
		"no folder":        `here=$PWD; cd ..; rm -r "$here"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := project(t)
			sh(t, dir, script)
			var k protected.Keeper
			_, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: patterns}})
			if err == nil || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want one that names %s", err, dir)
			}
		})
	}
}

func TestFoldersThatAreThere(t *testing.T) {
	t.Parallel()
	dir := project(t)
	sh(t, dir, `mkdir -p .git/hooks c; ln -s c .claude`)
	if got, want := protected.Folders(dir, patterns), []string{".git/hooks", ".git/modules/x/hooks", "c"}; !slices.Equal(got, want) {
		t.Errorf("folders %v, want %v", got, want)
	}
}
