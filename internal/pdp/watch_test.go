package pdp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// reloads hands on what the observer is told.
type reloads chan bool

func (r reloads) Reloaded(ok bool, _ string) { r <- ok }

func (reloads) OutOfTime() {}

// await is the end of the next reload.
func (r reloads) await(t *testing.T) bool {
	t.Helper()
	return awaittest.Value(t, "a reload", r)
}

// until waits for a reload that ends as wanted: a change of several files may be
// seen half-way.
func (r reloads) until(t *testing.T, want bool) {
	t.Helper()
	for r.await(t) != want {
	}
}

// watched is a PDP that follows its files until the test ends. It has no pollInterval
// that could see what a watch should have told.
func watched(t *testing.T, c Config) (*PDP, reloads) {
	t.Helper()
	return patrolled(t, c, time.Hour)
}

func patrolled(t *testing.T, c Config, pollInterval time.Duration) (*PDP, reloads) {
	t.Helper()
	told := make(reloads, 1000)
	c.EvalTimeout, c.Observer = time.Minute, told
	p, err := Open(context.Background(), c)
	must(t, err)
	p.pollInterval = pollInterval
	told.until(t, true)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Watch(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return p, told
}

// timed is a set of policies that is known by its time limit.
func timed(seconds int) string {
	return strings.Replace(allowing, "180", fmt.Sprint(seconds), 1)
}

func seconds(p *PDP) int { return judged(p).Decision.Limits.TimeoutSeconds }

func TestASaveComesIntoForceHoweverItIsDone(t *testing.T) {
	for name, save := range map[string]func(t *testing.T, root, file string){
		"written in place": func(t *testing.T, _, file string) { write(t, file, timed(7)) },
		"renamed over": func(t *testing.T, _, file string) {
			write(t, file+".swp", timed(7))
			must(t, os.Rename(file+".swp", file))
		},
		"renamed over from outside": func(t *testing.T, root, file string) {
			write(t, root+".new", timed(7))
			must(t, os.Rename(root+".new", file))
		},
		"moved away, then written": func(t *testing.T, _, file string) {
			must(t, os.Rename(file, file+"~"))
			write(t, file, timed(7))
		},
		"deleted, then written": func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			write(t, file, timed(7))
		},
		"in pieces": func(t *testing.T, _, file string) {
			to, err := os.Create(file)
			must(t, err)
			for _, line := range strings.SplitAfter(timed(7), "\n") {
				_, err := to.WriteString(line)
				must(t, err)
			}
			must(t, to.Close())
		},
		"replaced by a link": func(t *testing.T, root, file string) {
			write(t, root+".new/q.rego", timed(7))
			must(t, os.Symlink(root+".new/q.rego", file+".l"))
			must(t, os.Rename(file+".l", file))
		},
		"with its whole folder replaced": func(t *testing.T, root, _ string) {
			write(t, root+".new/p.rego", timed(7))
			must(t, os.Rename(root, root+".old"))
			must(t, os.Rename(root+".new", root))
		},
		"with its whole folder deleted and made again": func(t *testing.T, root, file string) {
			must(t, os.RemoveAll(root))
			write(t, file, timed(7))
		},
		"in a new folder": func(t *testing.T, root, file string) {
			must(t, os.Remove(file))
			write(t, filepath.Join(root, "a/b/c.rego"), timed(7))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "policies")
			file := filepath.Join(root, "p.rego")
			write(t, file, timed(5))
			p, told := watched(t, Config{Paths: []string{root}})
			save(t, root, file)
			for seconds(p) != 7 {
				told.await(t)
			}
			if !p.Status().OK {
				t.Errorf("got %+v", p.Status())
			}
			wantFollowed(t, p, told, root)
		})
	}
}

// wantFollowed says that the next change is noticed too: no watch was lost.
func wantFollowed(t *testing.T, p *PDP, told reloads, root string) {
	t.Helper()
	write(t, filepath.Join(root, "more.rego"), "package more\n\nx := 1\n")
	for len(p.Status().Files) < 2 {
		told.await(t)
	}
}

// TestAPatrolSeesWhatNoWatchTells swaps a link above the folder that is watched.
func TestAPatrolSeesWhatNoWatchTells(t *testing.T) {
	root := tree(t, map[string]string{"1/policies/p.rego": timed(5), "2/policies/p.rego": timed(7)})
	must(t, os.Symlink("1", filepath.Join(root, "current")))
	p, told := patrolled(t, Config{Paths: []string{filepath.Join(root, "current/policies")}}, 10*time.Millisecond)
	must(t, os.Symlink("2", filepath.Join(root, "next")))
	must(t, os.Rename(filepath.Join(root, "next"), filepath.Join(root, "current")))
	told.until(t, true)
	if seconds(p) != 7 {
		t.Errorf("the limit is %d, want 7", seconds(p))
	}
}

func TestASwapOfLinksComesIntoForceAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ link, path string }{
		"a mounted ConfigMap":            {"..data", "."},
		"a release below a current link": {"current", "current"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"..1/p.rego": timed(5), "..1/q.rego": "package q\n", "..2/p.rego": timed(7),
				"..2/q.rego": "package q\n\nx := 1\n"})
			must(t, os.Symlink("..1", filepath.Join(root, c.link)))
			if c.path == "." {
				must(t, os.Symlink("..data/p.rego", filepath.Join(root, "p.rego")))
				must(t, os.Symlink("..data/q.rego", filepath.Join(root, "q.rego")))
			}
			p, told := watched(t, Config{Paths: []string{filepath.Join(root, c.path)}})
			for i, want := range []int{7, 5, 7} {
				next := filepath.Join(root, "..next")
				must(t, os.Symlink([]string{"..2", "..1"}[i%2], next))
				must(t, os.Rename(next, filepath.Join(root, c.link)))
				if !told.await(t) || seconds(p) != want {
					t.Fatalf("after swap %d the limit is %d, want %d", i, seconds(p), want)
				}
			}
		})
	}
}

func TestASingleFileIsFollowed(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": timed(5), "data.yaml": "x: 1"})
	p, told := watched(t, Config{Paths: []string{filepath.Join(root, "p.rego")}})
	write(t, filepath.Join(root, "p.rego.tmp"), timed(7))
	must(t, os.Rename(filepath.Join(root, "p.rego.tmp"), filepath.Join(root, "p.rego")))
	told.until(t, true)
	if seconds(p) != 7 || len(p.Status().Files) != 1 {
		t.Errorf("got %d %v", seconds(p), p.Status().Files)
	}
}

func TestWhatIsWrongKeepsTheLastGoodPoliciesInForce(t *testing.T) {
	good := map[string]string{"p.rego": timed(5), "p_test.rego": allowingTest, "data.yaml": "a: 1"}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, root string)
		want  string
	}{
		"a syntax error": {saving("p.rego", "package bailiff\n\ndecision := {\n"), "p.rego:4: rego_parse_error"},
		"a type error":   {saving("q.rego", "package bailiff\n\nx if input.sesion\n"), "q.rego:3: rego_type_error"},
		"no entrypoint":  {saving("p.rego", "package bailiff\n\nlimits := 1\n"), "no file defines the rule data.bailiff.decision"},
		"broken data":    {saving("data.yaml", "a: [\n"), "data.yaml:"},
		"a failing test": {saving("p_test.rego", "package t\n\ntest_no if 1 == 2\n"), "p_test.rego:3: test test_no: FAIL"},
		"a test in error": {saving("p_test.rego", "package t\n\ntest_no if f(1) == 3\n\nf(x) := 1 if x > 0\n\nf(x) := 2 if x == 1\n"),
			"p_test.rego:3: test test_no: ERROR: "},
		"no tests":  {removing("p_test.rego"), "the policies have no tests"},
		"no files":  {removing("p.rego", "p_test.rego", "data.yaml"), "there are no policies"},
		"no folder": {removing("."), "reading it: no such file"},
		"an unreadable file": {func(t *testing.T, root string) {
			must(t, os.Symlink("nowhere", filepath.Join(root, "x.rego")))
		}, "x.rego: reading it: no such file"},
		"a file that others may write": {func(t *testing.T, root string) {
			must(t, os.Chmod(filepath.Join(root, "p.rego"), 0o666))
		}, "others may write"},
		"a file in the folder's place": {func(t *testing.T, root string) {
			must(t, os.RemoveAll(root))
			must(t, os.WriteFile(root, nil, 0o644))
		}, "this is no policy"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "policies")
			lay(t, root, good)
			p, told := watched(t, Config{Paths: []string{root}, RequireTests: true})
			first := p.Status()
			c.spoil(t, root)
			for s := p.Status(); s.OK || !strings.Contains(source.Faults(s.Faults).Error(), c.want); s = p.Status() {
				told.until(t, false)
			}
			if s := p.Status(); s.Revision != first.Revision || !s.Loaded.Equal(first.Loaded) || seconds(p) != 5 {
				t.Errorf("got %+v, want the first policies in force", s)
			}
			must(t, os.RemoveAll(root))
			good["p.rego"] = timed(9)
			lay(t, root, good)
			for seconds(p) != 9 || !p.Status().OK {
				told.until(t, true)
			}
			good["p.rego"] = timed(5)
		})
	}
}

func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
}

func saving(file, text string) func(*testing.T, string) {
	return func(t *testing.T, root string) { write(t, filepath.Join(root, file), text) }
}

