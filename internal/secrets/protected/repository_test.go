package protected_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// scratch is a folder for all tests of the package.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "protected"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// all are the patterns of the shipped policies that are about git, and two more.
var all = []string{".git", ".git/config", ".git/config.worktree", ".git/hooks/", ".git/info/", ".git/modules/*/config",
	".git/modules/*/hooks/", ".git/modules/*/info/", "**/.git", ".mcp.json", ".envrc"}

// evil are settings that start a program, and git commands that need no user.
const shell = `evil='[core]
	repositoryformatversion = 0
	fsmonitor = "touch PWNED;:"
'; g() { git -c user.name=a -c user.email=a@b.test "$@"; }
`

// workplace is a repository with commits on two branches that conflict, and a repository below it.
func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, "cp -a "+model(t)+"/. .")
	return dir
}

var made struct {
	once sync.Once
	dir  string
}

// model is what each workplace is a copy of.
func model(t *testing.T) string {
	t.Helper()
	made.once.Do(func() {
		made.dir = filepath.Join(scratch, "model")
		if err := os.Mkdir(made.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		sh(t, made.dir, shell+`git init -q -b main . && echo 'export A=1' > .envrc && echo a > f && git add f && g commit -q -m a
		git branch other && echo b > f && g commit -q -am b && git checkout -q other && echo c > f && g commit -q -am c
		git init -q mine && git -C mine config core.fsmonitor ./watch && echo x > .git/hooks/pre-push`)
	})
	return made.dir
}

func guard(t *testing.T, k *protected.Keeper, dir string) *protected.Watch {
	t.Helper()
	w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: all}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// runs says whether a user's git, asked in a folder, starts what was left for it.
func runs(t *testing.T, dir, script string) bool {
	t.Helper()
	sh(t, dir, script+" >/dev/null 2>&1 || true")
	pwned := false
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		pwned = pwned || err == nil && d.Name() == "PWNED"
		return nil
	})
	return pwned || err != nil
}

func TestWhatGitWouldRunLaterIsPutBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, user, says string }{
		{"another common folder", `mkdir -p sub/cd; cp -r .git/objects .git/refs sub/cd/; echo "$evil" > sub/cd/config
			printf ../sub/cd > .git/commondir`, "git status", ".git/commondir"},
		{"that of a linked worktree", `git worktree add -q wt main; mkdir -p cd; cp -r .git/objects .git/refs cd/; echo "$evil" > cd/config
			printf ../../../cd > .git/worktrees/wt/commondir`, "cd wt; git status", "worktrees/wt/commondir"},
		{"the settings of a linked worktree", `git worktree add -q wt main; git config extensions.worktreeConfig true
			git -C wt config --worktree core.fsmonitor 'touch PWNED;:'`, "cd wt; git status", "config.worktree"},
		{"a repository in the index", `git init -q emb; cd emb; g commit -q --allow-empty -m x; git config core.fsmonitor 'touch PWNED;:'
			cd ..; git add emb 2>&-`, "git status", "emb/.git/config"},
		{"one that is a link", `git init -q real; echo "$evil" >> real/.git/config; mkdir emb; ln -s ../real/.git emb/.git`,
			"cd emb; git status", "emb/.git"},
		{"one that is a file", `git init -q real; mv real/.git store; echo "$evil" >> store/config; mkdir emb
			echo 'gitdir: ../store' > emb/.git`, "cd emb; git status", "store/HEAD"},
		{"one that is deep", `mkdir -p a/b/c/d; cd a/b/c/d; git init -q .; echo "$evil" >> .git/config`, "cd a/b/c/d; git status",
			"a/b/c/d/.git/config"},
		{"one in another case's folder", `git init -q x; git -C x config alias.st '!touch PWNED'`, "cd x; git st", "x/.git/config"},
		{"a hook of a new one", `git init -q x; echo 'touch PWNED' > x/.git/hooks/pre-commit; chmod +x x/.git/hooks/pre-commit`,
			"cd x; git -c user.name=a -c user.email=a@b.c commit --allow-empty -m x", "x/.git/hooks/pre-commit"},
		{"a hooks folder that is a link", `git init -q x; mkdir h; rm -r x/.git/hooks; ln -s ../../h x/.git/hooks
			echo 'touch PWNED' > h/pre-commit; chmod +x h/pre-commit`,
			"cd x; git -c user.name=a -c user.email=a@b.c commit --allow-empty -m x", "x/.git/hooks"},
		{"the settings of one that was there", `git -C mine config core.fsmonitor 'touch PWNED;:'`, "cd mine; git status",
			"mine/.git/config"},
		{"its settings, made anew", `echo "$evil" > mine/.git/c; mv mine/.git/c mine/.git/config`, "cd mine; git status",
			"mine/.git/config"},
		{"its settings, removed", `rm mine/.git/config`, "true", "mine/.git/config"},
		{"a bare one", `git init -q --bare b; echo "$evil" > b/config; printf '\tbare = false\n\tworktree = .\n' >> b/config`,
			"cd b; git status", "b/HEAD"},
		{"a bare one in the folder itself", `rm .git/HEAD; git init -q --bare b; mv b/HEAD b/objects b/refs .; echo "$evil" > config
			printf '\tbare = false\n\tworktree = .\n' >> config`, "git status", "HEAD"},
		{"a bare one with a common folder", `git init -q x; mv x/.git common; echo "$evil" > common/config; mkdir b
			printf '\tbare = false\n\tworktree = ../b\n' >> common/config
			echo ref: refs/heads/x > b/HEAD; echo ../common > b/commondir`, "cd b; git status", "b/HEAD"},
		{"settings of a submodule deep down", `mkdir -p .git/modules/vendor/lib; echo "$evil" > .git/modules/vendor/lib/config`, "true",
			".git/modules/vendor/lib/config"},
		{"a hook of one", `mkdir -p .git/modules/a/b/c/hooks; echo x > .git/modules/a/b/c/hooks/pre-commit`, "true",
			".git/modules/a/b/c/hooks/pre-commit"},
		{"settings among many submodules", `mkdir -p .git/modules; cd .git/modules; mkdir $(seq -f m%.0f 1002)
			echo "$evil" > m1/config`, "true", ".git/modules"},
		{"a command in a rebase", `g rebase main >/dev/null 2>&1 || true; echo 'exec touch PWNED' > .git/rebase-merge/git-rebase-todo`,
			"git checkout --theirs f; git add f; git -c core.editor=true -c user.name=a -c user.email=a@b.c rebase --continue",
			"rebase-merge/git-rebase-todo"},
		{"a rebase that is made up", `mkdir .git/rebase-merge; echo x touch PWNED > .git/rebase-merge/git-rebase-todo
			echo main > .git/rebase-merge/head-name
			git rev-parse main > .git/rebase-merge/onto
			git rev-parse other > .git/rebase-merge/orig-head; touch .git/rebase-merge/interactive`,
			"git rebase --continue", "rebase-merge/git-rebase-todo"},
		{"one in a linked folder", `mkdir r; echo exec touch PWNED > r/git-rebase-todo; ln -s ../r .git/rebase-merge`,
			"git rebase --continue", ".git/rebase-merge"},
		{"a way to merge", `g rebase main >/dev/null 2>&1 || echo evil > .git/rebase-merge/strategy`, "true", "rebase-merge/strategy"},
		{"a way to merge picks", `mkdir .git/sequencer; printf '[options]\n\tstrategy = evil\n' > .git/sequencer/opts`, "true",
			".git/sequencer/opts"},
		{"a series of picks", `mkdir .git/sequencer; echo exec touch PWNED > .git/sequencer/todo`, "git cherry-pick --continue",
			".git/sequencer/todo"},
		{"a hook with a long name", `git init -q x; touch "x/.git/hooks/$(seq -s a 90 | head -c 250)"`, "true", "85a86a8"},
		{"a link that takes a message", `rm .git/COMMIT_EDITMSG; ln -s config .git/COMMIT_EDITMSG`,
			"g() { git -c user.name=a -c user.email=a@b.c " +
				`"$@"; }; g commit --allow-empty -m "$(printf '[core]\n\tfsmonitor = "touch PWNED;:"')"; git status`,
			".git/COMMIT_EDITMSG"},
		{"one in a rebase", `g rebase main >/dev/null 2>&1 || true; ln -sf ../config .git/rebase-merge/message`, "true",
			"rebase-merge/message"},
		{"a folder of refs that is a link", `mkdir out; mv .git/refs/heads out/h; ln -s ../../out/h .git/refs/heads`, "true",
			".git/refs/heads"},
		{"a link in the logs", `ln -sf ../../../f .git/logs/refs/heads/new`, "true", ".git/logs/refs/heads/new"},
		{"a folder of objects that is a link", `mkdir out; ln -s ../../out .git/objects/zz; ln -s ../../out .git/objects/info/x`, "true",
			".git/objects/info/x"},
		{"a link of a new repository", `git init -q x; ln -s ../../f x/.git/FETCH_HEAD`, "true", "x/.git/FETCH_HEAD"},
		{"an address by a name", `mkdir .git/remotes; echo URL: ext::touch% PWNED > .git/remotes/up`,
			"git -c protocol.ext.allow=always fetch up", ".git/remotes/up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			var k protected.Keeper
			w := guard(t, &k, dir)
			sh(t, dir, shell+c.script)
			changes, err := w.End()
			if err != nil || !slices.ContainsFunc(changes, func(ch protected.Change) bool { return strings.HasSuffix(ch.Path, c.says) }) {
				t.Errorf("changes %v, %v, want one of %s", changes, err, c.says)
			}
			if runs(t, dir, c.user) {
				t.Errorf("a user's %q runs what was left", c.user)
			}
			if again, err := guard(t, &k, dir).End(); len(again) > 0 || err != nil {
				t.Errorf("the next command: %v, %v", again, err)
			}
		})
	}
}

