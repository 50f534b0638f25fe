package carry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
)

func TestACommitMadeInsideIsTheUsersAfterTheCommand(t *testing.T) {
	w := start(t)
	w.told(w.run("echo x >>a; git commit -qam second; git status --short"), "")
	w.want("git log --format=%s", "second\nfirst")
	w.want("git status --short", "")
	w.want("git fsck --strict 2>&1", "")
	w.outside("echo y >>b; git commit -qam third")
	w.told(w.run("echo z >>a; git commit -qam fourth"), "")
	w.want("git log --format='%s %an'", "fourth User\nthird User\nsecond User\nfirst User")
	w.want("git status --short", "")
}

func TestNothingThatTheSandboxWritesInItsGitDirectoryIsInTheUsers(t *testing.T) {
	w := start(t)
	const all = `find .git -type f ! -path '*/objects/*' | sort | xargs sha256sum`
	before := w.outside(all)
	w.run(`evil='[core]
	fsmonitor = "touch PWNED;:"
[alias]
	st = "!touch PWNED"'
		echo "$evil" >>.git/config; mv .git moved; rm -rf .git && git init -q .
		echo ../../x >.git/commondir; echo /tmp >.git/objects/info/alternates
		mkdir -p .git/hooks .git/modules/x .git/worktrees/y .git/rebase-merge
		printf '#!/bin/sh\ntouch PWNED\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
		echo "$evil" >.git/modules/x/config; echo exec touch PWNED >.git/rebase-merge/git-rebase-todo
		echo '* filter=x' >.git/info/attributes; touch .git/index.lock .git/HEAD.lock`)
	if after := w.outside(all); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	w.want("git status --short; git log --format=%s; ls", "first\na\nb")
}

func TestBranchesTagsStashAndMergesComeOutAsTheyAre(t *testing.T) {
	w := start(t)
	w.told(w.run("git switch -qc feature; echo f >>a; git commit -qam feature; git tag -a -m t v1; git switch -q main; echo m >>b; "+
		"git commit -qam main"), "")
	w.want("git branch --format='%(refname:short) %(subject)'; git tag; git branch --show-current", "feature feature\nmain main\nv1\nmain")
	w.told(w.run("git merge -q --no-edit feature"), "")
	w.want("git log -1 --format='%s'; git status --short; cat .git/HEAD", "Merge branch 'feature'\nref: refs/heads/main")
	w.told(w.run("echo s >>a; git stash push -qm 'my work'; echo r >>b; git stash -q"), "")
	w.want("git stash list --format=%s", "WIP on main: "+w.outside("git log -1 --format='%h %s'")+"\nOn main: my work")
	w.told(w.run("git stash drop -q stash@{0}; git stash pop -q"), "")
	w.want("git stash list; git status --short; git for-each-ref refs/bailiff --format='%(subject)'|sort", "M a\n"+
		"On main: my work\nWIP on main: "+w.outside("git log -1 --format='%h %s'"))
	w.outside("git stash -q")
	w.told(w.run("git stash pop -q; git commit -qam popped; git branch -qD feature"), "feature was deleted; its old value is kept")
	w.want("git log -1 --format=%s; git branch --format='%(refname:short)'; git stash list", "popped\nmain")
	w.want("git fsck --strict 2>&1 | grep -v dangling || true", "")
}

func TestAMergeWithAConflictIsFinishedOnEitherSide(t *testing.T) {
	w := start(t, "git init -q; echo one >a; git add .; git commit -qm first; git switch -qc x; echo x >a; git commit -qam x; git "+
		"switch -q main; echo y >a; git commit -qam y")
	w.run("git merge x")
	w.want("git status --short; cat .git/MERGE_HEAD", "UU a\n"+w.outside("git rev-parse x"))
	w.outside("echo z >a; git add a; git commit -qm merged")
	w.told(w.run("git log --oneline | wc -l >count; git reset -q --hard HEAD~1; git merge x"), "was moved back")
	w.want("cat count; git status --short", "4\nUU a\n?? count")
	w.run("echo w >a; git add a; git commit -qm again")
	w.want("git log -1 --format='%s %p'; test -e .git/MERGE_HEAD || echo done", "again "+w.outside("git log -1 --format=%p")+"\ndone")
}

