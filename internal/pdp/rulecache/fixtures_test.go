package rulecache

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

var noon = bailiff.Circumstances{
	Time:     time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	Backends: map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}, "local": {Ready: true}},
}

// asking is a request with a shell text.
func asking(text string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: text}, Caller: "hermes",
		Session: bailiff.Session{ID: "s", Platform: "telegram", ChatType: "dm", ChatID: "42", UserID: "42"}}
}

func inputOf(r bailiff.Request, at bailiff.Circumstances) ast.Object {
	return document.Read(r, at, "/home/ana").Document(r, at)
}

// policies are ready to be asked for the decision, with a cache and without.
type policies struct {
	*Cache
	query rego.PreparedEvalQuery
}

// shipped are the policies of the program.
func shipped(t testing.TB) policies { return compiled(t, nil) }

// written are policies whose decision is the rule x of some text.
func written(t *testing.T, x string) policies {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"more.rego": "package more\n\n" + x + "\n", "data.json": `{"table": {"a": 1, "b": 2}}`,
		"p.rego": "package bailiff\n\ndecision := data.more.x\n"} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	return compiled(t, []string{root})
}

func compiled(t testing.TB, paths []string) policies {
	t.Helper()
	p, faults := policyset.Load(source.ReadAll, paths)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	compiler, faults := p.Compile(false)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	store, faults := p.Store()
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	query, err := rego.New(rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(policyset.Entrypoint)))), rego.Compiler(compiler),
		rego.Store(store), rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil }),
	).PrepareForEval(context.Background())
	must(t, err)
	return policies{New(dependencies.New(compiler), policyset.Entrypoint), query}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// anew is the decision of an evaluation that remembers nothing.
func (p policies) anew(input ast.Value) (*ast.Term, error) {
	return evaluation.Run(context.Background(), p.query, input, noon.Time, time.Minute)
}

// decide is the decision with what is remembered.
func (p policies) decide(input ast.Value) (*ast.Term, error) {
	cache := p.Begin(input)
	answer, err := evaluation.Run(context.Background(), p.query, input, noon.Time, time.Minute, rego.EvalVirtualCache(cache))
	if err == nil {
		p.End(cache)
	}
	return answer, err
}

// same says that a decision with what is remembered is that without.
func (p policies) same(t *testing.T, input ast.Value) {
	t.Helper()
	want, err := p.anew(input)
	got, again := p.decide(input)
	if err != nil || again != nil || !want.Equal(got) {
		t.Errorf("%v becomes %v, %v; want %v, %v", input, got, again, want, err)
	}
}

// number is that of a rule of package more.
func (p policies) number(t *testing.T, rule string) int {
	t.Helper()
	n, ok := p.rules.Of(ast.MustParseRef("data.more." + rule))
	if !ok {
		t.Fatalf("%s has no number", rule)
	}
	return n
}
