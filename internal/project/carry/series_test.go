package carry

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// series are commands of git's. Each may fail, in a sandbox as without.
var series = []string{
	"echo %d >>a; git commit -qam c%d", "echo %d >f%d; git add f%d", "git rm -q --cached f1", "git mv a z 2>/dev/null || git mv z a",
	"echo %d >>b; git add b",
	"git switch -qc b%d", "git switch -q main", "git switch -q $(git branch --format='%(refname:short)' | sort | head -1)", "git " +
		"checkout -q --detach",
	"git stash push -q -m s%d", "git stash pop -q", "git stash drop -q", "git merge -q --no-edit $(git branch " +
		"--format='%(refname:short)' | sort | tail -1)",
	"git merge --abort", "git add -A; git commit -qm all%d", "git reset -q --hard HEAD~1", "git reset -q --soft HEAD~1", "git tag t%d",
	"git tag -a -m t a%d",
	"git branch -q -D $(git branch --format='%(refname:short)' | sort | tail -1)", "GIT_EDITOR=true git rebase main", "git rebase --abort",
	"git cherry-pick $(git rev-list --all | sort | head -1)", "git cherry-pick --abort", "git commit -q --amend -m amended%d", "git " +
		"branch -q -m r%d",
	"git restore --staged .", "echo %d >n%d", "rm -f b; git commit -qam gone%d", "git revert --no-edit HEAD",
}

// TestASeriesOfCommandsLeavesTheSameAsWithoutASandbox compares random series, once inside and carried out, once on a plain
// repository. BAILIFF_SERIES is how many.
func TestASeriesOfCommandsLeavesTheSameAsWithoutASandbox(t *testing.T) {
	backendtest.Starts(t)
	rounds, err := strconv.Atoi(os.Getenv("BAILIFF_SERIES"))
	if err != nil {
		rounds = 4
	}
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, uint64(round)))
			w := start(t)
			plain := &world{TB: t, dir: filepath.Join(filepath.Dir(w.dir), "plain")}
			w.outside("cp -a . ../plain")
			var all []string
			for i := range 10 {
				text := series[random.IntN(len(series))]
				line := fixed + strings.ReplaceAll(text, "%d", fmt.Sprint(i)) + "; true"
				all = append(all, line)
				told := w.run(line)
				_, _ = plain.try("cd ../plain; set +e; " + line)
				if w.hasStep() {
					continue // HEAD and the index wait
				}
				const says = `git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags; cat .git/HEAD; git ls-files ` +
					`-s; git status --porcelain; git stash list --format=%H`
				got, want := w.outside(says), plain.outside("git update-index -q --refresh >/dev/null || true; "+says)
				if got != want {
					t.Fatalf("after\n%v\nit is\n%s\nand without a sandbox\n%s\nit told %s", all, got, want, told)
				}
			}
			w.want("git fsck --strict 2>&1 | grep -v 'dangling\\|notice' || true", "")
		})
	}
}

// fixed makes commits the same on both sides.
const fixed = "export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'; "

// hasStep says whether something goes on inside that takes several steps.
func (w *world) hasStep() bool {
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer"} {
		if isThere(filepath.Join(w.link.Path(), name)) {
			return true
		}
	}
	return false
}
