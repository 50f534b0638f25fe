package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryMetricIsListed(t *testing.T) {
	text := source(t, "metrics/collection.go")
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`r\.(?:counters|gauges|histograms)\("([a-z_]+)"`).FindAllStringSubmatch(text, -1) {
		want["bailiff_"+m[1]] = true
	}
	same(t, "docs/metrics.md", want, named(t, "docs/metrics.md", regexp.MustCompile(`^(bailiff_[a-z_]+)`)))
}

func TestEveryRuleIsListed(t *testing.T) {
	want := rules(t)
	same(t, "docs/shipped-policies.md", want, named(t, "docs/shipped-policies.md", ruleShown))
}

// rules are those that the policies, their tables and the Go code can give.
func rules(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, pattern := range []string{"policies/*.rego", "policies/data.yaml", "rules.go", "enforcer/*.go", "internal/pdp/*.go",
		"internal/pdp/answers/*.go", "gateway/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range rulesIn(t, file) {
				all[name] = true
			}
		}
	}
	return all
}

const ruleKinds = `((?:approval|backend|break_glass|code|command|env|floor|log|policy|request|session|tool)\.[a-z_]+)`

var (
	ruleShown = regexp.MustCompile(`^` + ruleKinds + `$`)
	ruleGiven = regexp.MustCompile(`(?:"|rule: |: )` + ruleKinds + `(?:"|,|\n)`)
	ruleNamed = regexp.MustCompile(`[rR]ule[A-Z]\w* += "` + ruleKinds + `"`) // a constant in Go
)

func rulesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	if strings.Contains(file, "_test.") {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pattern := ruleGiven
	if strings.HasSuffix(file, ".go") {
		pattern = ruleNamed
	}
	for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

func source(t *testing.T, name string) string {
	t.Helper()
	return read(t, name).text
}

// named are the words in back quotes on a page that match.
func named(t *testing.T, name string, pattern *regexp.Regexp) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, word := range read(t, name).spans() {
		if m := pattern.FindStringSubmatch(word); m != nil {
			found[m[1]] = true
		}
	}
	return found
}

func same(t *testing.T, page string, want, have map[string]bool) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("nothing was found in the code")
	}
	for name := range want {
		if !have[name] {
			t.Errorf("%s does not list %s", page, name)
		}
	}
	for name := range have {
		if !want[name] {
			t.Errorf("%s lists %s, which does not exist", page, name)
		}
	}
}

func TestTheWholeFloorIsListed(t *testing.T) {
	text := source(t, "enforcer/floor.go")
	_, lists, found := strings.Cut(text, "var forbiddenPrefixes")
	if !found {
		t.Fatal("the floor's lists are not where they were")
	}
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`"([A-Z0-9_]+)"`).FindAllStringSubmatch(lists, -1) {
		want[m[1]] = true
	}
	_, section, _ := strings.Cut(read(t, "docs/secrets.md").text, "## The floor")
	have := map[string]bool{}
	for _, word := range (page{text: section}).spans() {
		if strings.ToUpper(word) == word {
			have[word] = true
		}
	}
	same(t, "docs/secrets.md", want, have)
}

// The list of all pages leads to each one, of a folder to its first.
func TestEveryPageIsListed(t *testing.T) {
	t.Parallel()
	wantListed(t, "docs")
	listed := read(t, "docs/README.md").links()
	for _, p := range pages(t) {
		if front := strings.TrimPrefix(p.name, "docs/"); strings.HasSuffix(front, "/README.md") && !slices.Contains(listed, front) {
			t.Errorf("docs/README.md does not list %s", p.name)
		}
	}
}

func TestEveryClientIsListed(t *testing.T) { wantListed(t, "docs/clients") }

func TestEveryBackendIsListed(t *testing.T) { wantListed(t, "docs/backends") }

// wantListed wants a folder's first page to lead to each of the others.
func wantListed(t *testing.T, folder string) {
	t.Helper()
	front := folder + "/README.md"
	listed := map[string]bool{front: true}
	for _, target := range read(t, front).links() {
		listed[filepath.Join(folder, target)] = true
	}
	for _, p := range pages(t) {
		if filepath.Dir(p.name) == folder && !listed[p.name] {
			t.Errorf("%s does not list %s", front, p.name)
		}
	}
}
