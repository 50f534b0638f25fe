package pdp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
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

// TestOnlyWhatChangedIsTestedAgain counts the tests that run.
func TestOnlyWhatChangedIsTestedAgain(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p.rego": allowing, "p_test.rego": allowingTest, "q.rego": "package q\n\nx := 1\n",
		"q_test.rego": "package q_test\n\ntest_x if data.q.x > 0\n\ntest_row[name] if {\n\tsome name in [\"a\"]\n\tdata.q.x < 9\n}\n"}
	known := &passes.Memory{}
	for _, c := range []struct {
		file, text  string
		run, passed int
	}{
		{"p.rego", allowing, 3, 3},
		{"p.rego", allowing + "\n# why\n", 0, 3},
		{"q.rego", "package q\n\nx := 2\n", 2, 3},
		{"q.rego", "package q\n\nx := 1\n", 0, 3},
		{"q.rego", "package q\n\nx := 0\n", 2, 2},
		{"q.rego", "package q\n\nx := 0\n", 1, 2},
		{"r.rego", "package bailiff\n\nlimits := {\"timeout_seconds\": 180, \"output_bytes\": 50000} if input.tool\n", 2, 2},
	} {
		files[c.file] = c.text
		p, faults := load(readAll, []string{tree(t, files)})
		done, more := p.test(t.Context(), testRun{compiler: func() *ast.Compiler { return p.compiler(true) }, known: known})
		must(t, known.Keep(done.passed))
		if len(faults)+len(more) > 0 || len(done.results) != c.run || len(done.passed) != c.passed {
			t.Errorf("%s %q: %d tests ran and %d passed, want %d and %d; %v %v", c.file, c.text, len(done.results),
				len(done.passed), c.run, c.passed, faults, more)
		}
	}
}

