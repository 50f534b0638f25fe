package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// leastInvariants is how many promises the design is known to make.
const leastInvariants = 324

// invariant is one numbered promise with the tests that hold it.
type invariant struct {
	number int
	tests  []held
}

// held names a test by the folder it is in.
type held struct{ folder, test string }

var (
	invariantStart = regexp.MustCompile(`(?m)^(\d+)\. `)
	subject        = regexp.MustCompile(`(?m)^\| (\d+)–(\d+) \| \[[^]]+\]\(([a-z]+\.md)\) \|$`)
	holder         = regexp.MustCompile("`([a-zA-Z./-]+):\\s+([^`]+)`")
)

func TestEveryInvariantNamesTestsThatExist(t *testing.T) {
	all := invariants(t)
	if len(all) < leastInvariants {
		t.Errorf("there are %d invariants, want at least %d", len(all), leastInvariants)
	}
	known := map[string]map[string]bool{}
	for i, inv := range all {
		if inv.number != i+1 {
			t.Errorf("invariant %d is numbered %d", i+1, inv.number)
		}
		if len(inv.tests) == 0 {
			t.Errorf("invariant %d names no test", inv.number)
		}
		for _, h := range inv.tests {
			if known[h.folder] == nil {
				known[h.folder] = testsIn(t, h.folder)
			}
			test, promise, _ := strings.Cut(h.test, "/")
			if !known[h.folder][test] || !conformance(t, promise) {
				t.Errorf("invariant %d: there is no %s in %s", inv.number, h.test, h.folder)
			}
		}
	}
}

func invariants(t *testing.T) (all []invariant) {
	t.Helper()
	text := design(t)
	starts := invariantStart.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		number, _ := strconv.Atoi(text[at[2]:at[3]])
		all = append(all, invariant{number, holders(text[at[1]:end])})
	}
	return all
}

// design is the text of all subjects, in the order in which the index names them.
func design(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, link := range subject.FindAllStringSubmatch(read(t, "docs/design/README.md").text, -1) {
		page := read(t, "docs/design/"+link[3]).text
		starts := invariantStart.FindAllStringSubmatch(page, -1)
		if len(starts) == 0 || starts[0][1] != link[1] || starts[len(starts)-1][1] != link[2] {
			t.Errorf("the index says that %s holds the invariants %s to %s", link[3], link[1], link[2])
		}
		all.WriteString(page)
	}
	return all.String()
}

func holders(text string) (all []held) {
	for _, m := range holder.FindAllStringSubmatch(text, -1) {
		for _, test := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
			all = append(all, held{m[1], test})
		}
	}
	return all
}

// conformance says whether every backend is tried for a promise, which is the
// name of a part of a test, spelt as "go test" spells it.
func conformance(t *testing.T, promise string) bool {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(root, "backends", "backendtest", "*.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), strings.ReplaceAll(promise, "_", " ")) {
			return true
		}
	}
	return false
}

// testsIn are the tests of one folder, in Go and in Rego.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	goFiles, _ := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	shared, _ := filepath.Glob(filepath.Join(root, folder, "*.go"))
	for _, file := range append(goFiles, shared...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = true
			}
		}
	}
	regoFiles, _ := filepath.Glob(filepath.Join(root, folder, "*_test.rego"))
	for _, file := range regoFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(test_\w+)`).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	return found
}

var (
	stepGiven = regexp.MustCompile(`(?s)\{"([a-z]+)", \[\]string\{(.*?)\n\t\}\},`)
	rowGiven  = regexp.MustCompile(`"([^"]+)"`)
	stepShown = regexp.MustCompile(`(?m)^\| ([a-z]+) \| ([^|]+) \|`)
)

// foldersIn are the folders that a cell names: each by itself, or those "below" another.
func foldersIn(cell string) (all []string) {
	names := span.FindAllStringSubmatch(cell, -1)
	within, first := "", 0
	switch {
	case strings.HasPrefix(cell, "below "):
		within, first = names[0][1], 1
	case strings.Contains(cell, ", below it "):
		within, first, all = names[0][1], 1, []string{names[0][1]}
	}
	for _, name := range names[first:] {
		all = append(all, path.Join(within, name[1]))
	}
	return all
}

func TestTheStepsShownAreThoseThatHold(t *testing.T) {
	shown := map[string]string{".": "vocabulary", "docs": "programs"}
	for _, row := range stepShown.FindAllStringSubmatch(read(t, "docs/ARCHITECTURE.md").text, -1) {
		for _, folder := range foldersIn(row[2]) {
			shown[folder] = row[1]
		}
	}
	given := stepGiven.FindAllStringSubmatch(read(t, "floors_test.go").text, -1)
	if len(given) == 0 || len(given) > 6 {
		t.Fatalf("the staircase has %d steps, want one to six", len(given))
	}
	for _, step := range given {
		for _, row := range rowGiven.FindAllStringSubmatch(step[2], -1) {
			for _, folder := range strings.Fields(row[1]) {
				if shown[folder] != step[1] {
					t.Errorf("%s stands on step %s, and is shown on %q", folder, step[1], shown[folder])
				}
			}
		}
	}
}

var benchShown = regexp.MustCompile(`-bench (\w+) +\./(\S+)`)

func TestBenchmarksShownExist(t *testing.T) {
	shown := benchShown.FindAllStringSubmatch(read(t, "docs/performance.md").text, -1)
	if len(shown) == 0 {
		t.Fatal("none is shown")
	}
	for _, m := range shown {
		if !testsIn(t, m[2])["Benchmark"+m[1]] {
			t.Errorf("there is no Benchmark%s in %s", m[1], m[2])
		}
	}
}