func TestARebaseStaysInsideUntilItIsDone(t *testing.T) {
	w := start(t, "git init -q; echo one >a; git add .; git commit -qm first; git switch -qc x; echo x >a; git commit -qam x; git "+
		"switch -q main; echo y >a; git commit -qam y")
	w.run("git switch -q x")
	before := w.outside("cat .git/HEAD; git ls-files -s; git rev-parse x")
	w.told(w.run("git rebase main"), "A rebase is going on inside. Your HEAD stays at x")
	w.want("cat .git/HEAD; git ls-files -s; git rev-parse x", before)
	w.told(w.run("echo z >a; git add a; GIT_EDITOR=true git rebase --continue"), "x was moved back or rewritten")
	w.want("git log --format=%s; git status --short; git branch --show-current", "x\ny\nfirst\nx")
}

func TestTheUsersBranchWaitsForItsIndex(t *testing.T) {
	w := start(t)
	w.run("git branch topic; git checkout -q topic; echo t >a; git commit -qam topic; git checkout -q main")
	w.told(w.run("echo m >a; echo n >n; git add .; git commit -qm tenth; git rebase main topic"), "A rebase is going on inside")
	w.want("git log --format=%s; git status --short -uno", "first\n M a")
	w.outside("echo u >>b; git add b; git commit -qm user; git log -1 --name-only --format=")
	w.told(w.run("git rebase --abort"), "main changed outside as well")
	w.want("git log --format=%s main; git log --format=%s --branches='bailiff/*' -1", "user\nfirst\ntenth")
}

func TestAPrivateDirectoryFindsItsObjectsAgain(t *testing.T) {
	w := start(t)
	w.run("rm -f .git/objects/info/alternates; echo /elsewhere >.git/objects/info/alternates")
	w.told(w.run("echo x >>a; git commit -qam second"), "")
	w.want("git log --format=%s", "second\nfirst")
}

func TestWhatTheUserDoesMeanwhileStaysAndTheAgentsIsBeside(t *testing.T) {
	w := start(t)
	if _, err := w.link.In(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.inside("echo agent >>a; git commit -qam agent")
	w.outside("echo user >>b; git commit -qam user")
	told, err := w.link.Out(t.Context(), "r", nil)
	if err != nil || len(told) != 1 {
		t.Fatalf("it told %q, %v", told, err)
	}
	w.told(told[0], "main changed outside as well: yours stays, and what was committed here is on the branch bailiff/main-")
	w.want("git log --format=%s; git log -1 --format=%s --branches='bailiff/*'", "user\nfirst\nagent")
	w.told(w.run("git log -1 --format=%s >said; git merge -q --no-edit $(git for-each-ref --format='%(refname:short)' "+
		"refs/heads/bailiff)"), "")
	w.want("git log --format=%s; cat said; git status --short", "Merge branch 'bailiff/main-"+
		w.outside("git rev-parse --short=8 HEAD^2")+"'\nuser\nagent\nfirst\nuser\n?? said")
}

func TestTheUsersStagedHunksStay(t *testing.T) {
	w := start(t)
	if _, err := w.link.In(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	w.inside("echo agent >>a; git commit -qm agent a; echo new >c; git add c; echo mine >b; git add b")
	w.outside("echo user >d; git add d; echo staged >b; git add b; echo unstaged >>b")
	told, err := w.link.Out(t.Context(), "r", nil)
	if err != nil || len(told) != 1 {
		t.Fatalf("it told %q, %v", told, err)
	}
	w.told(told[0], "b was staged on both sides: yours stays.")
	w.want("git log --format=%s; git status --short; git show :b", "agent\nfirst\nMM b\nA  c\nA  d\nstaged")
	w.run("git status --short >said")
	w.want("cat said", "MM b\nA  c\nA  d\n?? said")
}

func TestWhatIsStagedInARepositoryWithoutACommitComesOut(t *testing.T) {
	w := start(t, "git init -q; echo one >a")
	w.told(w.run("git add a"), "")
	w.want("git status --short", "A  a")
}

func TestALockOfTheUsersGitHoldsEverythingBackUntilItIsGone(t *testing.T) {
	w := start(t)
	w.outside("touch .git/index.lock")
	w.told(w.run("echo x >>a; git commit -qam second"), "Your git holds the index; brought out as soon as it is free.")
	w.want("git log --format=%s; cat .git/index | git hash-object --stdin >../x", "first")
	w.outside("rm .git/index.lock")
	w.told(w.run("true"), "")
	w.want("git log --format=%s; git status --short", "second\nfirst")
}

func TestAGitDirectoryThatIsNoLongerWholeIsMadeAnewAndTakesNothingAway(t *testing.T) {
	backendtest.Starts(t)
	for name, script := range map[string]string{
		"emptied": "rm -rf .git/*", "closed": "chmod 000 .git", "head": "echo ref: ../../etc/passwd >.git/HEAD", "link": "ln -sf " +
			"/etc/passwd .git/HEAD",
		"refs": "rm -rf .git/refs", "index": "echo x >.git/index", "pipe": "rm .git/HEAD; mkfifo .git/HEAD", "large": "head -c 100000 " +
			"/dev/zero >.git/refs/heads/x",
		"closed within": "chmod 000 .git/refs", "made anew": "rm -rf .git/*; git init -q", "without branches": "rm -rf .git/refs " +
			".git/packed-refs; mkdir -p .git/refs/heads",
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			before := w.outside("git branch x 2>&1; git for-each-ref; git ls-files -s; cat .git/HEAD")
			told := w.run(script)
			w.want("git for-each-ref; git ls-files -s; cat .git/HEAD; git status --short", before)
			if name != "closed" && (name != "closed within" || os.Getuid() != 0) { // root may look everywhere
				w.told(told, "was no longer whole")
			}
			w.told(w.run("echo x >>a; git commit -qam second"), "")
			w.want("git log --format=%s", "second\nfirst")
		})
	}
}