// TestTheProcessThatRunsTestsStays has one process serve several reloads, and another one come where it has gone.
func TestTheProcessThatRunsTestsStays(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"p.rego": timed(5), "p_test.rego": allowingTest})
	started := 0
	p, err := Open(t.Context(), Config{Paths: []string{root}, RequireTests: true, EvalTimeout: time.Minute,
		TestCommand: func(ctx context.Context) *exec.Cmd {
			started++
			return exec.CommandContext(ctx, os.Args[0], servesTests)
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
	must(t, p.tests.process.cmd.Process.Kill())
	write(t, filepath.Join(root, "p.rego"), timed(9))
	if p.reload(t.Context(), true); seconds(p) != 9 || started != 2 {
		t.Fatalf("the limit is %d after %d starts: %v", seconds(p), started, p.Sound())
	}
	p.tests.close()
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
	next, faults := load(readTrusted, []string{tree(t, map[string]string{"p.rego": timed(7)})})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if faults := p.activate(ctx, next, noCheck); len(faults) == 0 || seconds(p) != 5 {
		t.Errorf("the limit is %d: %v", seconds(p), faults)
	}
	if faults := p.activate(t.Context(), next, noCheck); len(faults) > 0 || seconds(p) != 7 {
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

// TestARunThatIsEndedLeavesTheProcess has a request end the run before, whose last test does not end.
func TestARunThatIsEndedLeavesTheProcess(t *testing.T) {
	t.Parallel()
	site := &testSite{command: commanded(os.Args[0], servesTests), known: &passes.Memory{}}
	defer site.close()
	files := func(test string) []file {
		return []file{{name: "p.rego", place: "p.rego", text: []byte(allowing)}, {name: "p_test.rego", place: "p_test.rego",
			text: []byte(test)}}
	}
	if ended := site.run(t.Context(), files(allowingTest)); len(ended.faults) > 0 {
		t.Fatal(ended.faults)
	}
	process := site.process
	ctx, giveUp := context.WithCancel(t.Context())
	giveUp()
	if ended := site.run(ctx, files(endless)); len(ended.faults) == 0 {
		t.Error("a run that was given up passed")
	}
	if ended := site.run(t.Context(), files(allowingTest+"\n# again\n")); len(ended.faults) > 0 || site.process != process {
		t.Errorf("got %v, want the same process to go on", ended.faults)
	}
}

// endless are tests of which the last does not end.
const endless = allowingTest + "\ntest_endless if {\n\tsome a in numbers.range(1, 100000)\n" +
	"\tsome b in numbers.range(1, 100000)\n\ta + b == 0\n}\n"

// TestMemoryTellsWhatAFullRunTells changes the shipped policies in many small ways, and compares the tests that fail.
func TestMemoryTellsWhatAFullRunTells(t *testing.T) {
	backendtest.Long(t)
	t.Parallel()
	files, faults := readAll(shipped)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	known, failing, refused := &passes.Memory{}, 0, 0
	failures(t, files, known)
	const seed = 32
	rounds := backendtest.Rounds(6, 1000)
	for n := range rounds {
		mutated, what := mutate(rand.New(rand.NewPCG(seed, uint64(n))), files)
		full, remembered := failures(t, mutated, nil), failures(t, mutated, known)
		switch {
		case full != remembered:
			t.Errorf("mutation %d, %s: a full run says\n%s\nwith memory\n%s", n, what, full, remembered)
		case strings.Contains(full, "rego_"):
			refused++
		case full != "":
			failing++
		}
	}
	t.Logf("of %d mutations %d did not compile, %d failed a test", rounds, refused, failing)
}

// failures says which tests fail, or why none could be run. What passes is known then.
func failures(t *testing.T, files []file, known *passes.Memory) string {
	p, faults := parse(files)
	if len(faults) > 0 {
		return faults.Error()
	}
	done, faults := p.test(t.Context(), testRun{compiler: func() *ast.Compiler { return p.compiler(true) }, known: known})
	if len(faults) > 0 {
		return faults.Error()
	}
	must(t, known.Keep(done.passed))
	var names []string
	for _, one := range done.results {
		if one.Outcome != Pass {
			names = append(names, one.Package+"."+one.Name+" "+one.describe())
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// mutate changes one thing in one file, or adds or removes a file.
func mutate(r *rand.Rand, files []file) (changed []file, what string) {
	changed = slices.Clone(files)
	if r.IntN(5) == 0 {
		text, what := teamFile(r)
		return append(changed, file{name: "house.rego", place: "house.rego", text: []byte(text)}), what
	}
	for {
		n := r.IntN(len(files))
		if files[n].isSchema() || files[n].isTest() && r.IntN(4) > 0 {
			continue
		}
		lines := strings.Split(string(files[n].text), "\n")
		at := r.IntN(len(lines))
		if one := mutation(r, lines[at], files[n].isData()); one != lines[at] {
			what := fmt.Sprintf("%s:%d %q is %q", files[n].name, at+1, lines[at], one)
			lines[at] = one
			changed[n].text = []byte(strings.Join(lines, "\n"))
			return changed, what
		}
	}
}

// teamFile adds to the sets that teams add to, under conditions that hold for some tests, for none or for all.
func teamFile(r *rand.Rand) (text, what string) {
	set := pick(r, "deny", "require_approval", "findings", "deny_connection", "ask_connection", "forward_env", "_own")
	condition := pick(r, `"git" in input.command.programs`, `"nmap" in input.command.programs`, "input.tool == \"terminal\"",
		"input.session.platform == \"slack\"", "count(input.command.hosts) > 0", "true", "data.bailiff.tables.env.GITHUB_TOKEN",
		"time.now_ns() > 0", "some name in input.command.programs; name in data.bailiff.tables.nowhere", "print(input.tool)", "1 / 0")
	value := `{"rule": "house.rule", "message": "No."}`
	switch set {
	case "findings":
		value = `{"rule": "house.rule", "message": "No.", "match": "x"}`
	case "forward_env":
		value = `"HOUSE"`
	case "_own":
		value = "7"
	}
	text = fmt.Sprintf("package bailiff\n\n%s contains %s if {\n\t%s\n}\n", set, value, condition)
	return text, text
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

var (
	aNumber = regexp.MustCompile(`\b\d+\b`)
	aWord   = regexp.MustCompile(`"[a-z][a-z_.-]+"`)
	aRow    = regexp.MustCompile(`^(\s+)([A-Za-z_.-]+):`)
)

// mutation is a line with a small change; the same line where the change that was drawn does not fit it.
func mutation(r *rand.Rand, line string, data bool) string {
	if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
		return line
	}
	if data {
		switch r.IntN(3) {
		case 0:
			return aRow.ReplaceAllString(line, "${1}${2}x:")
		case 1:
			return aNumber.ReplaceAllString(line, "7")
		}
		return ""
	}
	switch r.IntN(7) {
	case 0:
		return strings.Replace(line, "\t", "\tnot ", 1)
	case 1:
		return strings.NewReplacer("==", "!=", "!=", "==", " < ", " > ", " > ", " < ", ">=", "<", "<=", ">").Replace(line)
	case 2:
		return aNumber.ReplaceAllString(line, "7")
	case 3:
		return aWord.ReplaceAllString(line, `"other"`)
	case 4:
		return strings.NewReplacer("startswith(", "endswith(", "endswith(", "startswith(", "lower(", "upper(").Replace(line)
	case 5:
		return strings.Replace(line, "not ", "", 1)
	}
	if strings.HasPrefix(line, "\t") && !strings.HasSuffix(line, "{") && !strings.HasPrefix(line, "\t}") {
		return "\ttrue"
	}
	return line
}
