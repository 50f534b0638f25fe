package regotest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"

	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// shipped are the policies, with their tests and promises.
var shipped = []string{"../../../policies", "../../../policy_test.rego"}

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

test_grid[sort][name] if {
	some sort, names in {"even": {"two": 2, "odd": 3}, "odd": {"one": 1}}
	some name, number in names
	number % 2 == {"even": 0, "odd": 1}[sort]
}

test_no_case[name] if {
	some name, wanted in data.tables.none
	wanted
}

test_unset if input.missing

test_divides if 1 / 0 == 1

test_late if to_number("x") == 0

test_twice if true

test_twice if 1 == 2

test_data if data.tables.x == 1

test_unused if {
	x := 1
	true
}

helper if true
`

func TestTheEmbeddedPoliciesPassTheirTests(t *testing.T) {
	backendtest.Long(t)
	embedded, faults := policyset.Load(source.ReadTrusted, nil)
	if len(faults) == 0 {
		faults = Require(context.Background(), embedded, nil).Faults
	}
	if len(faults) > 0 {
		t.Error(faults)
	}
}

func TestAReportSaysWhatFailedAndWhere(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": manyTests, "data.yaml": "tables: {x: 1}"})
	report, err := Run(context.Background(), Config{Paths: []string{root}})
	must(t, err)
	told := strings.ReplaceAll(report.faults().Error(), root+"/", "")
	for _, want := range []string{
		"p_test.rego:7: test test_fails: FAIL", "p_test.rego:9: test test_errs: ERROR: ", "p_test.rego:15: test todo_test_later: SKIPPED",
		"p_test.rego:19: test test_cases: FAIL in wrong", "p_test.rego:24: test test_grid: FAIL in even/odd",
		"p_test.rego:43: test test_twice#01: FAIL",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing in\n%s", want, told)
		}
	}
	if report.OK() {
		t.Error("it says that all tests passed")
	}
}

func TestCoverageHasAThreshold(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": allowing + "\nnever if input.tool == \"call\"\n", "p_test.rego": allowingTest})
	for threshold, want := range map[float64]bool{0: true, 10: true, 100: false} {
		report, err := Run(context.Background(), Config{Paths: []string{root}, Coverage: true, Threshold: threshold})
		must(t, err)
		if report.OK() != want {
			t.Errorf("with threshold %v and coverage %v passed is %v", threshold, report.Coverage.Percent, report.OK())
		}
		if files := report.Coverage.Files; len(files) != 2 || files[0].File != filepath.Join(root, "p.rego") ||
			files[0].Missed[0] != [2]int{12, 12} {
			t.Errorf("got %+v, want line 12 of p.rego", files)
		}
	}
}

func TestNoTestsDoNotPass(t *testing.T) {
	report, err := Run(context.Background(), Config{Paths: []string{tree(t, map[string]string{"p.rego": allowing})}})
	if err != nil || report.OK() {
		t.Errorf("got %+v %v, want an empty report that has not passed", report, err)
	}
	if _, err := Run(context.Background(), Config{Paths: []string{"nowhere"}}); err == nil {
		t.Error("a path that is not there is no fault")
	}
}
