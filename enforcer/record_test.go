package enforcer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Only the step that writes a decision down makes a grant, and all that makes a
// sandbox or a process do something is behind a function that takes one.
func TestOnlyARecordedDecisionMakesAGrant(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	must(t, err)
	var makers, starters []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if made, ok := n.Type.(*ast.Ident); ok && made.Name == "grant" {
						makers = append(makers, f.Name.Name)
					}
				case *ast.CallExpr:
					running := []string{"Run", "Start", "Kernel", "Attend"}
					if called, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(running, called.Sel.Name) && !takesGrant(f) {
						starters = append(starters, f.Name.Name+" calls "+called.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if !slices.Equal(makers, []string{"record"}) {
		t.Errorf("%q make grants", makers)
	}
	if len(starters) > 0 {
		t.Errorf("without a grant %q", starters)
	}
}

func takesGrant(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		of, ok := p.Type.(*ast.Ident)
		return ok && of.Name == "grant"
	})
}
