package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var unused = regexp.MustCompile(`(?m)^\| ([a-z, ]+) \| [^|]+ \|$`)

// The page on words says which ones readers of bailiff need not learn.
func TestWordsThatAreNotUsedAreNotUsed(t *testing.T) {
	t.Parallel()
	const page = "docs/words.md"
	_, table, _ := strings.Cut(read(t, page).text, "## Words that are not used")
	var words []string
	for _, row := range unused.FindAllStringSubmatch(table, -1) {
		words = append(words, strings.Split(row[1], ", ")...)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "not" })
	if len(words) < 10 {
		t.Fatalf("the page names %d words", len(words))
	}
	used := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)s?\b`)
	eachText(t, func(path, text string) {
		if path == page {
			return
		}
		for n, line := range strings.Split(text, "\n") {
			if word := used.FindString(line); word != "" {
				t.Errorf("%s:%d: %q is not used, see %s", path, n+1, word, page)
			}
		}
	})
}

// eachText calls visit with the texts of the module that people write: code, policies
// and pages.
func eachText(t *testing.T, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".go", ".rego", ".md"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		visit(name, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
