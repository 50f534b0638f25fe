package bailiff_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A value that keeps its configuration embedded would hand each holder all that
// it was built from: of an enforcer the backends and the decision log.
func TestNoStructEmbedsAnExportedConfig(t *testing.T) {
	eachFile(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			s, isStruct := n.(*ast.StructType)
			if !isStruct {
				return true
			}
			for _, field := range s.Fields.List {
				if name := typeName(field.Type); len(field.Names) == 0 && ast.IsExported(name) && strings.HasSuffix(name, "Config") {
					t.Errorf("%s: a struct embeds %s: name the field config", path, name)
				}
			}
			return true
		})
	})
}

// typeName is the name of a type that may be a pointer or of another package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// eachFile calls visit with each file of Go of the module but tests.
func eachFile(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			files++
			visit(path, file)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("reading the module's files: %d read, error %v", files, err)
	}
}
