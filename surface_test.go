package bailiff_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A value that keeps its configuration embedded would hand each holder all that
// it was built from: of an enforcer the backends and the decision log.
func TestNoStructEmbedsAnExportedConfig(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
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
func eachFile(t *testing.T, visit func(path string, file *ast.File, positions *token.FileSet)) {
	t.Helper()
	files, positions := 0, token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
		if err == nil {
			files++
			visit(path, file, positions)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("reading the module's files: %d read, error %v", files, err)
	}
}

// A program outside the module must be able to write down each type that it is handed or
// has to implement. What is under cmd and app is the program itself, and packages for
// tests (named ...test) are for the module's own tests.
func TestNoExportedSignatureNamesAnInternalType(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if top, _, _ := strings.Cut(folder, "/"); top == "cmd" || top == "app" || strings.Contains("/"+folder+"/", "/internal/") ||
			strings.HasSuffix(folder, "test") {
			return
		}
		internal := internalImports(file)
		for name, node := range exported(file) {
			ast.Inspect(node, func(n ast.Node) bool {
				if s, is := n.(*ast.SelectorExpr); is && internal[typeName(s.X)] {
					t.Errorf("%s: the exported %s names %s.%s, which is internal", path, name, typeName(s.X), s.Sel.Name)
				}
				return true
			})
		}
	})
}

// internalImports are the names under which a file knows packages that are internal.
func internalImports(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, i := range file.Imports {
		importPath := strings.Trim(i.Path.Value, `"`)
		if !strings.HasPrefix(importPath, module+"/") || !strings.Contains(importPath+"/", "/internal/") {
			continue
		}
		if i.Name != nil {
			names[i.Name.Name] = true
		} else {
			names[path.Base(importPath)] = true
		}
	}
	return names
}

// exported are the parts of a file's declarations that others see, by names.
func exported(file *ast.File) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) && !yield(d.Name.Name, d.Type) {
					return
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for name, node := range exportedOf(spec) {
						if !yield(name, node) {
							return
						}
					}
				}
			}
		}
	}
}

func exportedOf(spec ast.Spec) iter.Seq2[string, ast.Node] {
	return func(yield func(string, ast.Node) bool) {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() || s.TypeParams != nil && !yield(s.Name.Name, s.TypeParams) {
				return
			}
			fields, isStruct := s.Type.(*ast.StructType)
			if !isStruct {
				yield(s.Name.Name, s.Type)
				return
			}
			for _, f := range fields.Fields.List {
				if isExported := len(f.Names) == 0 || ast.IsExported(f.Names[0].Name); isExported && !yield(s.Name.Name, f.Type) {
					return
				}
			}
		case *ast.ValueSpec:
			if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.IsExported() }) && s.Type != nil {
				yield(s.Names[0].Name, s.Type)
			}
		}
	}
}

// receiver is the name of a method's receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return typeName(e)
}

// mostLines is how long a function may be, its first and last line included.
const mostLines = 60

func TestNoFunctionIsLong(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, positions *token.FileSet) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if lines := positions.Position(f.End()).Line - positions.Position(f.Pos()).Line + 1; lines > mostLines {
					t.Errorf("%s: %s has %d lines, more than %d", path, f.Name.Name, lines, mostLines)
				}
			}
		}
	})
}
