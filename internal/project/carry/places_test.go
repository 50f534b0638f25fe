package carry

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/project/nested"
)

// sandbox is a command in a folder with all of its repositories, as the enforcer runs it.
func (w *world) sandbox(r *Repositories, dir, script string) (said, told string) {
	w.Helper()
	own := r.Mounts(dir, dir, me())
	if len(own) == 0 {
		w.Fatal("there is no private directory")
	}
	watch := r.Watch(own, "r", nil)
	if err := watch.Begin(w.Context()); err != nil {
		w.Fatal(err)
	}
	said = w.show(dir, own, script)
	if err := watch.Look(w.Context()); err != nil {
		w.Fatal(err)
	}
	return said, strings.Join(watch.Told(), "\n")
}

func me() backends.User {
	return backends.User{UID: os.Getuid(), GID: os.Getgid(), InsideUID: os.Getuid(), InsideGID: os.Getgid()}
}

func (w *world) repositories() *Repositories {
	w.Helper()
	k, err := keeper.New()
	if err != nil {
		w.Fatal(err)
	}
	return New(w.state, k, slog.New(slog.DiscardHandler))
}

// show runs a script in a sandbox that shows a folder and those of the sidecar's own.
func (w *world) show(dir string, own []bailiff.Mount, script string) string {
	w.Helper()
	args := []string{"--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink",
		"usr/lib",
		"/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", dir, dir,
		"--chdir", dir,
		"--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--ro-bind-try", "/etc/alternatives",
		"/etc/alternatives"}
	for _, m := range own {
		option := "--bind"
		if m.ReadOnly {
			option = "--ro-bind"
		}
		args = append(args, option, m.Source, m.Target)
	}
	out, err := exec.Command("bwrap", append(args, "sh", "-c", script)...).CombinedOutput()
	w.Logf("inside: %s: %v\n%s", script, err, out)
	return strings.TrimSpace(string(out))
}

const twoFiles = "git init -q; echo one >a; echo two >b; git add .; git commit -qm first"

func TestALinkedWorkingFolderCommitsToItsOwnBranch(t *testing.T) {
	w := start(t, twoFiles, "git worktree add -q ../linked; git worktree add -q inner; echo inner >.git/info/exclude")
	r := w.repositories()
	linked := filepath.Join(filepath.Dir(w.dir), "linked")
	said, told := w.sandbox(r, linked, "echo l >>a; git commit -qam linked; git status --short; git branch --show-current; git "+
		"update-ref refs/heads/main HEAD")
	w.told(said, "linked")
	w.told(told, "main is what another working folder stands on: yours stays, and what was committed here is on the branch bailiff/main-")
	w.want("git log --format=%s linked --; git -C ../linked status --short; git log --format=%s", "linked\nfirst\nfirst")
	said, told = w.sandbox(r, w.dir, "cd inner; echo i >>a; git commit -qam inner; cd ..; echo m >>b; git commit -qam main; git "+
		"status --short")
	w.told(said+told, "")
	w.want("git log --format=%s inner --; git log --format=%s; git -C inner status --short; git status --short",
		"inner\nfirst\nmain\nfirst")
	if text, err := os.ReadFile(filepath.Join(linked, ".git")); err != nil || !strings.Contains(string(text), ".git/worktrees/linked") {
		t.Errorf("the file .git is %q, %v", text, err)
	}
}

func TestASubmoduleCommitsToItsOwnRepository(t *testing.T) {
	backendtest.Starts(t)
	w := start(t, twoFiles, "mkdir ../deep ../lib; (cd ../deep; "+twoFiles+"); (cd ../lib; "+twoFiles+
		"; git submodule -q add ../deep deep; git commit -qm deep)", "git submodule -q add ../lib vendor/lib; "+
		"git submodule -q update --init --recursive; git commit -qm lib")
	r := w.repositories()
	said, told := w.sandbox(r, w.dir, "cd vendor/lib/deep; echo d >>a; git commit -qam deeper; cd ..; git add deep; git commit -qm "+
		"'new deep'; "+
		"cd ../..; git add vendor/lib; git commit -qm 'new lib'; git status --short")
	w.told(said+told, "")
	w.want("git log -1 --format=%s; git -C vendor/lib log -1 --format=%s; git -C vendor/lib/deep log -1 --format=%s; git status --short",
		"new lib\nnew deep\ndeeper")
	w.want("git fsck --strict; git submodule foreach -q --recursive 'git fsck --strict'", "")
}