func TestADamagedMemoryOfBothSidesIsMadeAnewAndTakesNothingAway(t *testing.T) {
	backendtest.Starts(t)
	for name, told := range map[string]string{"base.json": "was no longer whole", "real.index": "was no longer whole",
		"private.index": "was no longer whole", "journal": ""} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			w.told(w.run("true"), "")
			before := w.outside("git for-each-ref; cat .git/HEAD")
			write(t, filepath.Join(w.link.State, name), "damaged")
			w.open()
			w.told(w.run("echo y >>b; git add b"), told)
			w.want("git for-each-ref; cat .git/HEAD", before)
			w.told(w.run("echo x >>a; git commit -qam second"), "")
			w.want("git log --format=%s", "second\nfirst")
		})
	}
}

func TestHostileRefsAndObjectsStayInside(t *testing.T) {
	backendtest.Starts(t)
	for _, c := range []struct{ name, script, told string }{
		{"option", "git update-ref refs/heads/-x HEAD", "-x stays inside: its name"},
		{"blank", "echo $(git rev-parse HEAD) >'.git/refs/heads/a b'", ""},
		{"bidi", "git update-ref \"refs/heads/a$(printf '\\342\\200\\256')b\" HEAD", "ab stays inside: its name"},
		{"case", "git update-ref refs/heads/MAIN HEAD", "MAIN stays inside: its name differs from that of refs/heads/main by case alone"},
		{"below", "echo $(git rev-parse HEAD) >x; rm -r .git/refs/heads/main .git/packed-refs; mkdir -p .git/refs/heads/main; mv x " +
			".git/refs/heads/main/y",
			"the branch of its HEAD is gone"},
		{"nothing", "echo 1111111111111111111111111111111111111111 >.git/refs/heads/x", "x stays inside: git does not take its objects"},
		{"blob", "git hash-object -w a >.git/refs/heads/x", "x stays inside"},
		{"replace", "git replace -f HEAD $(git commit-tree -m r HEAD^{tree})", ""},
		{"remote", "git update-ref refs/remotes/origin/main $(git commit-tree -m r HEAD^{tree})", ""},
		{"dot git", "b=$(git hash-object -w a); t=$(printf '100644 blob %s\\t.GIT\\n' $b | git mktree); git update-ref refs/heads/x " +
			"$(git commit-tree -m x $t)",
			"git does not take its objects: "},
		{"gitlink", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),emb; git commit -qm emb", "adds a repository " +
			"within the project: emb"},
		{"gitlink before", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),emb; git commit -qm emb; git rm -q " +
			"--cached emb; git commit -qm gone",
			"adds a repository within the project: emb"},
		{"gitlink staged", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),emb", "emb stays inside: it adds a repository"},
		{"submodule url", "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./x\\n' >.gitmodules; git add .; git commit -qm x",
			"git does not take its objects"},
		{"flags", "git update-index --assume-unchanged a; git update-index --skip-worktree b", ""},
		{"tag moved", "git tag t; true", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t)
			const refs = "git for-each-ref refs/heads refs/remotes refs/replace refs/tags | grep -v " +
				"'refs/heads/main/y\\|refs/tags/t$' || true; git ls-files -v -s"
			before := w.outside(refs)
			told := w.run(c.script)
			w.told(told, c.told)
			w.want(refs, before)
			w.want("git fsck --strict 2>&1 | grep -v '^dangling\\|^notice' || true", "")
			w.outside("git log --all --format=%s; git status --short")
		})
	}
}

