// Package regotest runs the tests of policies.
//
// Here: tests with the results that "opa test" has ([Run]); those that policies must pass before they come into force ([Require]);
// and a process of its own that runs them for a sidecar ([Process], [Serve]), since they take many times the memory of the policies.
//
// Promised: each test is evaluated as it is written. What tests have in common is evaluated once, and a test that passed with all
// that it can read (package passes) is not run again; the verdict is that of a full run.
package regotest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// Config says which tests to run.
type Config struct {
	// Paths are folders and files; none means the embedded policies.
	Paths []string
	// Coverage asks which lines the tests reach. Threshold, in percent, asks for
	// it too, and is how much there must be.
	Coverage  bool
	Threshold float64
	// Passes are the tests that need not be run again; nil has all run.
	Passes *passes.Memory
}

// Run runs the tests at the paths with the results that "opa test" has.
func Run(ctx context.Context, c Config) (Report, error) {
	p, faults := policyset.Load(source.ReadAll, c.Paths)
	if len(faults) > 0 {
		return Report{}, faults
	}
	var reached *cover.Cover
	if c.Coverage || c.Threshold > 0 {
		reached = cover.New()
	}
	compiler := func() *ast.Compiler { return p.PlainCompiler(true) }
	done, faults := test(ctx, p, testRun{compiler: compiler, reached: reached, known: c.Passes})
	if len(faults) > 0 {
		return Report{}, faults
	}
	sortResults(done.results)
	report := Report{Results: done.results, Threshold: c.Threshold, Remembered: done.remembered, WholeDecision: done.whole}
	if reached != nil {
		report.Coverage = coverage(reached.Report(p.All()))
	}
	return report, nil
}

// Outcome is how a check of policies ended.
type Outcome struct {
	Faults source.Faults
	Passed []passes.Key // of all tests that pass, though others may not
	Lasts  bool         // the same files have no other verdict at another time
}

// Require compiles everything, as [policyset.Set.Check] does, and runs the policies' own tests, but for those that are known to
// pass; having none is a fault.
func Require(ctx context.Context, p *policyset.Set, known *passes.Memory) Outcome {
	done, faults := test(ctx, p, testRun{compiler: func() *ast.Compiler { return p.Compiler(true) }, required: true, known: known})
	if faults == nil {
		faults = Report{Results: done.results}.faults()
		for i := range faults {
			faults[i].Message += "; the tests after it were not run: see bailiff test"
		}
	}
	if faults == nil && len(done.results)+done.remembered == 0 {
		faults = source.Faults{{Message: "the policies have no tests, which are required: want rules named test_… in files named " +
			"…_test.rego"}}
	}
	return Outcome{faults, done.passed, !done.varies}
}

// Report is how the tests ended.
type Report struct {
	Results []Result `json:"results"`
	// Coverage is nil unless asked for.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Threshold is the one that was asked for.
	Threshold float64 `json:"threshold,omitempty"`
	// Remembered is how many tests passed before with all that they read, and were not run.
	Remembered int `json:"remembered,omitempty"`
	// WholeDecision is how many tests depend on the whole decision, so that a change of any rule has them run again.
	WholeDecision int `json:"whole_decision"`
}

// OK says whether every test passed, there was one, and the coverage is
// what was asked for. A skipped test has not passed, as in "opa test".
func (r Report) OK() bool {
	return len(r.Results)+r.Remembered > 0 && len(r.faults()) == 0 && (r.Coverage == nil || r.Coverage.Percent >= r.Threshold)
}

// Tally counts the tests by how they ended, where every case of a test is one,
// as in the sums of "opa test".
func (r Report) Tally() map[Verdict]int {
	sums := map[Verdict]int{}
	for _, one := range r.Results {
		for _, c := range one.Cases {
			sums[c.Outcome]++
		}
		if len(one.Cases) == 0 {
			sums[one.Outcome]++
		}
	}
	return sums
}

func (r Report) faults() source.Faults {
	var faults source.Faults
	for _, one := range r.Results {
		if one.Outcome != Pass {
			faults = append(faults, source.Fault{File: one.File, Line: one.Line, Message: "test " + one.Name + ": " + one.describe()})
		}
	}
	return faults
}

// Verdict is how one test ended.
type Verdict string

// The verdicts, in the words of "opa test".
const (
	Pass    Verdict = "PASS"
	Fail    Verdict = "FAIL"
	Error   Verdict = "ERROR"
	Skipped Verdict = "SKIPPED"
)

