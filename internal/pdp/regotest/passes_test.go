package regotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

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
		p, faults := policyset.Load(source.ReadAll, []string{tree(t, files)})
		done, more := test(t.Context(), p, testRun{compiler: func() *ast.Compiler { return p.Compiler(true) }, known: known})
		must(t, known.Keep(done.passed))
		if len(faults)+len(more) > 0 || len(done.results) != c.run || len(done.passed) != c.passed {
			t.Errorf("%s %q: %d tests ran and %d passed, want %d and %d; %v %v", c.file, c.text, len(done.results),
				len(done.passed), c.run, c.passed, faults, more)
		}
	}
}

// TestARunThatIsEndedLeavesTheProcess has a request end the run before, whose last test does not end.
func TestARunThatIsEndedLeavesTheProcess(t *testing.T) {
	t.Parallel()
	started := 0
	site := NewProcess(func(ctx context.Context) *exec.Cmd {
		started++
		return exec.CommandContext(ctx, os.Args[0], servesTests)
	}, &passes.Memory{})
	defer site.Close()
	files := func(test string) []source.File {
		return []source.File{{Name: "p.rego", Place: "p.rego", Text: []byte(allowing)}, {Name: "p_test.rego", Place: "p_test.rego",
			Text: []byte(test)}}
	}
	if ended := site.Run(t.Context(), files(allowingTest)); len(ended.Faults) > 0 {
		t.Fatal(ended.Faults)
	}
	ctx, giveUp := context.WithCancel(t.Context())
	giveUp()
	if ended := site.Run(ctx, files(endless)); len(ended.Faults) == 0 {
		t.Error("a run that was given up passed")
	}
	if ended := site.Run(t.Context(), files(allowingTest+"\n# again\n")); len(ended.Faults) > 0 || started != 1 {
		t.Errorf("got %v, want the same process to go on", ended.Faults)
	}
}

// TestMemoryTellsWhatAFullRunTells changes the shipped policies in many small ways, and compares the tests that fail.
func TestMemoryTellsWhatAFullRunTells(t *testing.T) {
	backendtest.Long(t)
	t.Parallel()
	files, faults := source.ReadAll(shipped)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	known, failing, refused := &passes.Memory{}, 0, 0
	failures(t, files, known)
	const seed = 32
	rounds := backendtest.Rounds(3, 1000)
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
func failures(t *testing.T, files []source.File, known *passes.Memory) string {
	p, faults := policyset.Parse(files)
	if len(faults) > 0 {
		return faults.Error()
	}
	done, faults := test(t.Context(), p, testRun{compiler: func() *ast.Compiler { return p.Compiler(true) }, known: known})
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
func mutate(r *rand.Rand, files []source.File) (changed []source.File, what string) {
	changed = slices.Clone(files)
	if r.IntN(5) == 0 {
		text, what := teamFile(r)
		return append(changed, source.File{Name: "house.rego", Place: "house.rego", Text: []byte(text)}), what
	}
	for {
		n := r.IntN(len(files))
		if files[n].IsSchema() || files[n].IsTest() && r.IntN(4) > 0 {
			continue
		}
		lines := strings.Split(string(files[n].Text), "\n")
		at := r.IntN(len(lines))
		if one := mutation(r, lines[at], files[n].IsData()); one != lines[at] {
			what := fmt.Sprintf("%s:%d %q is %q", files[n].Name, at+1, lines[at], one)
			lines[at] = one
			changed[n].Text = []byte(strings.Join(lines, "\n"))
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