func TestARunThatIsKilledAtAnyStepIsRepeated(t *testing.T) {
	backendtest.Starts(t)
	for _, step := range []string{"objects", "locked", "refs", "index", "remember"} {
		t.Run(step, func(t *testing.T) {
			w := start(t)
			w.run("echo x >>a; git commit -qam second")
			killed := errors.New("killed")
			w.link.fault = func(at string) error {
				if at == step || at == "release" {
					return killed
				}
				return nil
			}
			w.inside("echo y >>a; git commit -qam third; git branch side; echo s >>b; git stash -q; echo c >c; git add c")
			told, err := w.link.Out(t.Context(), "r", nil)
			if !errors.Is(err, killed) && !strings.Contains(strings.Join(told, ""), "killed") {
				t.Fatalf("it was not killed: %q, %v", told, err)
			}
			if step == "refs" {
				w.outside("touch .git/HEAD.lock") // as a git that was killed leaves it
			}
			w.open()
			w.run("true")
			w.want("git log --format=%s; git branch --format='%(refname:short)'; git stash list | wc -l; git status --short; ls "+
				".git/*.lock 2>/dev/null || true",
				"third\nsecond\nfirst\nmain\nside\n1\nA  c")
			w.told(w.run("git commit -qm fourth"), "")
			w.want("git log -1 --format=%s; git status --short; git fsck --strict 2>&1", "fourth")
		})
	}
}

func TestAnIndexInTwoFilesIsBroughtInAndOut(t *testing.T) {
	w := start(t, "git init -q; git config core.splitIndex true; git config splitIndex.maxPercentChange 100; for i in $(seq 30); do "+
		"echo $i >f$i; done; git add .; git commit -qm first; ls .git/sharedindex.* >/dev/null")
	w.outside("echo u >f3; git add f3; git rm -q f4")
	w.told(w.run("echo a >f5; git commit -qm second f5; git rm -q --cached f6; echo n >n; git add n; git status --short >said"), "")
	const mine = "M  f3\nD  f4\nD  f6\nA  n"
	w.want("cat said", mine+"\n?? f6\n?? said")
	w.want("git log --format=%s; git status --short; git fsck --strict 2>&1 | grep -v dangling || true",
		"second\nfirst\n"+mine+"\n?? f6\n?? said")
	w.outside("rm said; git add f6; git commit -qm third; ls .git/sharedindex.* >/dev/null")
	w.told(w.run("git update-index --split-index; echo b >f7; git commit -qam fourth; git status --short"), "")
	w.want("git log -1 --format=%s; git status --short", "fourth")
}

// What a job has no room for on a full disk ends it before it says that it is prepared.
func TestAStepEndsWithAJobThatEndsBeforeItIsPrepared(t *testing.T) {
	w := start(t)
	err := w.link.runTo(t.Context(), keeper.Job{Args: []string{"sh", "-c", "echo No space left >&2; exit 3"}}, func() error {
		t.Error("it says that it is prepared")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "No space left") {
		t.Errorf("it ends with %v", err)
	}
}