func TestEveryFormOfARepositoryWorks(t *testing.T) {
	backendtest.Starts(t)
	for name, setup := range map[string]string{
		"sha256": strings.Replace(twoFiles, "init -q", "init -q --object-format=sha256", 1),
		"shallow": twoFiles + "; echo 3 >a; git commit -qam 2; rm -rf ../s; git clone -q --depth 1 file://$PWD ../s; rm -rf .git a " +
			"b; mv ../s/.git .; git reset -q --hard",
		"packed":     twoFiles + "; git tag -a -m t t; git gc -q; git pack-refs --all",
		"version 4":  twoFiles + "; git update-index --index-version 4",
		"signed":     twoFiles + "; git config commit.gpgsign true; git config user.signingkey x",
		"no commit":  "git init -q; echo one >a; echo two >b; git add .",
		"detached":   twoFiles + "; git switch -q --detach",
		"large time": twoFiles + "; git config core.checkStat default; git config core.fsmonitor true",
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, setup)
			count := w.outside("git rev-list --count HEAD 2>/dev/null || echo 0")
			w.told(w.run("echo x >>a; git commit -qam second; git status --short >../said; echo y >>b; git add b"), "")
			w.want("git log -1 --format=%s; git status --short; git -c core.fsmonitor=false fsck --strict 2>&1 | grep -v "+
				"'notice\\|Checking\\|dangling' || true", "second\nM  b")
			if now := w.outside("git rev-list --count HEAD"); now == count {
				t.Errorf("there are %s commits still", now)
			}
		})
	}
}

func TestASparseWorkingFolderStaysSparse(t *testing.T) {
	w := start(t, "git init -q; mkdir x y; echo 1 >x/a; echo 2 >y/b; echo 3 >y/c; git add .; git commit -qm first; git switch -qc other; "+
		"echo 4 >y/b; git commit -qam other; git switch -q main; git sparse-checkout set x 2>/dev/null")
	w.told(w.run("ls; echo z >>x/a; git commit -qam second; git merge -q --no-edit other"), "")
	w.want("ls; git status --short; git log -1 --format=%s; git show HEAD:y/b", "x\nMerge branch 'other'\n4")
}

func TestWhatCannotBeKeptApartIsShownAsItWas(t *testing.T) {
	for name, setup := range map[string]string{
		"sparse index": twoFiles + "; mkdir x y; echo 1 >x/a; echo 2 >y/b; git add .; git commit -qm dirs; " +
			"git sparse-checkout set --sparse-index x 2>/dev/null",
		"partial": twoFiles + "; git config extensions.partialClone origin",
		"objects of others": twoFiles + "; git clone -q -s . ../s; mv .git ../o; mv ../s/.git .; echo $PWD/../o/objects " +
			">.git/objects/info/alternates",
		"objects elsewhere": twoFiles + "; mkdir ../secret; mv .git/objects ../o; ln -s ../../secret .git/objects",
		"common elsewhere":  twoFiles + "; cp -r .git ../o; echo ../../o >.git/commondir",
		"another's":         twoFiles + "; mv .git ../o; echo gitdir: $PWD/../o >.git",
		"another's linked": twoFiles + "; mkdir ../q; cd ../q; " + twoFiles + "; git worktree add -q ../l; rm -rf ../p/.git; cp " +
			"../l/.git ../p",
		"a link": twoFiles + "; mv .git ../g; ln -s ../g .git",
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{TB: t}
			w.dir, w.state = filepath.Join(t.TempDir(), "p"), t.TempDir()
			if err := os.Mkdir(w.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			w.outside("export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; " + setup)
			if own := w.repositories().Mounts(w.dir, w.dir, me()); len(own) != 1 || own[0].Source != nested.Of(w.state, w.dir).Folder {
				t.Errorf("it is shown as %v", own)
			}
		})
	}
}