func removing(files ...string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		for _, f := range files {
			must(t, os.RemoveAll(filepath.Join(root, f)))
		}
	}
}

func TestTheSamePoliciesAgainClearAFault(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": timed(5)})
	p, told := watched(t, Config{Paths: []string{root}})
	first := p.Status()
	write(t, filepath.Join(root, "p.rego"), "package bailiff\n\n???\n")
	told.until(t, false)
	write(t, filepath.Join(root, "p.rego"), timed(5))
	told.until(t, true)
	if s := p.Status(); !s.OK || s.Revision != first.Revision || !s.Loaded.Equal(first.Loaded) {
		t.Errorf("got %+v, want the first policies, without a fault", s)
	}
}

func TestPoliciesWithoutTestsStartOnlyWhereNoneAreRequired(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing})
	if _, err := Open(context.Background(), Config{Paths: []string{root}, RequireTests: true}); err == nil ||
		!strings.Contains(err.Error(), "no tests") {
		t.Errorf("got %v, want the missing tests told", err)
	}
	write(t, filepath.Join(root, "p_test.rego"), "package t\n\ntest_no if 1 == 2\n")
	if _, err := Open(context.Background(), Config{Paths: []string{root}, RequireTests: true}); err == nil ||
		!strings.Contains(err.Error(), "p_test.rego:3") {
		t.Errorf("got %v, want the failing test told", err)
	}
	if _, err := Open(context.Background(), Config{Paths: []string{root}}); err != nil {
		t.Errorf("got %v, want tests to be of no concern", err)
	}
}

// TestNoDecisionMixesTwoRevisions has two files that say the same number: a
// decision in which they differ, or that names the revision of another number,
// was made by halves.
func TestNoDecisionMixesTwoRevisions(t *testing.T) {
	const rounds, clients = 30, 8
	root := t.TempDir()
	put := func(n int) {
		write(t, filepath.Join(root, "..next/p.rego"),
			strings.Replace(timed(n), "\"denials\"", "\"env\": {\"set\": {\"N\": n}},\n\t\"denials\"", 1))
		write(t, filepath.Join(root, "..next/n.rego"), fmt.Sprintf("package bailiff\n\nn := \"%d\"\n", n))
		must(t, os.RemoveAll(filepath.Join(root, "..old")))
		_ = os.Rename(filepath.Join(root, "policies"), filepath.Join(root, "..old"))
		must(t, os.Rename(filepath.Join(root, "..next"), filepath.Join(root, "policies")))
	}
	put(1)
	p, told := watched(t, Config{Paths: []string{filepath.Join(root, "policies")}})
	var revisions sync.Map
	revisions.Store(p.Revision(), 1)
	done := make(chan struct{})
	type seen struct {
		revision string
		n        int
	}
	all := make([]map[seen]int, clients)
	var running sync.WaitGroup
	for i := range all {
		all[i] = map[seen]int{}
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				one := asked{listing, ready}
				one.Request.Session.UserName = strings.Repeat("x", n%3) // so that some are remembered
				d := one.judged(p).Decision
				if d.Outcome != bailiff.Allow || d.Env.Set["N"] != fmt.Sprint(d.Limits.TimeoutSeconds) {
					t.Errorf("got %+v, want one revision's answer", d)
					return
				}
				all[i][seen{d.Revision, d.Limits.TimeoutSeconds}]++
			}
		})
	}
	for n := 2; n <= rounds+1; n++ {
		put(n)
		for seconds(p) != n {
			told.await(t)
		}
		revisions.Store(p.Revision(), n)
	}
	close(done)
	running.Wait()
	for _, some := range all {
		for s := range some {
			if n, known := revisions.Load(s.revision); !known || n != s.n {
				t.Errorf("revision %s answered %d, but is that of %v", s.revision, s.n, n)
			}
		}
	}
}

// An endless rule would hold up every test in turn, and with them the reload of
// its own correction.
func TestAnEndlessRuleIsGivenUpWithItsFirstTest(t *testing.T) {
	backendtest.Long(t)
	root := t.TempDir()
	write(t, filepath.Join(root, "p.rego"),
		"package bailiff\n\ndecision := {}\n\nendless if count([x | some x in numbers.range(1, 1000000000)]) == 3\n")
	tests := "package bailiff_test\n\nimport data.bailiff\n"
	for n := range 30 {
		tests += fmt.Sprintf("\ntest_%d if not bailiff.endless\n", n)
	}
	write(t, filepath.Join(root, "p_test.rego"), tests)
	_, err := Open(context.Background(), Config{Paths: []string{root}, RequireTests: true})
	var faults source.Faults
	if !errors.As(err, &faults) || len(faults) != 1 || !strings.Contains(err.Error(), "test_") {
		t.Errorf("got %v, want the one test that took too long", err)
	}
}
