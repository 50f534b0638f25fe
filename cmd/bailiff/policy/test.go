package policy

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
)

// NewTest is "bailiff test".
func NewTest(configPath *string) *cobra.Command {
	var t testRun
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the policies' tests",
		Long: `Runs the tests of the policies at the paths, with the results of "opa test".
Without a path: those that the configuration names. With --remembered, a test that the
sidecar of the configuration saw pass is not run again where nothing that it can read
has changed since. --junit writes them for CI
too, as GitLab, Jenkins and others read it: every case of a test is one there.

Exit status: 0 if there are tests and all pass (and cover the threshold), 2 if
not, 1 if they could not be run.`,
		Example: `  bailiff test my-policies --threshold 80
  bailiff test policies my-policies --junit report.xml`,
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd, *configPath, args) },
	}
	cmd.Flags().BoolVar(&t.tests.Coverage, "coverage", false, "say which lines no test reaches")
	cmd.Flags().Float64Var(&t.tests.Threshold, "threshold", 0, "fail below this coverage, in `percent`")
	cmd.Flags().BoolVar(&t.remembered, "remembered", false, "run only tests that a sidecar did not see pass as they are")
	cmd.Flags().StringVar(&t.junit, "junit", "", "write the results to `FILE` as JUnit's XML")
	cli.OutputFlag(cmd, &t.format)
	return cmd
}

// testRun is "bailiff test" as its flags order it.
type testRun struct {
	tests         regotest.Config
	junit, format string
	remembered    bool
}

func (t *testRun) run(cmd *cobra.Command, configPath string, args []string) (err error) {
	debug.SetGCPercent(cli.ShortRunGC)
	if !(t.tests.Threshold >= 0 && t.tests.Threshold <= 100) {
		return fmt.Errorf("--threshold %v: want a percentage from 0 to 100", t.tests.Threshold)
	}
	if t.remembered && (t.tests.Coverage || t.tests.Threshold > 0) {
		return errors.New("--remembered beside --coverage or --threshold: coverage is that of all tests, want one or the other")
	}
	if t.tests.Paths, err = tested(configPath, args); err != nil {
		return err
	}
	if t.remembered {
		cfg, err := offline.LoadConfig(configPath)
		if err != nil {
			return err
		}
		t.tests.Passes = passes.Read(offline.PassesDir(cfg))
	}
	if err := clearJUnit(t.junit); err != nil {
		return err
	}
	report, err := regotest.Run(cmd.Context(), t.tests)
	if err != nil {
		return err
	}
	if err := writeJUnit(t.junit, report); err != nil {
		return err
	}
	if err := cli.Show(cmd, t.format, report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return err
	}
	if !report.OK() {
		return cli.Status(2)
	}
	return nil
}

// tested are the paths whose tests are run: those that are named, or the
// configuration's.
func tested(configPath string, named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return nil, err
	}
	if b := cfg.Policies.Bundle; b != nil {
		return nil, fmt.Errorf("the policies are a bundle at %s, whose tests run before it is in force; name the folder that it "+
			"is built of", b.URL)
	}
	return cfg.Policies.Paths, nil
}

// printReport names what failed, what it printed, and the sums.
func printReport(w io.Writer, report regotest.Report) {
	for _, r := range report.Results {
		if r.Outcome != regotest.Pass {
			printFailed(w, r)
		}
	}
	sums, all := report.Tally(), 0
	for _, n := range sums {
		all += n
	}
	fmt.Fprintf(w, "%d of %d tests pass\n", sums[regotest.Pass]+report.Remembered, all+report.Remembered)
	if report.Remembered > 0 {
		fmt.Fprintf(w, "%d of them were not run: they passed before, with all that they can read\n", report.Remembered)
	}
	if report.WholeDecision > 0 {
		fmt.Fprintf(w, "%d tests depend on the whole decision\n", report.WholeDecision)
	}
	if c := report.Coverage; c != nil {
		for _, file := range c.Files {
			if len(file.Missed) > 0 {
				fmt.Fprintf(w, "%s\t%.1f%%\tnot reached: %s\n", file.File, file.Percent, stretches(file.Missed))
			}
		}
		fmt.Fprintf(w, "coverage %.1f%%, threshold %.1f%%\n", c.Percent, report.Threshold)
	}
}

func printFailed(w io.Writer, r regotest.Result) {
	fmt.Fprintf(w, "%s:%d\t%s.%s\t%s\n", r.File, r.Line, r.Package, r.Name, r.Outcome)
	for _, detail := range append(r.FailedCases(), r.Message, r.Output) {
		if detail != "" {
			fmt.Fprintf(w, "\t%s\n", detail)
		}
	}
}

// stretches are in order and each there once, which they are not always in what OPA says.
func stretches(missed [][2]int) string {
	text := ""
	missed = slices.Clone(missed)
	slices.SortFunc(missed, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	missed = slices.Compact(missed)
	for i, s := range missed {
		if i > 0 {
			text += ", "
		}
		if text += fmt.Sprint(s[0]); s[1] != s[0] {
			text += fmt.Sprintf("-%d", s[1])
		}
	}
	return text
}
