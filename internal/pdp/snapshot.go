package pdp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/memo"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/rulecache"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
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
	connections *memo.Connections
	// masks says that there is a mask of the decision log.
	masks bool
	// requests and documents hold judgements. Both are nil unless the policies are time-independent.
	requests  *memo.Requests
	documents *memo.Documents
	// rules holds what rules and functions are by what they read.
	rules *rulecache.Cache
	// ports are those that the table of destinations names, by its entries.
	ports map[string][]uint16
	// source is what was compiled, where explanations are wanted.
	source *policyset.Set
	// queries are those of other documents, by path, prepared when first asked for.
	queries sync.Map
}

// verifier looks for faults beyond those of what decides, which is compiled; nil where that failed.
type verifier func(ctx context.Context, compiled *ast.Compiler) regotest.Outcome

// compiling gives a snapshot of policies that may come into force.
type compiling func(ctx context.Context) (*snapshot, source.Faults)

func compilingOf(p *policyset.Set, explained bool, verify verifier) compiling {
	return func(ctx context.Context) (*snapshot, source.Faults) { return newSnapshot(ctx, p, explained, verify) }
}

// newSnapshot compiles what was parsed, if what must be verified about it holds.
// Any fault is a reason to go on with what was in force before. Explained says that the
// modules are kept as they are written.
func newSnapshot(ctx context.Context, p *policyset.Set, explained bool, verify verifier) (*snapshot, source.Faults) {
	compiler, faults := p.Compile(explained)
	if len(faults) > 0 {
		faults = append(faults, verify(ctx, nil).Faults...) // the tests' faults too
	}
	if !p.Proven {
		faults = append(faults, p.CheckMore(compiler)...)
	}
	if len(faults) > 0 {
		return nil, faults.Sorted()
	}
	if faults := verify(ctx, compiler).Faults; len(faults) > 0 {
		return nil, faults
	}
	store, faults := p.Store()
	if len(faults) > 0 {
		return nil, faults
	}
	s := &snapshot{revision: source.Revision(p.Files), content: source.Digest(p.Files), loaded: time.Now(), compiler: compiler,
		store: store, bundles: p.Bundles, ports: p.PortsNamed()}
	if explained {
		s.source = p
	}
	s.masks = p.Masks(compiler)
	for _, f := range p.Files {
		s.files = append(s.files, f.Name)
	}
	analysis := dependencies.New(compiler)
	if inputsRead, sure := analysis.Of(policyset.Entrypoint); sure {
		s.requests, s.documents = memo.NewRequests(historyRead(inputsRead)), memo.NewDocuments(inputsRead, 1)
	}
	s.rules = rulecache.New(analysis, policyset.Entrypoint)
	var err error
	if s.decision, err = s.prepare(ctx, policyset.Entrypoint); err != nil {
		return nil, source.FaultsOf(err, "").Sorted()
	}
	if err := s.prepareConnection(ctx, analysis); err != nil {
		return nil, source.FaultsOf(err, "").Sorted()
	}
	return s, nil
}

// historyRead are the parts of the session's history that policies read.
func historyRead(all dependencies.Input) document.HistoryParts {
	names, read := all["session_history"]
	if !read {
		names = map[string]bool{}
	}
	return document.NewHistoryParts(names)
}

// released are the program's own policies. They are compiled once: what a process has of them differs in what it remembers only.
func released(explained bool) compiling {
	compile := releasedOnce
	if explained {
		compile = releasedExplained
	}
	return func(context.Context) (*snapshot, source.Faults) {
		s, faults := compile()
		if len(faults) > 0 {
			return nil, faults
		}
		return s.anew(), nil
	}
}

var releasedOnce, releasedExplained = sync.OnceValues(compileReleased(false)), sync.OnceValues(compileReleased(true))

func compileReleased(explained bool) func() (*snapshot, source.Faults) {
	return func() (*snapshot, source.Faults) {
		files, faults := source.ReadAll(nil)
		if len(faults) > 0 {
			return nil, faults
		}
		set, faults := policyset.ParseReleased(files)
		if len(faults) > 0 {
			return nil, faults
		}
		return newSnapshot(context.Background(), set, explained, noCheck)
	}
}

// anew is a snapshot of the same policies, as if these were loaded now. It remembers nothing.
func (s *snapshot) anew() *snapshot {
	next := &snapshot{revision: s.revision, content: s.content, files: s.files, bundles: s.bundles, loaded: time.Now(),
		compiler: s.compiler, store: s.store, decision: s.decision, connection: s.connection, masks: s.masks,
		documents: s.documents.Enlarge(1), rules: s.rules.Empty(), ports: s.ports, source: s.source}
	if s.requests != nil {
		next.requests = s.requests.Empty()
	}
	if s.connections != nil {
		next.connections = memo.NewConnections()
	}
	return next
}

// prepareConnection prepares the query about connections, where the policies have one.
func (s *snapshot) prepareConnection(ctx context.Context, analysis *dependencies.Analysis) error {
	if len(s.compiler.GetRulesExact(connectionPoint)) == 0 {
		return nil
	}
	query, err := s.prepare(ctx, connectionPoint)
	if err != nil {
		return err
	}
	s.connection = &query
	if _, sure := analysis.Of(connectionPoint); sure {
		s.connections = memo.NewConnections()
	}
	return nil
}

func (s *snapshot) prepare(ctx context.Context, ref ast.Ref) (rego.PreparedEvalQuery, error) {
	return rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))),
		rego.Compiler(s.compiler), rego.Store(s.store), rego.Capabilities(policyset.Capabilities()),
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

// decide asks for the decision about an input document, see [evaluation.Run].
func (s *snapshot) decide(ctx context.Context, input ast.Value, at time.Time, limit time.Duration) (*ast.Term, error) {
	return evaluation.Retry(func() (*ast.Term, error) {
		cache := s.rules.Begin(input)
		answer, err := evaluation.Run(ctx, s.decision, input, at, limit, rego.EvalVirtualCache(cache))
		if err == nil {
			s.rules.End(cache)
		}
		return answer, err
	})
}
