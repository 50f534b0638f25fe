package regotest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
)

// Most of what the tests of policies evaluate is the same in all of them: rules and functions that read neither the input document
// nor anything that the test replaces, and all that is evaluated outside of every "with". It is evaluated once for all tests that
// policies must pass, where "opa test" evaluates it anew for each "with". Each test is evaluated as it is written. What a shared rule
// prints is in the output of the first test that evaluates it.

// sharedTests runs tests of compiled policies.
type sharedTests struct {
	compiler *ast.Compiler
	store    storage.Store
	txn      storage.Transaction

	targets *withTargets
	names   dependencies.Numbers // of what is time-independent
	reads   [][]bool             // by number, which targets are read; nil where the input document is read

	mu     sync.RWMutex
	values map[uint64]*sharedValue
}

// sharedValue is the value of a rule or a call, nil where it is undefined.
type sharedValue struct {
	key   ast.Ref // as OPA writes it for its cache
	value *ast.Term
}

// prepare finds what tests have in common.
func (t *sharedTests) prepare(tests []*ast.Rule) {
	analysis := dependencies.New(t.compiler)
	rules := analysis.Behind(tests...)
	t.targets, t.values = newWithTargets(t.compiler, rules), map[uint64]*sharedValue{}
	for _, group := range dependencies.Groups(rules) {
		read, sure := analysis.Of(group.Name)
		if !sure || !t.names.Add(group.Name) {
			continue
		}
		t.reads = append(t.reads, nil)
		if len(read) == 0 {
			t.reads[len(t.reads)-1] = t.readBy(group.Rules)
		}
	}
}

func (t *sharedTests) readBy(rules []*ast.Rule) []bool {
	all := t.targets.none()
	for _, rule := range rules {
		all.add(t.targets.usedBy(rule))
	}
	return all.read
}

// splitTests tells the tests that are one rule which is true from the references of those that only OPA's own runner knows how to run:
// that consist of cases, or are to be skipped.
func splitTests(compiler *ast.Compiler) (simple []*ast.Rule, others []ast.Ref) {
	for _, module := range compiler.Modules {
		for _, rule := range module.Rules {
			switch ref := rule.Head.Ref().GroundPrefix(); {
			case isSimpleTest(rule):
				simple = append(simple, rule)
			case slices.ContainsFunc([]*ast.Term(ref), namesTest):
				others = append(others, module.Package.Path.Extend(ref))
			}
		}
	}
	return simple, others
}

func isSimpleTest(rule *ast.Rule) bool {
	ref := rule.Head.Ref()
	return len(ref) == 1 && strings.HasPrefix(nameOfTerm(ref[0]), tester.TestPrefix) && len(rule.Head.Args) == 0 &&
		rule.Head.DocKind() == ast.CompleteDoc
}

func namesTest(part *ast.Term) bool {
	name := nameOfTerm(part)
	return strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix)
}

func nameOfTerm(part *ast.Term) string {
	switch name := part.Value.(type) {
	case ast.Var:
		return string(name)
	case ast.String:
		return string(name)
	}
	return ""
}

// run runs tests side by side. In failFast it ends with the first that does not pass.
func (t *sharedTests) run(ctx context.Context, tests []*ast.Rule, failFast bool) (results []Result) {
	t.prepare(tests)
	stoppable, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan *ast.Rule, len(tests))
	for _, test := range tests {
		next <- test
	}
	close(next)
	var mu sync.Mutex
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for test := range next {
				one := t.result(stoppable, test)
				mu.Lock()
				if stoppable.Err() == nil {
					results = append(results, one)
				}
				if failFast && one.Outcome != Pass {
					stop()
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return results
}

// result runs one test.
func (t *sharedTests) result(ctx context.Context, test *ast.Rule) Result {
	one := Result{Package: test.Module.Package.Path.String(), Name: test.Head.Ref().String(), File: test.Loc().File, Line: test.Loc().Row,
		Outcome: Pass}
	began := time.Now()
	var printed bytes.Buffer
	passed, err := t.passes(ctx, test, &printed)
	one.Seconds, one.Output = time.Since(began).Seconds(), printed.String()
	switch {
	case err != nil:
		one.Outcome, one.Message = Error, err.Error()
	case !passed:
		one.Outcome = Fail
	}
	return one
}

func (t *sharedTests) passes(ctx context.Context, test *ast.Rule, printed io.Writer) (bool, error) {
	ref := test.Module.Package.Path.Extend(test.Head.Ref())
	query, err := rego.New(rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))), rego.Compiler(t.compiler), rego.Store(t.store),
		rego.Transaction(t.txn), rego.PrintHook(topdown.NewPrintHook(printed))).PrepareForEval(ctx)
	if err != nil {
		return false, err
	}
	slot, err := evaluation.Take(ctx, testTimeout)
	if err != nil {
		return false, err
	}
	defer slot.End()
	defer context.AfterFunc(ctx, slot.Cancel.Cancel)()
	cache := t.begin(test)
	answer, err := query.Eval(ctx, rego.EvalTransaction(t.txn), rego.EvalVirtualCache(cache), rego.EvalExternalCancel(slot.Cancel))
	if err != nil {
		return false, err
	}
	t.keep(cache.found)
	return len(answer) > 0 && answer[0].Expressions[0].Value == true, nil
}

// begin is the cache of one test.
func (t *sharedTests) begin(test *ast.Rule) *testCache {
	cache := &testCache{VirtualCache: topdown.NewVirtualCache(), tests: t, unchanged: make([]bool, len(t.reads)),
		found: map[uint64]*sharedValue{}}
	use := t.targets.usedBy(test)
	for n, read := range t.reads {
		cache.unchanged[n] = read != nil && !use.mayChange(read)
	}
	return cache
}

// keep keeps what a sound evaluation found. In one that fails it may be in conflict with others.
func (t *sharedTests) keep(found map[uint64]*sharedValue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.Copy(t.values, found)
}

// testCache is OPA's cache of the evaluation of one test.
type testCache struct {
	topdown.VirtualCache
	tests     *sharedTests
	unchanged []bool // by number, what no "with" of the test changes
	found     map[uint64]*sharedValue
	withs     int // how many "with" are around what is evaluated
}

func (c *testCache) Push() {
	c.withs++
	c.VirtualCache.Push()
}

func (c *testCache) Pop() {
	c.withs--
	c.VirtualCache.Pop()
}

// isShared says whether a rule or call has the same value in all tests here.
func (c *testCache) isShared(key ast.Ref) bool {
	name, isCall := key[0].Value.(ast.Ref)
	if !isCall {
		name = key
	}
	n, known := c.tests.names.Of(name)
	return known && (c.withs == 0 || c.unchanged[n]) && !(isCall && slices.ContainsFunc(key[1:], dependencies.IsOpen))
}

func (c *testCache) Get(key ast.Ref) (value *ast.Term, isUndefined bool) {
	if !c.isShared(key) {
		return c.VirtualCache.Get(key)
	}
	hash := dependencies.Hash(key)
	known := c.found[hash]
	if known == nil {
		c.tests.mu.RLock()
		known = c.tests.values[hash]
		c.tests.mu.RUnlock()
	}
	if known == nil || !known.key.Equal(key) {
		return nil, false
	}
	return known.value, known.value == nil
}

func (c *testCache) Put(key ast.Ref, value *ast.Term) {
	if !c.isShared(key) {
		c.VirtualCache.Put(key, value)
		return
	}
	c.found[dependencies.Hash(key)] = &sharedValue{key: slices.Clone(key), value: value}
}
