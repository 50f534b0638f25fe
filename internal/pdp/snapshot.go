package pdp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// snapshot is one set of policies, ready to decide. Nothing of it changes, except
// for what it remembers.
type snapshot struct {
	// revision names what decides; content tells apart any two sets of files,
	// tests and schema included.
	revision, content string
	files             []string
	bundles           map[string]string
	loaded            time.Time

	compiler *ast.Compiler
	store    storage.Store
	decision rego.PreparedEvalQuery
	// connection is nil where the policies have no rule about connections; connections
	// holds judgements of those, nil unless that rule is time-independent.
	connection  *rego.PreparedEvalQuery
	connections *recent.Map[string, bailiff.ConnectionJudgement]
	// masks says that there is a mask of the decision log.
	masks bool
	// memo holds judgements of requests, alike decisions about input documents that differ in nothing
	// that the policies read. Both are nil unless the policies are time-independent; inputsRead are the
	// parts of the input that they read.
	memo, alike *memo
	inputsRead  inputParts
	// settled holds what rules are by the circumstances of a request alone.
	settled *settled
	// ports are those that the table of destinations names, by its entries.
	ports map[string][]uint16
	// source is what was compiled, where explanations are wanted.
	source *parsed
	// queries are those of other documents, by path, prepared when first asked for.
	queries sync.Map
}

// verifier looks for faults beyond those of what decides, which is compiled; nil where that failed.
type verifier func(ctx context.Context, compiled *ast.Compiler) verdict

// verdict is how a check of policies ended.
type verdict struct {
	faults Faults
	passed []passes.Key // of all tests that pass, though others may not
	lasts  bool         // the same files have no other verdict at another time
}

// newSnapshot compiles what was parsed, if what must be verified about it holds.
// Any fault is a reason to go on with what was in force before. Explained says that the
// modules are kept as they are written.
func newSnapshot(ctx context.Context, p *parsed, explained bool, verify verifier) (*snapshot, Faults) {
	compiler, faults := p.compile(explained)
	if len(faults) > 0 {
		faults = append(faults, verify(ctx, nil).faults...) // the tests' faults too
	}
	if !p.proven {
		faults = append(faults, p.checkMore(compiler)...)
	}
	if len(faults) > 0 {
		return nil, faults.sorted()
	}
	if faults := verify(ctx, compiler).faults; len(faults) > 0 {
		return nil, faults
	}
	store, faults := p.store()
	if len(faults) > 0 {
		return nil, faults
	}
	s := &snapshot{revision: revision(p.files), content: digest(p.files), loaded: time.Now(), compiler: compiler, store: store,
		bundles: p.bundles, ports: p.portsNamed()}
	if explained {
		s.source = p
	}
	s.masks = p.masks(compiler)
	for _, f := range p.files {
		s.files = append(s.files, f.name)
	}
	readings := newPartReadings(compiler)
	if inputsRead, sure := readings.of(entrypoint); sure {
		s.memo, s.alike, s.inputsRead = newMemo(1), newMemo(1), inputsRead
	}
	s.settled = settledBy(readings, entrypoint)
	var err error
	if s.decision, err = s.prepare(ctx, entrypoint); err != nil {
		return nil, faultsIn(err, "").sorted()
	}
	if err := s.prepareConnection(ctx, readings); err != nil {
		return nil, faultsIn(err, "").sorted()
	}
	return s, nil
}

// checkMore finds what compiling does not; the compiler is nil where that failed.
func (p *parsed) checkMore(compiler *ast.Compiler) (faults Faults) {
	if compiler != nil {
		faults = append(p.checkLookups(compiler), p.checkSpelling(compiler)...)
	}
	return append(append(faults, p.checkMask()...), p.checkTables()...)
}

