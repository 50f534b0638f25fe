package backendtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// page is where users read the table.
const page = "../../docs/backends/conformance.md"

func TestTheTableShowsTheResults(t *testing.T) {
	want := table(t)
	if updating() {
		Must(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is not what the results say (%v): run \"make conformance-table\"", page, err)
	}
}

func TestEveryBackendHasAResultOfEveryCaseAndOfNoOther(t *testing.T) {
	for _, name := range names() {
		results := read(name)
		for _, c := range all() {
			if results[c.promise] == "" {
				t.Errorf("results/%s.txt does not say whether %q: run the backend's suite with BAILIFF_UPDATE_RESULTS=1", name, c.promise)
			}
			delete(results, c.promise)
		}
		if results[against] == "" {
			t.Errorf("results/%s.txt does not say what was tried", name)
		}
		delete(results, against)
		for promise := range results {
			t.Errorf("results/%s.txt speaks of %q, which is no case", name, promise)
		}
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range all() {
		if seen[c.promise] || strings.ContainsAny(c.promise, ":|\n") {
			t.Errorf("%q is no name for a case: it is taken, or no line of a file of results", c.promise)
		}
		seen[c.promise] = true
	}
	const asked = 40
	if len(seen) < asked {
		t.Errorf("the suite has %d cases, want at least %d", len(seen), asked)
	}
}

// table is the page.
func table(t *testing.T) string {
	t.Helper()
	backends := names()
	results := map[string]outcomes{}
	for _, name := range backends {
		results[name] = read(name)
	}
	var out strings.Builder
	fmt.Fprintf(&out, introduction, len(all()))
	for _, name := range backends {
		fmt.Fprintf(&out, "- **%s**: %s\n", name, results[name][against])
	}
	var notes []string
	group := ""
	for _, c := range all() {
		if c.group != group {
			group = c.group
			fmt.Fprintf(&out, "\n## %s\n\n| promise | %s |\n|---|%s\n", group, strings.Join(backends, " | "),
				strings.Repeat("---|", len(backends)))
		}
		fmt.Fprintf(&out, "| %s |", c.promise)
		for _, name := range backends {
			fmt.Fprintf(&out, " %s |", cell(results[name][c.promise], &notes))
		}
		out.WriteString("\n")
	}
	out.WriteString("\n## Why not\n\n")
	for i, note := range notes {
		fmt.Fprintf(&out, "%d. %s\n", i+1, note)
	}
	return out.String()
}

// cell is an outcome as the table shows it; a reason becomes a note.
func cell(outcome string, notes *[]string) string {
	if outcome == kept {
		return kept
	}
	if !slices.Contains(*notes, outcome) {
		*notes = append(*notes, outcome)
	}
	return fmt.Sprintf("no (%d)", 1+slices.Index(*notes, outcome))
}

const introduction = `# What each backend keeps

One suite of %d cases tries every backend with real commands in real sandboxes. This page is made of its results
(` + "`backends/backendtest/results`" + `): a number leads to the reason why a backend cannot keep a promise. What a backend
cannot do it refuses by name; it is never dropped in silence.

Each run of the tests tries all cases on bubblewrap, and on each other backend those that rest on more than the runner, which is
the same program everywhere; what the kernel makes of a bound is tried once for each way of setting bounds, on bubblewrap, docker
and modal. ` + "`make test-all`" + ` tries all cases on all backends, and so does the run that writes these results.

What the suite ran against:

`
