package pdp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
)

// shipped are the policies, with their tests and promises.
var shipped = []string{"../../policies", "../../policy_test.rego"}

const manyTests = `package t

import data.bailiff

test_passes if bailiff.limits.timeout_seconds == 180

test_fails if bailiff.limits.timeout_seconds == 181

test_errs if clash(1) == 3

clash(x) := 1 if x > 0

clash(x) := 2 if x == 1

todo_test_later if true

test_prints if print("hello", 1)

test_cases[name] if {
	some name, want in {"right": 180, "wrong": 181}
	bailiff.limits.timeout_seconds == want
}

test_twice if true

test_twice if 1 == 2

test_data if data.tables.x == 1

test_unused if {
	x := 1
	true
}

helper if true
`

func TestTestsEndAsInStockOPA(t *testing.T) {
	made := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": manyTests, "data.yaml": "tables: {x: 1}", "sub/data.json": `{"y": 2}`,
		"sub/more_test.rego": "package more_test\n\ntest_sub if data.sub.y == 2\n"})
	for name, paths := range map[string][]string{"made up": {made}, "shipped": shipped} {
		t.Run(name, func(t *testing.T) {
			report, err := Test(context.Background(), TestConfig{Paths: paths, Coverage: true})
			must(t, err)
			results, covered := stock(t, paths)
			got := map[string]int{}
			for _, r := range report.Results {
				got[fmt.Sprintf("%s.%s at %s:%d %s %s %s", r.Package, r.Name, r.File, r.Line, r.Outcome, r.Message, r.Output)]++
			}
			if !maps.Equal(got, results) {
				t.Errorf("got\n%s\nwant\n%s", lines(got), lines(results))
			}
			if fmt.Sprintf("%.2f", report.Coverage.Percent) != fmt.Sprintf("%.2f", covered) {
				t.Errorf("the coverage is %v, want %v", report.Coverage.Percent, covered)
			}
		})
	}
}

func lines(results map[string]int) string {
	return strings.Join(slices.Sorted(maps.Keys(results)), "\n")
}

// stock does what the command "opa test --coverage" does.
func stock(t *testing.T, paths []string) (map[string]int, float64) {
	t.Helper()
	ctx := context.Background()
	modules, store, err := tester.LoadWithParserOptions(paths, nil, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
	must(t, err)
	txn, err := store.NewTransaction(ctx)
	must(t, err)
	defer store.Abort(ctx, txn)
	compiler := ast.NewCompiler().SetErrorLimit(10).WithPathConflictsCheck(storage.NonEmpty(ctx, store, txn)).
		WithEnablePrintStatements(true).WithCapabilities(ast.CapabilitiesForThisVersion()).WithUseTypeCheckAnnotations(true)
	reached := cover.New()
	running, err := tester.NewRunner().SetCompiler(compiler).SetStore(store).CapturePrintOutput(true).
		SetCoverageQueryTracer(reached).SetModules(modules).RunTests(ctx, txn)
	must(t, err)
	results := map[string]int{}
	for r := range running {
		verdict, message := "ERROR", ""
		switch {
		case r.Pass():
			verdict = "PASS"
		case r.Fail:
			verdict = "FAIL"
		case r.Skip:
			verdict = "SKIPPED"
		}
		if r.Error != nil {
			message = r.Error.Error()
		}
		results[fmt.Sprintf("%s.%s at %s:%d %s %s %s", r.Package, r.Name, r.Location.File, r.Location.Row, verdict, message, r.Output)]++
	}
	return results, reached.Report(modules).Coverage
}

func TestTheShippedPoliciesPassTheirTests(t *testing.T) {
	report, err := Test(context.Background(), TestConfig{Paths: shipped})
	must(t, err)
	if !report.Passed() {
		t.Error(report.faults())
	}
	embedded, faults := load(readTrusted, nil)
	if len(faults) == 0 {
		faults = embedded.prove(context.Background())
	}
	if len(faults) > 0 {
		t.Errorf("the embedded ones: %v", faults)
	}
	if faults := Check([]string{copied(t)}); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestAReportSaysWhatFailedAndWhere(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": manyTests, "data.yaml": "tables: {x: 1}"})
	report, err := Test(context.Background(), TestConfig{Paths: []string{root}})
	must(t, err)
	told := strings.ReplaceAll(report.faults().Error(), root+"/", "")
	for _, want := range []string{
		"p_test.rego:7: test test_fails: FAIL", "p_test.rego:9: test test_errs: ERROR: ", "p_test.rego:15: test todo_test_later: SKIPPED",
		"p_test.rego:19: test test_cases: FAIL in wrong", "p_test.rego:26: test test_twice#01: FAIL",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
	if report.Passed() {
		t.Error("it says that all tests passed")
	}
}

func TestCoverageHasAThreshold(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing + "\nnever if input.tool == \"x\"\n", "p_test.rego": allowingTest})
	for threshold, want := range map[float64]bool{0: true, 10: true, 100: false} {
		report, err := Test(context.Background(), TestConfig{Paths: []string{root}, Coverage: true, Threshold: threshold})
		must(t, err)
		if report.Passed() != want {
			t.Errorf("with threshold %v and coverage %v passed is %v", threshold, report.Coverage.Percent, report.Passed())
		}
		if files := report.Coverage.Files; len(files) != 1 || files[0].File != filepath.Join(root, "p.rego") || files[0].Missed[0] != [2]int{12, 12} {
			t.Errorf("got %+v, want line 12 of p.rego", files)
		}
	}
}

func TestNoTestsDoNotPass(t *testing.T) {
	report, err := Test(context.Background(), TestConfig{Paths: []string{tree(t, map[string]string{"p.rego": allowing})}})
	if err != nil || report.Passed() {
		t.Errorf("got %+v %v, want an empty report that has not passed", report, err)
	}
	if _, err := Test(context.Background(), TestConfig{Paths: []string{"nowhere"}}); err == nil {
		t.Error("a path that is not there is no fault")
	}
}
