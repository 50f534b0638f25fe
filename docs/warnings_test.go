package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// warned are what a running sidecar can say is wrong: as a warning of its status, or
// in its own log.
type warned struct{ status, logged map[string]bool }

func warnings(t *testing.T) warned {
	t.Helper()
	all := warned{map[string]bool{}, map[string]bool{}}
	for _, folder := range []string{"app", "cmd/bailiff", "internal", "enforcer", "gateway", "backends"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "backends/backendtest") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				all.read(file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all.status) < 10 || len(all.logged) < 30 {
		t.Fatalf("%d warnings and %d lines of the log were found in the code", len(all.status), len(all.logged))
	}
	return all
}

func (w warned) read(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool { // of texts handed to chat.LogPanic
		if text := literal(n); strings.HasSuffix(text, " panicked") {
			w.logged[text] = true
		}
		return true
	})
	for _, declared := range file.Decls {
		function, is := declared.(*ast.FuncDecl)
		if !is || function.Body == nil {
			continue
		}
		ofStatus := strings.HasSuffix(strings.ToLower(function.Name.Name), "warnings")
		made, harmless := false, map[string]bool{} // made of the function's other texts, or of warnings of the status
		ast.Inspect(function.Body, func(n ast.Node) bool {
			if text, is := logs(n, "Info"); is {
				harmless[text] = true
			}
			if text, is := logs(n, "Warn", "Error"); text != "" {
				w.logged[text] = true
			} else if is {
				made = true
			}
			return true
		})
		ast.Inspect(function.Body, func(n ast.Node) bool {
			text := literal(n)
			if (ofStatus || made) && !w.logged[text] && !harmless[text] && strings.Count(text, " ") >= 3 {
				w.status[longest(text)] = true
			}
			return text == "" // else its parts say nothing more
		})
	}
}

// logs says whether a node is a call that writes to a log at one of some levels, and its
// text; that is empty where the text is put together elsewhere.
func logs(n ast.Node, levels ...string) (text string, is bool) {
	call, is := n.(*ast.CallExpr)
	if !is || len(call.Args) == 0 {
		return "", false
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is || isAnswer(method) {
		return "", false
	}
	level, hasContext := strings.CutSuffix(method.Sel.Name, "Context")
	if !slices.Contains(levels, level) {
		return "", false
	}
	if hasContext {
		return literal(call.Args[1]), true
	}
	return literal(call.Args[0]), true
}

// isAnswer says whether an error is written to whoever asks by HTTP, as http.Error does.
func isAnswer(method *ast.SelectorExpr) bool {
	of, is := method.X.(*ast.Ident)
	return is && of.Name == "http"
}

// literal is a text as it stands in the code, also one that goes on over several lines.
func literal(n ast.Node) string {
	if sum, is := n.(*ast.BinaryExpr); is && sum.Op == token.ADD {
		if left, right := literal(sum.X), literal(sum.Y); left != "" && right != "" {
			return left + right
		}
	}
	basic, is := n.(*ast.BasicLit)
	if !is || basic.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(basic.Value)
	return text
}

var verb = regexp.MustCompile(`%(?:\[\d\])?[.\d]*[a-z]`)

// longest is the longest part of a format that always stands there as it is.
func longest(format string) string {
	parts := verb.Split(format, -1)
	return strings.TrimSpace(slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) }))
}

func TestEveryWarningIsExplained(t *testing.T) {
	said := warnings(t)
	listed := firstColumn(t, "docs/warnings.md", "## What each warning means")
	for text := range said.status {
		if !slices.ContainsFunc(listed, func(row string) bool { return strings.Contains(row, text) }) {
			t.Errorf("not explained is the warning %q", text)
		}
	}
	for text := range said.logged {
		if !slices.Contains(listed, text) {
			t.Errorf("not explained is the line of the log %q", text)
		}
	}
	for _, row := range listed {
		if !said.logged[row] && !slices.ContainsFunc(slices.Collect(maps.Keys(said.status)),
			func(text string) bool { return strings.Contains(row, text) }) {
			t.Errorf("nothing says %q", row)
		}
	}
}

// firstColumn are the words in back quotes in the first column of the tables below a
// heading.
func firstColumn(t *testing.T, name, heading string) (all []string) {
	t.Helper()
	_, below, found := strings.Cut(read(t, name).text, heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	for line := range strings.Lines(below) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") {
			for i, word := range strings.Split(cells[0], "`") {
				if i%2 == 1 {
					all = append(all, word)
				}
			}
		}
	}
	return all
}
