package pdp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

func memory(t *testing.T, dir string) *passes.Memory {
	t.Helper()
	m, err := passes.Open(dir)
	must(t, err)
	return m
}

// TestAnUnchangedFolderNeedsNoTests has a program run the tests that cannot: it is not asked.
func TestAnUnchangedFolderNeedsNoTests(t *testing.T) {
	t.Parallel()
	root, state := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": allowingTest}), t.TempDir()
	c := Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute, TestCommand: commanded(os.Args[0], servesTests),
		Passes: memory(t, state)}
	_, err := Open(t.Context(), c)
	must(t, err)
	c.TestCommand = commanded("false")
	for name, known := range map[string]*passes.Memory{"the sidecar": memory(t, state), "who only reads": passes.Read(state)} {
		c.Passes = known
		if p, err := Open(t.Context(), c); err != nil || judged(p).Decision.Revision != p.Revision() {
			t.Errorf("%s: got %v, want the policies in force", name, err)
		}
	}
	write(t, filepath.Join(root, "p_test.rego"), strings.Replace(allowingTest, `"allow"`, `"deny"`, 1))
	c.Passes = memory(t, state)
	if _, err := Open(t.Context(), c); err == nil {
		t.Error("a test that was not run passed")
	}
}

// TestTheProcessThatRunsTestsStays has one process serve several reloads, and another one come where it has gone.
func TestTheProcessThatRunsTestsStays(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"p.rego": timed(5), "p_test.rego": allowingTest})
	started := 0
	var process *exec.Cmd
	p, err := Open(t.Context(), Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute,
		TestCommand: func(ctx context.Context) *exec.Cmd {
			started++
			process = exec.CommandContext(ctx, os.Args[0], servesTests)
			return process
		}})
	must(t, err)
	for n := range 3 {
		write(t, filepath.Join(root, "p.rego"), timed(6+n))
		if p.reload(t.Context(), true); seconds(p) != 6+n || started != 1 {
			t.Fatalf("the limit is %d after %d starts: %v", seconds(p), started, p.Sound())
		}
	}
	write(t, filepath.Join(root, "p_test.rego"), "package t\n\ntest_no if 1 == 2\n")
	if p.reload(t.Context(), true); p.Sound() == nil || seconds(p) != 8 {
		t.Fatal("a test that fails is no fault")
	}
	write(t, filepath.Join(root, "p_test.rego"), allowingTest)
	must(t, process.Process.Kill())
	write(t, filepath.Join(root, "p.rego"), timed(9))
	if p.reload(t.Context(), true); seconds(p) != 9 || started != 2 {
		t.Fatalf("the limit is %d after %d starts: %v", seconds(p), started, p.Sound())
	}
	p.tests.Close()
	write(t, filepath.Join(root, "p.rego"), timed(10))
	if p.reload(t.Context(), true); seconds(p) != 10 || started != 3 {
		t.Fatalf("the limit is %d after %d starts: %v", seconds(p), started, p.Sound())
	}
}

// TestASaveEndsTheReloadThatItOvertakes saves policies whose test does not end, and then others.
func TestASaveEndsTheReloadThatItOvertakes(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]func(context.Context) *exec.Cmd{"here": nil, "apart": commanded(os.Args[0], servesTests)} {
		root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": allowingTest})
		p, told := watched(t, Config{Paths: []string{root}, RequireTests: true, TestCommand: command})
		put := func(text string) { // in one step: a half of it would be a version of its own
			file := filepath.Join(root, "p_test.rego")
			write(t, file+".swp", text)
			must(t, os.Rename(file+".swp", file))
		}
		put(endless)
		files, faults := p.files()
		backendtest.Await(t, "the reload begins", func() bool {
			trying := p.trying.Load()
			return trying != nil && *trying == contentOf(files, faults)
		})
		put(allowingTest + "\n# again\n")
		if !told.await(t) || p.Sound() != nil {
			t.Errorf("%s: the first reload that ended is of what was overtaken: %v", name, p.Sound())
		}
	}
}

// TestASaveThatIsTakenBackIsNotInForce gives up a reload when all but putting policies in force is done.
func TestASaveThatIsTakenBackIsNotInForce(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"p.rego": timed(5), "p_test.rego": allowingTest})
	p, err := Open(t.Context(), Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute})
	must(t, err)
	ctx, giveUp := context.WithCancel(t.Context())
	giveUp()
	next, faults := policyset.Load(source.ReadTrusted, []string{tree(t, map[string]string{"p.rego": timed(7)})})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	compile := compilingOf(next, false, noCheck)
	if faults := p.activate(ctx, next.Files, compile); len(faults) == 0 || seconds(p) != 5 {
		t.Errorf("the limit is %d: %v", seconds(p), faults)
	}
	if faults := p.activate(t.Context(), next.Files, compile); len(faults) > 0 || seconds(p) != 7 {
		t.Fatalf("the limit is %d: %v", seconds(p), faults)
	}
	if p.reload(t.Context(), false); seconds(p) != 5 { // the files count, not the last attempt
		t.Errorf("the limit is %d: %v", seconds(p), p.Sound())
	}
}

// TestWhatVariesIsTestedAtEachStart has a test that reads the clock, beside one that does not.
func TestWhatVariesIsTestedAtEachStart(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": allowingTest + "\ntest_clock if time.now_ns() > 0\n"})
	known := &passes.Memory{}
	c := Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute, Passes: known}
	p, err := Open(t.Context(), c)
	must(t, err)
	if p.Tested() || len(known.All()) != 1 {
		t.Errorf("%d keys are known and the files are: %t, want one test's", len(known.All()), p.Tested())
	}
	c.TestCommand = commanded("false")
	if _, err := Open(t.Context(), c); err == nil {
		t.Error("the test of the clock was not run")
	}
}

// endless are tests of which the last does not end.
const endless = allowingTest + "\ntest_endless if {\n\tsome a in numbers.range(1, 100000)\n" +
	"\tsome b in numbers.range(1, 100000)\n\ta + b == 0\n}\n"
