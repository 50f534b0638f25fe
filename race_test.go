package bailiff_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What starts goroutines is tested under the race detector. What only tests import runs with them.
func TestPackagesThatStartGoroutinesRunUnderTheRaceDetector(t *testing.T) {
	raced := racedFolders(t)
	for _, p := range packages(t) {
		if folder := p.folder(); !raced[p.ImportPath] && !strings.Contains(folder, "test") && startsGoroutines(t, "./"+folder) {
			t.Errorf("%s starts goroutines: name it in the Makefile's RACED", p.ImportPath)
		}
	}
}

// racedFolders are the packages that the Makefile has the race detector look at.
func racedFolders(t *testing.T) map[string]bool {
	t.Helper()
	named, err := exec.Command("make", "--silent", "--eval", "raced:;@go list $(RACED) $(RACED_SHORT)", "raced").Output()
	if err != nil {
		t.Fatal(err)
	}
	raced := map[string]bool{}
	for _, path := range strings.Fields(string(named)) {
		raced[path] = true
	}
	return raced
}

func startsGoroutines(t *testing.T, folder string) (found bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			found = found || isStart(n)
			return !found
		})
	}
	return found
}

// isStart says whether a piece of code starts a goroutine, by itself or by a group's Go.
func isStart(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		by, ok := call.Fun.(*ast.SelectorExpr)
		return ok && by.Sel.Name == "Go"
	}
	_, ok := n.(*ast.GoStmt)
	return ok
}