// Result is how one test ended.
type Result struct {
	Package string  `json:"package"`
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Outcome Verdict `json:"outcome"`
	// Message is the error of a test that had one, Output what it printed, and
	// Cases what it consists of, if that is several.
	Message string  `json:"message,omitempty"`
	Output  string  `json:"output,omitempty"`
	Cases   []Case  `json:"cases,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Case is how one case of a test ended. Its name tells it from the others, by
// what stands between brackets in the rule's head.
type Case struct {
	Name    string  `json:"name"`
	Outcome Verdict `json:"outcome"`
}

// FailedCases are the names of those that failed.
func (r Result) FailedCases() (names []string) {
	for _, c := range r.Cases {
		if c.Outcome == Fail {
			names = append(names, c.Name)
		}
	}
	return names
}

func (r Result) describe() string {
	text := string(r.Outcome)
	if failed := r.FailedCases(); len(failed) > 0 {
		text += " in " + strings.Join(failed, ", ")
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// Coverage is how much of the policies the tests reach.
type Coverage struct {
	Percent float64 `json:"percent"`
	// Files are all that decide or test.
	Files []FileCoverage `json:"files"`
}

// FileCoverage is how much of one file the tests reach.
type FileCoverage struct {
	File    string  `json:"file"`
	Percent float64 `json:"percent"`
	// Missed are the first and last line of every stretch that no test reaches.
	Missed [][2]int `json:"missed,omitempty"`
}

// testTimeout is what "opa test" grants one test; here it is processor time of its own. Tests that OPA's runner runs may take
// [evaluation.WallFactor] times as long by the clock on the wall, so that none fails for a busy machine.
const testTimeout = 5 * time.Second

// testRun says how tests are run.
type testRun struct {
	compiler func() *ast.Compiler // a new one
	reached  *cover.Cover         // is told which lines are reached, unless nil
	required bool                 // policies that do not pass are refused: the first test that does not ends the run
	known    *passes.Memory       // the tests that need not be run; nil has all run
}

// testOutcome is how tests ended.
type testOutcome struct {
	results    []Result
	passed     []passes.Key // of all tests that pass and have one
	remembered int          // tests that were not run
	whole      int          // tests that depend on the whole decision
	varies     bool         // that a test passes does not say that it will pass again
}

// test runs tests, with the results that "opa test" has. What the tests have in common is evaluated once, unless it is to be told
// which lines they reached.
func test(ctx context.Context, p *policyset.Set, run testRun) (testOutcome, source.Faults) {
	compiler, done, faults := testBy(ctx, p, run, policyset.Linear(run.compiler()))
	if policyset.IsRecursive(compiler.Errors) {
		_, done, faults = testBy(ctx, p, run, run.compiler()) // OPA's own words for it
	}
	return done, faults
}

func testBy(ctx context.Context, p *policyset.Set, run testRun, compiler *ast.Compiler) (*ast.Compiler, testOutcome, source.Faults) {
	store, faults := p.Store()
	if len(faults) > 0 {
		return compiler, testOutcome{}, faults
	}
	var done testOutcome
	var more source.Faults
	faults = inTransaction(ctx, compiler, store, func(txn storage.Transaction) error {
		runner := opaRunner(compiler, store).SetModules(p.All())
		if run.reached != nil {
			runner.SetCoverageQueryTracer(run.reached).SetCoverageRuns(nil) // these would only tell why a line was not reached
			return done.runBy(ctx, runner, txn, run.required, nil)
		}
		// OPA's runner has the compiler compile the modules: so it is run first, for no test.
		const noTest = "^$"
		if err := done.runBy(ctx, runner.Filter(noTest), txn, run.required, nil); err != nil {
			return err
		}
		if run.required {
			if more = p.OldNames(compiler); len(more) > 0 {
				return nil
			}
		}
		return done.evaluate(ctx, run, p.Data, &sharedTests{compiler: compiler, store: store, txn: txn})
	})
	return compiler, done, append(faults, more...)
}

// evaluate runs the tests that are not known to pass.
func (d *testOutcome) evaluate(ctx context.Context, run testRun, data map[string]any, shared *sharedTests) error {
	reads, err := passes.NewReads(shared.compiler, data)
	if err != nil {
		return err
	}
	keys := newTestKeys(reads, run.known)
	simple, others := splitTests(shared.compiler)
	simple = slices.DeleteFunc(simple, func(test *ast.Rule) bool { return keys.isKnown(test.Module.Package.Path.Extend(test.Head.Ref())) })
	others = slices.DeleteFunc(others, keys.isKnown)
	d.passed, d.remembered, d.whole, d.varies = keys.passed, len(keys.passed), keys.whole, keys.varies
	if len(simple) > 0 {
		d.add(shared.run(ctx, simple, run.required), keys)
	}
	if len(others) == 0 || run.required && len(Report{Results: d.results}.faults()) > 0 {
		return nil
	}
	return d.runBy(ctx, opaRunner(shared.compiler, shared.store).SetPrefixMatchers(others...), shared.txn, run.required, keys)
}

// add takes over how tests ended; keys may be nil.
func (d *testOutcome) add(results []Result, keys *testKeys) {
	d.results = append(d.results, results...)
	if keys == nil {
		return
	}
	for _, one := range results {
		if key, ok := keys.pending[one.Package+"."+one.Name]; ok && one.Outcome == Pass {
			d.passed = append(d.passed, key)
		}
	}
}

// testKeys tells which tests are known to pass.
type testKeys struct {
	reads   *passes.Reads
	known   *passes.Memory
	passed  []passes.Key
	pending map[string]passes.Key // by the names of tests
	whole   int
	varies  bool // a test has no key
}

func newTestKeys(reads *passes.Reads, known *passes.Memory) *testKeys {
	return &testKeys{reads: reads, known: known, pending: map[string]passes.Key{}}
}

// isKnown says whether a test is known to pass, and notes its key.
func (k *testKeys) isKnown(test ast.Ref) bool {
	if k.reads.Reach(test, policyset.Entrypoint) {
		k.whole++
	}
	key, ok := k.reads.Key(test)
	switch {
	case !ok:
		k.varies = true
		return false
	case k.known.Has(key):
		k.passed = append(k.passed, key)
		return true
	}
	k.pending[test.String()] = key
	return false
}

func opaRunner(compiler *ast.Compiler, store storage.Store) *tester.Runner {
	return tester.NewRunner().SetCompiler(compiler).SetStore(store).CapturePrintOutput(true).SetTimeout(evaluation.WallFactor * testTimeout)
}

func inTransaction(ctx context.Context, compiler *ast.Compiler, store storage.Store, run func(storage.Transaction) error) source.Faults {
	err := storage.Txn(ctx, store, storage.TransactionParams{}, func(txn storage.Transaction) (err error) {
		return cmp.Or(run(txn), ctx.Err())
	})
	switch {
	case compiler.Failed():
		return policyset.FaultsOf(compiler)
	case err != nil:
		return source.FaultsOf(err, "").Sorted()
	}
	return nil
}

// runBy runs tests by OPA's own runner.
func (d *testOutcome) runBy(ctx context.Context, runner *tester.Runner, txn storage.Transaction, failFast bool, keys *testKeys) error {
	stoppable, stop := context.WithCancel(ctx)
	defer stop()
	running, err := runner.RunTests(stoppable, txn)
	if err != nil {
		return err
	}
	var results []Result
	for one := range running {
		if stoppable.Err() == nil {
			results = append(results, result(one))
		}
		if failFast && !one.Pass() {
			stop()
		}
	}
	d.add(results, keys)
	return nil
}

// sortResults puts results in the order of files and lines.
func sortResults(results []Result) {
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
}

func result(r *tester.Result) Result {
	one := Result{Package: r.Package, Name: r.Name, Outcome: Error, Output: string(r.Output), Seconds: r.Duration.Seconds()}
	if r.Location != nil {
		one.File, one.Line = r.Location.File, r.Location.Row
	}
	switch {
	case r.Pass():
		one.Outcome = Pass
	case r.Fail:
		one.Outcome = Fail
	case r.Skip:
		one.Outcome = Skipped
	}
	if r.Error != nil {
		one.Message = r.Error.Error()
	}
	if one.Outcome == Pass || one.Outcome == Fail {
		one.Cases = cases(r.SubResults)
	}
	return one
}

// cases are those that consist of no others.
func cases(subs tester.SubResultMap) (all []Case) {
	for name, sub := range subs.Iter {
		if len(sub.SubResults) > 0 {
			continue
		}
		one := Case{Name: strings.Join(name, "/"), Outcome: Pass}
		if sub.Fail {
			one.Outcome = Fail
		}
		all = append(all, one)
	}
	return all
}

func coverage(r cover.Report) *Coverage {
	all := &Coverage{Percent: r.Coverage}
	for name, f := range r.Files {
		one := FileCoverage{File: name, Percent: f.Coverage}
		for _, missed := range f.NotCovered {
			one.Missed = append(one.Missed, [2]int{missed.Start.Row, missed.End.Row})
		}
		all.Files = append(all.Files, one)
	}
	slices.SortFunc(all.Files, func(a, b FileCoverage) int { return cmp.Compare(a.File, b.File) })
	return all
}
