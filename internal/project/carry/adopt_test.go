package carry

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// guarded runs a script in a sandbox on the project, with its protected files compared, and is what it said, and the folders
// whose git directories were taken aside.
func (w *world) guarded(k *protected.Keeper, r *Repositories, script string) (said string, made []string) {
	w.Helper()
	own := r.Mounts(w.dir, w.dir, me())
	watch, err := k.Watch([]bailiff.Mount{{Source: w.dir, Target: w.dir, Protected: []string{"**/.git"}}}, own...)
	if err != nil {
		w.Fatal(err)
	}
	said = w.show(w.dir, own, script)
	changes, err := watch.End()
	if err != nil {
		w.Fatal(err)
	}
	if err := k.Remember(changes); err != nil {
		w.Fatal(err)
	}
	for _, c := range changes {
		if c.IsNested {
			made = append(made, strings.TrimPrefix(filepath.Dir(c.Path), w.dir+"/"))
		}
	}
	return said, made
}

// author is who commits in a repository that has no author.
const author = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; "

const madeInside = author + "git init -q -b main emb; cd emb; echo x >f; git add f; git commit -qm one; " +
	"git config core.fsmonitor 'test -d /run/bailiff || touch PWNED;:'; " +
	"git config remote.up.url https://me:word@git.test/a.git; " +
	"printf '#!/bin/sh\\ntest -d /run/bailiff || touch PWNED\\n' >.git/hooks/pre-commit; " +
	"chmod +x .git/hooks/pre-commit"

func TestARepositoryThatACommandMadeIsOneInSandboxesAlone(t *testing.T) {
	w := start(t)
	r, k := w.repositories(), &protected.Keeper{}
	said, made := w.guarded(k, r, madeInside+"; cd ..; git clone -q emb deep/er; git -C emb worktree add -q ../wt")
	if !slices.Equal(made, []string{"deep/er", "emb", "wt"}) {
		t.Fatalf("taken aside were %v; inside it said %q", made, said)
	}
	w.want("for d in emb deep/er wt; do (cd $d; git rev-parse --show-toplevel; git status --short .); done; git ls-files -o",
		strings.TrimSpace(strings.Repeat(w.dir+"\n?? ./\n", 3))+"\ndeep/er/f\nemb/f\nwt/f")
	w.want("find . -name PWNED", "")
	said, made = w.guarded(k, r, author+"exec 2>/dev/null; git -C emb log --format=%s; git -C wt status --short; "+
		"mv emb moved; cd moved; echo y >>f; "+
		"rm .git/hooks/*; git commit -qam two; git stash list; "+
		"git -C ../deep/er pull -q ../../moved main; git -C ../deep/er log --format=%s")
	if said != "one\ntwo\none" || len(made) > 0 {
		t.Errorf("inside it said %q, and taken aside were %v", said, made)
	}
	w.want("cd moved; git rev-parse --show-toplevel", w.dir)
}

func TestAUserWhoAdoptsARepositoryGetsWhatStartsNothing(t *testing.T) {
	w := start(t)
	r, k := w.repositories(), &protected.Keeper{}
	w.guarded(k, r, madeInside+"; rm .git/hooks/pre-commit; git config --unset core.fsmonitor; git switch -qc b; "+
		"echo s >>f; git stash -q; "+
		"echo t >>f; git stash -q; echo i >i; git add i; git switch -q main; "+
		"git config core.fsmonitor 'test -d /run/bailiff || touch PWNED;:'; "+
		"printf '#!/bin/sh\\ntest -d /run/bailiff || touch PWNED\\n' >.git/hooks/pre-commit; "+
		"chmod +x .git/hooks/pre-commit; cd ..; mv emb moved; git init -q empty")
	moved := filepath.Join(w.dir, "moved")
	if _, err := k.AdoptNested(filepath.Join(w.dir, "emb"), r.Copy); err == nil {
		t.Error("a folder that is not there is adopted")
	}
	kept, err := k.AdoptNested(moved, r.Copy)
	if err != nil {
		t.Fatal(err)
	}
	w.want("cd moved; git branch -a --format='%(refname)'; git stash list --format=%s; git status --short; git log --format=%s; "+
		"git config --list --local; ls .git/hooks 2>&- || true; git fsck --strict 2>&1 | grep -v notice || true; find . -name PWNED",
		"refs/heads/b\nrefs/heads/main\nWIP on b: "+w.outside("git -C moved rev-parse --short b")+" one\nWIP on b: "+
			w.outside("git -C moved rev-parse --short b")+" one\nA  i\none\n"+
			"core.repositoryformatversion=0\ncore.bare=false\ncore.logallrefupdates=true\ncore.filemode=true\n"+
			"remote.up.url=https://git.test/a.git")
	if _, err := os.Stat(filepath.Join(kept, "hooks", "pre-commit")); err != nil {
		t.Errorf("what was kept is gone: %v", err)
	}
	if _, err := k.AdoptNested(filepath.Join(w.dir, "empty", ".git"), r.Copy); err != nil {
		t.Error(err)
	}
	w.want("cd empty; git status --short; git rev-parse --show-toplevel", filepath.Join(w.dir, "empty"))
	said, made := w.guarded(k, r, author+"cd moved; git commit -qm three; git log --format=%s")
	if said != "three\none" || len(made) > 0 {
		t.Errorf("inside it said %q, and taken aside were %v", said, made)
	}
}