// prepareConnection prepares the query about connections, where the policies have one.
func (s *snapshot) prepareConnection(ctx context.Context, readings *partReadings) error {
	if len(s.compiler.GetRulesExact(connectionPoint)) == 0 {
		return nil
	}
	query, err := s.prepare(ctx, connectionPoint)
	if err != nil {
		return err
	}
	s.connection = &query
	if _, sure := readings.of(connectionPoint); sure {
		s.connections = recent.New[string, bailiff.ConnectionJudgement](maxJudgements)
	}
	return nil
}

func (s *snapshot) prepare(ctx context.Context, ref ast.Ref) (rego.PreparedEvalQuery, error) {
	return rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))),
		rego.Compiler(s.compiler), rego.Store(s.store), rego.Capabilities(capabilities()),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil }),
	).PrepareForEval(ctx)
}

// maxQueries bounds the documents that stay prepared.
const maxQueries = 64

// query is the prepared query of the document at a path such as "agent/call/decision".
func (s *snapshot) query(ctx context.Context, path string) (rego.PreparedEvalQuery, error) {
	if known, ok := s.queries.Load(path); ok {
		return known.(rego.PreparedEvalQuery), nil
	}
	ref := ast.Ref{ast.DefaultRootDocument}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		ref = append(ref, ast.StringTerm(name))
	}
	query, err := s.prepare(ctx, ref)
	if err != nil {
		return query, fmt.Errorf("preparing %s: %w", ref, err)
	}
	known := 0
	if s.queries.Range(func(any, any) bool { known++; return known < maxQueries }); known < maxQueries {
		s.queries.Store(path, query)
	}
	return query, nil
}

// decide asks for the decision about an input document, see [evaluate].
func (s *snapshot) decide(ctx context.Context, input ast.Value, at time.Time, limit time.Duration) (*ast.Term, error) {
	return unlessStarved(func() (*ast.Term, error) {
		cache := s.settled.begin(input)
		answer, err := evaluate(ctx, s.decision, input, at, limit, rego.EvalVirtualCache(cache))
		if err == nil {
			s.settled.end(cache)
		}
		return answer, err
	})
}

// unlessStarved tries once more where the machine was so busy that an evaluation got no processor.
func unlessStarved(try func() (*ast.Term, error)) (*ast.Term, error) {
	answer, err := try()
	if errors.Is(err, errStarved) {
		answer, err = try()
	}
	return answer, err
}

// errNoAnswer is why an evaluation was cancelled whose time was over, errStarved that it had not had its time.
var (
	errNoAnswer = errors.New("no answer")
	errStarved  = fmt.Errorf("%w for want of a processor", errNoAnswer)
)

// evaluate asks a query about an input document; the answer is nil where it is
// undefined. An evaluation whose thread exceeds the limit is cancelled.
func evaluate(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value, at time.Time, limit time.Duration,
	options ...rego.EvalOption) (*ast.Term, error) {
	turn, err := takeTurn(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("evaluating policies: the request was given up: %w", err)
	}
	defer turn.end()
	defer context.AfterFunc(ctx, turn.cancel.Cancel)()
	results, err := query.Eval(ctx, append(options, rego.EvalParsedInput(input), rego.EvalTime(at),
		rego.EvalExternalCancel(turn.cancel), rego.EvalMetrics(metrics.NoOp()))...)
	switch {
	case topdown.IsCancel(err) && ctx.Err() != nil:
		return nil, fmt.Errorf("evaluating policies: the request was given up: %w", context.Cause(ctx))
	case topdown.IsCancel(err) && turn.isStarved():
		return nil, fmt.Errorf("evaluating policies: %w within %s", errStarved, wallFactor*limit)
	case topdown.IsCancel(err):
		return nil, fmt.Errorf("evaluating policies: %w within %s", errNoAnswer, limit)
	case err != nil:
		return nil, fmt.Errorf("evaluating policies: %w", err)
	case len(results) == 0:
		return nil, nil
	}
	return results[0].Expressions[0].Value.(*ast.Term), nil
}
