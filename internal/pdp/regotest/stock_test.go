package regotest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// stockPath is OPA's own command, of the version that is built in.
var stockPath = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("go", "tool", "-n", "opa").Output()
	return strings.TrimSpace(string(path)), err
})

// opa runs OPA's own command.
func opa(t *testing.T, args ...string) (printed []byte, status int) {
	t.Helper()
	path, err := stockPath()
	must(t, err)
	command := exec.Command(path, args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	printed, err = command.Output()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	t.Log(stderr.String())
	return printed, command.ProcessState.ExitCode()
}

// stockResult is what "opa test --format json" says of one test.
type stockResult struct {
	Location struct {
		File string
		Row  int
	}
	Package    string
	Name       string
	Fail, Skip bool
	Output     []byte
	Error      *struct {
		Code, Message string
		Location      struct {
			File string
			Row  int
		}
	}
	SubResults stockCases `json:"sub_results"`
}

type stockCases map[string]struct {
	Fail       bool
	SubResults stockCases `json:"sub_results"`
}

// leaves are the cases that consist of no others.
func (c stockCases) leaves(prefix string) (all []string) {
	for name, one := range c {
		if len(one.SubResults) > 0 {
			all = append(all, one.SubResults.leaves(prefix+name+"/")...)
			continue
		}
		all = append(all, fmt.Sprintf("%s%s:%v", prefix, name, !one.Fail))
	}
	slices.Sort(all)
	return all
}

func (r stockResult) String() string {
	verdict, message := Pass, ""
	switch {
	case r.Error != nil:
		at := r.Error.Location
		verdict, message = Error, fmt.Sprintf("%s:%d: %s: %s", at.File, at.Row, r.Error.Code, r.Error.Message)
	case r.Fail:
		verdict = Fail
	case r.Skip:
		verdict = Skipped
	}
	return fmt.Sprintf("%s.%s at %s:%d %s %v %s %s", r.Package, r.Name, r.Location.File, r.Location.Row, verdict,
		r.SubResults.leaves(""), message, r.Output)
}

// likeStock writes a result as stockResult does.
func likeStock(r Result) string {
	var cases []string
	for _, c := range r.Cases {
		cases = append(cases, fmt.Sprintf("%s:%v", c.Name, c.Outcome == Pass))
	}
	slices.Sort(cases)
	return fmt.Sprintf("%s.%s at %s:%d %s %v %s %s", r.Package, r.Name, r.File, r.Line, r.Outcome, cases, r.Message, r.Output)
}

func counted[T any](all []T, text func(T) string) map[string]int {
	counts := map[string]int{}
	for _, one := range all {
		counts[text(one)]++
	}
	return counts
}

func lines(counts map[string]int) string {
	return strings.Join(slices.Sorted(maps.Keys(counts)), "\n")
}

var manyFiles = map[string]string{
	"p.rego": allowing, "p_test.rego": manyTests, "data.yaml": "tables: {x: 1}", "sub/data.json": `{"y": 2}`,
	"sub/more_test.rego": "package more_test\n\ntest_sub if data.sub.y == 2\n",
}

func TestTestsEndAsInStockOPA(t *testing.T) {
	backendtest.Long(t)
	for name, paths := range map[string][]string{"made up": {tree(t, manyFiles)}, "shipped": shipped} {
		t.Run(name, func(t *testing.T) {
			report, err := Run(context.Background(), Config{Paths: paths})
			must(t, err)
			printed, status := opa(t, append([]string{"test", "--format", "json"}, paths...)...)
			var results []stockResult
			must(t, json.Unmarshal(printed, &results))
			got, want := counted(report.Results, likeStock), counted(results, stockResult.String)
			if !maps.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", lines(got), lines(want))
			}
			if report.OK() != (status == 0) || name == "shipped" && !report.OK() {
				t.Errorf("that all passed is %v, and OPA exits with %d: %v", report.OK(), status, report.faults())
			}
		})
	}
}

var stockSum = regexp.MustCompile(`(?m)^(PASS|FAIL|SKIPPED|ERROR): (\d+)/`)

func TestTestsAreCountedAsInStockOPA(t *testing.T) {
	root := tree(t, manyFiles)
	report, err := Run(context.Background(), Config{Paths: []string{root}})
	must(t, err)
	printed, _ := opa(t, "test", root)
	want := map[Verdict]int{}
	for _, sum := range stockSum.FindAllStringSubmatch(string(printed), -1) {
		want[Verdict(sum[1])], err = strconv.Atoi(sum[2])
		must(t, err)
	}
	if got := report.Tally(); !maps.Equal(got, want) || len(got) != 4 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCoverageIsThatOfStockOPA(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing + halfReached, "p_test.rego": allowingTest,
		"sub/q.rego": "package q\n\nunreached := 1 if 1 == 2\n"})
	report, err := Run(context.Background(), Config{Paths: []string{root}, Coverage: true})
	must(t, err)
	printed, _ := opa(t, "test", "--coverage", "--format", "json", root)
	percent, want := stockCoverage(t, printed)
	got := counted(report.Coverage.Files, func(f FileCoverage) string { return fmt.Sprintf("%s %.2f %v", f.File, f.Percent, f.Missed) })
	if !maps.Equal(got, want) || len(got) != 3 {
		t.Errorf("got\n%s\nwant\n%s", lines(got), lines(want))
	}
	if report.Coverage.Percent != percent {
		t.Errorf("the coverage is %v, want %v", report.Coverage.Percent, percent)
	}
	for threshold, want := range map[string]int{"10": 0, "99": 2} {
		report.Threshold, err = strconv.ParseFloat(threshold, 64)
		must(t, err)
		if _, status := opa(t, "test", "--threshold", threshold, root); status != want || report.OK() != (want == 0) {
			t.Errorf("with a threshold of %s that it passed is %v, and OPA exits with %d", threshold, report.OK(), status)
		}
	}
}

const halfReached = `
never if input.tool == "call"

nor if {
	input.a == 1
	input.b == 2
}

either if decision.outcome == "deny"

either if decision.outcome == "allow"
`

// stockCoverage is what "opa test --coverage" printed, as counted has it of ours.
func stockCoverage(t *testing.T, printed []byte) (percent float64, files map[string]int) {
	t.Helper()
	var report struct {
		Coverage float64
		Files    map[string]struct {
			Coverage   float64
			NotCovered []struct{ Start, End struct{ Row int } } `json:"not_covered"`
		}
	}
	must(t, json.Unmarshal(printed, &report))
	files = map[string]int{}
	for name, f := range report.Files {
		var missed [][2]int
		for _, m := range f.NotCovered {
			missed = append(missed, [2]int{m.Start.Row, m.End.Row})
		}
		files[fmt.Sprintf("%s %.2f %v", name, f.Coverage, missed)]++
	}
	return report.Coverage, files
}

// What stock OPA cannot even compile is no result of a test here either.
func TestWhatStockOPACannotTestIsAFault(t *testing.T) {
	for name, text := range map[string]string{
		"syntax":           "package p_test\n\ntest_x if {\n",
		"unsafe variable":  "package p_test\n\ntest_x if x == 1\n",
		"unknown function": "package p_test\n\ntest_x if data.p.f(1)\n\ntest_y if g(2)\n",
		"recursion":        "package p_test\n\ntest_x if test_x\n",
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": text})
			_, err := Run(context.Background(), Config{Paths: []string{root}})
			if _, status := opa(t, "test", root); status != 1 || err == nil || !strings.Contains(err.Error(), "p_test.rego:3:") &&
				name != "syntax" {
				t.Errorf("got %v, and OPA exits with %d", err, status)
			}
		})
	}
}
