package policy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
)

const everyEnd = `package bailiff_test

test_passes if print("hello", "\u0007 <&>")

test_fails if 1 == 2

todo_test_later if true

test_errs if clash(1) == 3

clash(x) := 1 if x > 0

clash(x) := 2 if x == 1

test_cases[name] if {
	some name, number in {"right & proper": 1, "wrong": 2}
	number == 1
}
`

// readJUnit prints what a reader of JUnit's XML that many projects use finds in it.
const readJUnit = `
import json, sys
from junitparser import JUnitXml
suites = JUnitXml.fromfile(sys.argv[1])
cases = {}
for suite in suites:
    for case in suite:
        ends = [type(r).__name__ + " " + (r.message or "") for r in case.result] or ["Passed "]
        cases[case.classname + " " + case.name] = " ".join(ends) + (case.system_out or "")
print(json.dumps({"cases": cases, "sums": [suites.tests, suites.failures, suites.errors, suites.skipped]}))
`

func TestResultsForCIAreReadByAReaderOfJUnit(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3" // Debian's own, which has its packages
	backendtest.Needs(t, "JUNITPARSER", exec.Command(python, "-c", "import junitparser").Run())
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "every_test.rego"), []byte(everyEnd), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "p.rego"), []byte("package bailiff\n\none := 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := regotest.Run(t.Context(), regotest.Config{Paths: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "report.xml")
	if err := writeJUnit(file, report); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.Command(python, "-c", readJUnit, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	var got struct {
		Cases map[string]string
		Sums  []int
	}
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"test_passes": "Passed hello \ufffd <&>", "test_fails": "Failure ", "todo_test_later": "Skipped", "test_errs": "Error ",
		"test_cases[right & proper]": "Passed ", "test_cases[wrong]": "Failure ",
	} {
		if end := got.Cases["data.bailiff_test "+name]; !strings.HasPrefix(end, want) {
			t.Errorf("%s ended as %q, want %q", name, end, want)
		}
	}
	if len(got.Cases) != 6 || len(got.Sums) != 4 || got.Sums[0] != 6 || got.Sums[1] != 2 || got.Sums[2] != 1 || got.Sums[3] != 1 {
		t.Errorf("got %+v", got)
	}
}