func TestGitGoesOnWhileItsDirectoryIsTakenAside(t *testing.T) {
	w := start(t)
	r, k := w.repositories(), &protected.Keeper{}
	own := r.Mounts(w.dir, w.dir, me())
	watch, err := k.Watch([]bailiff.Mount{{Source: w.dir, Target: w.dir, Protected: []string{"**/.git"}}}, own...)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() {
		said <- w.show(w.dir, own, author+"git init -q emb; cd emb; echo x >f; git add f; git commit -qm one; touch ../ready; "+
			"until test -e ../go; do :; done; git commit -q --allow-empty -m two; git log --format=%s")
	}()
	awaittest.Until(t, "the repository is made", func() bool { return isThere(filepath.Join(w.dir, "ready")) })
	changes, err := watch.Look()
	if err != nil || len(changes) != 1 || !changes[0].IsNested {
		t.Errorf("a look found %v, %v", changes, err)
	}
	w.want("cd emb; git rev-parse --show-toplevel; touch ../go", w.dir)
	if all := <-said; all != "two\none" {
		t.Errorf("inside it said %q", all)
	}
	if changes, err := watch.End(); err != nil || len(changes) > 0 {
		t.Errorf("the end found %v, %v", changes, err)
	}
}

func TestOfAnotherFileSystemARepositoryIsSetAsideAtTheEnd(t *testing.T) {
	w := start(t)
	var err error
	if w.state, err = os.MkdirTemp("/dev/shm", "nested"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(w.state) })
	r, k := w.repositories(), &protected.Keeper{}
	if said, made := w.guarded(k, r, madeInside); !slices.Equal(made, []string{"emb"}) {
		t.Fatalf("taken aside were %v; inside it said %q", made, said)
	}
	w.want("git -C emb rev-parse --show-toplevel; ls -A emb", w.dir+"\n.git.refused\nf")
	kept, err := k.AdoptNested(filepath.Join(w.dir, "emb"), r.Copy)
	if err != nil || kept != filepath.Join(w.dir, "emb", ".git.refused") {
		t.Errorf("adopted is %s, %v", kept, err)
	}
	w.want("git -C emb log --format=%s", "one")
}

func TestWhatTheUserMakesOfSubmodulesAndLinkedFoldersStays(t *testing.T) {
	w := start(t, twoFiles, "mkdir ../lib; (cd ../lib; "+twoFiles+"); git submodule -q add ../lib lib; git commit -qm lib; "+
		"git submodule -q deinit -f lib")
	r, k := w.repositories(), &protected.Keeper{}
	own := r.Mounts(w.dir, w.dir, me())
	watch, err := k.Watch([]bailiff.Mount{{Source: w.dir, Target: w.dir, Protected: []string{"**/.git"}}}, own...)
	if err != nil {
		t.Fatal(err)
	}
	w.outside("git submodule -q update --init; git worktree add -q wt; git clone -q . copy")
	changes, err := watch.End()
	if err != nil || len(changes) != 1 || changes[0].Path != filepath.Join(w.dir, "copy", ".git") {
		t.Errorf("taken aside were %v, %v", changes, err)
	}
	w.want("git -C lib log --format=%s; git -C wt log --format=%s", "first\nlib\nfirst")
}
