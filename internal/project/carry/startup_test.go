package carry

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// protect has the sandbox's user agree to what certain places hold now.
func (w *world) protect() {
	w.Helper()
	var k protected.Keeper
	watch, err := k.Watch([]bailiff.Mount{{Source: w.dir, Target: w.dir, Protected: []string{".envrc", ".vscode/", ".githooks",
		".config/mise.toml", "tools/*/run", "**/.npmrc", "**/.zed/tasks.json"}}})
	if err != nil {
		w.Fatal(err)
	}
	w.protection = watch
	w.Cleanup(func() { _, _ = watch.End() })
}

const withPlaces = `git init -q; echo one >a; mkdir .vscode sub; echo {} >.vscode/settings.json; echo old >.envrc; git add .
	git commit -qm first; echo new >.envrc; git commit -qam second; echo mine=1 >sub/.npmrc; git config core.hooksPath .githooks`

// stage has git list a file in a place, with a content, without writing the place.
const stage = `stage() { git update-index --add --cacheinfo "$1,$(printf "$3" | git hash-object -w --stdin),$2"; }
`

func TestWhatACommandMayNotWriteItMayNotCommitEither(t *testing.T) {
	backendtest.Starts(t)
	const starts = ", by which programs of yours start, and no person agreed to that"
	const staged = " is staged inside alone: programs of yours start by it"
	w := start(t, withPlaces)
	w.protect()
	before := w.outside("git for-each-ref; git ls-files -s")
	for _, c := range []struct{ name, script, told string }{
		{"a hook", "git switch -qc x; stage 100755 .githooks/post-checkout evil; git commit -qm x",
			"x stays inside: it changes .githooks/post-checkout" + starts},
		{"behind another commit", "stage 100644 .envrc evil; git commit -qm x; stage 100644 .envrc 'new\n'; git commit -qm y",
			"main stays inside: it changes .envrc" + starts},
		{"in a folder", "stage 100644 .vscode/tasks.json evil; git commit -qm x",
			"main stays inside: it changes .vscode/tasks.json" + starts},
		{"at any depth", "stage 100644 sub/deep/.npmrc evil; git commit -qm x", "main stays inside: it changes sub/deep/.npmrc" + starts},
		{"by a pattern", "stage 100644 tools/x/run evil; git commit -qm x", "main stays inside: it changes tools/x/run" + starts},
		{"by a link above", "stage 120000 .config sub; git commit -qm x", "main stays inside: it changes .config" + starts},
		{"by a link of any folder", "stage 120000 sub/.zed ../sub; git commit -qm x", "main stays inside: it changes sub/.zed" + starts},
		{"by a merge", "git switch -qc x; stage 100644 .envrc evil; git commit -qm x; git switch -qf main; " +
			"git commit -q --allow-empty -m y; git merge -q -s ours --no-edit x; git branch -qD x",
			"main stays inside: it changes .envrc" + starts},
		{"stashed", "stage 100644 .envrc evil; git stash push -q --staged", "What was stashed stays inside: it changes .envrc" + starts},
		{"staged", "stage 100644 .envrc evil; echo two >a; git add a", ".envrc" + staged},
	} {
		if told := w.run(stage + c.script); !strings.Contains(told, c.told) {
			t.Errorf("%s: it told %q, want %q", c.name, told, c.told)
		}
		w.told(w.run("git switch -qf main; git reset -q --hard $(git rev-list -1 main --grep=second); git stash clear; "+
			"git branch -qD x"), "")
		w.want("git for-each-ref; git ls-files -s; git stash list", before)
	}
}

func TestWhatTheUserHasInAProtectedPlaceIsCommitted(t *testing.T) {
	w := start(t, withPlaces)
	w.protect()
	for _, script := range []string{"git add a", "git add sub/.npmrc",
		"git checkout -q $(git rev-list -1 HEAD --grep=first) .envrc",
		"git rm -q --cached .envrc .vscode/settings.json", "git checkout -q --orphan x; git add ."} {
		w.told(w.run("echo more >>a; "+script+"; git add a"), "")
		w.told(w.run("git commit -qm third"), "")
		w.want("git log -1 --format=%s; git status --short a; git ls-files -s", "third\n"+
			w.outside("git ls-tree -r --format='%(objectmode) %(objectname) 0\t%(path)' HEAD"))
	}
}

func TestNoNewNameOfACommandsMeansAnotherThingOfTheUsers(t *testing.T) {
	w := start(t, "git init -q; echo one >a; git add .; git commit -qm first; git tag v1; git update-ref refs/remotes/origin/main HEAD")
	const is = " stays inside: git takes that name for something else of yours"
	for name, short := range map[string]string{
		"tags/main": "main", "heads/v1": "v1", "heads/origin/main": "origin/main", "heads/HEAD": "HEAD", "heads/ORIG_HEAD": "ORIG_HEAD",
		"heads/stash": "stash", "heads/refs/heads/x": "refs/heads/x", "heads/0123456789abcdef": "0123456789abcdef",
	} {
		w.told(w.run("git update-ref refs/"+name+" HEAD"), short+is)
		w.told(w.run("git update-ref -d refs/"+name), "")
	}
	w.told(w.run("git branch 1234567; git branch decade; git tag v2; git branch fix/origin"), "")
	w.want("git for-each-ref --format='%(refname)'", "refs/heads/1234567\nrefs/heads/decade\nrefs/heads/fix/origin\nrefs/heads/main\n"+
		"refs/remotes/origin/main\nrefs/tags/v1\nrefs/tags/v2")
}