func TestWhatGitWritesInEverydayWorkStays(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string][]string{
		"a rebase with a conflict that another command ends": {`g rebase main >/dev/null 2>&1 || test -d .git/rebase-merge`,
			`echo d > f; git add f; g -c core.editor=true rebase --continue >/dev/null 2>&1; test ! -d .git/rebase-merge`},
		"a rebase with commands, begun and ended in one": {`g rebase -x 'touch ran' HEAD~1 >/dev/null 2>&1; test -f ran`},
		"a rebase by a way of git's": {`g rebase -s ort -X ours HEAD~1 >/dev/null 2>&1
			g cherry-pick -s ort -X ours main~1 main >/dev/null 2>&1 || true`,
			`git cherry-pick --skip 2>&- || true`},
		"a series of picks that another command ends": {`g cherry-pick main >/dev/null 2>&1 || true`,
			`echo d > f; git add f; g -c core.editor=true cherry-pick --continue >/dev/null`},
		"a merge, a stash, a tag and a bisect": {`echo e > f; g stash -q; g stash pop -q; git checkout -q f; g tag -a v1 -m x
			git bisect start -q`,
			`git bisect reset 2>&-; g merge -q main >/dev/null 2>&1 || g merge --abort`},
		"a new repository": {`git init -q x; git -C x config user.name a; git -C x config commit.gpgsign false`,
			`cd x; g commit -q --allow-empty -m x`},
		"a clone": {`git clone -q . x; git clone -q --bare . y; git clone -q --mirror . z
			git clone -q --depth 1 "file://$PWD" s`, `git -C x fetch -q`},
		"a linked worktree": {`git worktree add -q wt main`, `cd wt; echo x > g; git add g; g commit -q -m x`,
			`git worktree remove wt`},
		"settings as git and its friends write them": {`git init -q x; cd x
			git config remote.origin.url https://me:word@git.test:8443/a.git
			git config remote.origin.gh-resolved base; git config lfs.https://git.test/a.access basic
			git config extensions.partialClone origin
			git config remote.origin.partialclonefilter blob:none
			git config branch.main.vscode-merge-base origin/main
			git config submodule.active .; git config remote.o2.url me@git.test:a/b.git; git config remote.o3.url ../y`,
			`git config branch.main.vscode-merge-base origin/main`},
		"a repository that goes":        {`rm -rf mine`, `true`},
		"a repository of the index":     {`git add mine 2>&- || true; git rm -q --cached -f mine 2>&- || true`},
		"new ends of remotes' branches": {`git clone -q . x`, `cd x; git checkout -q -b n; git branch -u origin/other -q`},
		"files whose names are alike": {`mkdir hooks info; echo x > config; echo x > commondir; echo x > hooks/pre-commit`,
			`echo y > config`},
		"a folder that others cannot see": {`mkdir p; chmod 700 p; echo x > p/x`, `echo y > p/x`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := workplace(t)
			var k protected.Keeper
			for _, script := range scripts {
				w := guard(t, &k, dir)
				sh(t, dir, shell+script)
				if changes, err := w.Look(); len(changes) > 0 || err != nil {
					t.Errorf("after %q a look put back %v, %v", script, changes, err)
				}
				if changes, err := w.End(); len(changes) > 0 || err != nil {
					t.Errorf("after %q is put back %v, %v", script, changes, err)
				}
			}
			sh(t, dir, `git fsck --strict 2>&1 && git status >/dev/null`)
		})
	}
}
