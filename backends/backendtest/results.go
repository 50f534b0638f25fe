package backendtest

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kept is the outcome of a case whose promise the backend keeps; any other is why
// it cannot.
const kept = "yes"

// against heads the line of a file of results that says what was tried.
const against = "Tried against"

// updating says that files of results and the table of them are to be written, not
// compared.
func updating() bool { return os.Getenv("BAILIFF_UPDATE_RESULTS") != "" }

//go:embed results/*.txt
var stored embed.FS

// outcomes are those of a run of the suite, or of an earlier one, by promise.
type outcomes map[string]string

// read returns the outcomes that stand in a file; none if there is no file.
func read(name string) outcomes {
	list := outcomes{}
	text, _ := stored.ReadFile("results/" + name + ".txt")
	for line := range strings.Lines(string(text)) {
		promise, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		list[promise] = outcome
	}
	return list
}

// record notes the outcome of a case at its end. One that failed has none, nor has
// one that was skipped for what this machine lacks.
func (o outcomes) record(t *testing.T, promise string) {
	if !t.Failed() && !t.Skipped() {
		o[promise] = kept
	}
}

// compare wants the outcomes to be those that stand in the file, or writes them
// there. Cases that did not run are as they were.
func (o outcomes) compare(t *testing.T, cfg Config) {
	t.Helper()
	if cfg.Name == "" || t.Failed() {
		return
	}
	before := read(cfg.Name)
	if updating() {
		o.write(t, cfg, before)
		return
	}
	o[against] = cfg.Against
	for promise, outcome := range o {
		if before[promise] != outcome {
			t.Errorf("results/%s.txt says of %q: %q, and now it is %q; if that is meant, run this test with BAILIFF_UPDATE_RESULTS=1, "+
				"then \"make conformance-table\"",
				cfg.Name, promise, before[promise], outcome)
		}
	}
}

func (o outcomes) write(t *testing.T, cfg Config, before outcomes) {
	t.Helper()
	text := fmt.Sprintf("%s: %s\n", against, cfg.Against)
	for _, c := range all() {
		if outcome := cmp.Or(o[c.promise], before[c.promise]); outcome != "" {
			text += fmt.Sprintf("%s: %s\n", c.promise, outcome)
		}
	}
	folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/bailiff-dev/bailiff/backends/backendtest").Output()
	if err != nil {
		t.Fatalf("finding the files of results: %v", err)
	}
	NoError(t, os.WriteFile(filepath.Join(strings.TrimSpace(string(folder)), "results", cfg.Name+".txt"), []byte(text), 0o644))
}

// names are those of the backends that have results.
func names() (list []string) {
	files, _ := stored.ReadDir("results")
	for _, file := range files {
		list = append(list, strings.TrimSuffix(file.Name(), ".txt"))
	}
	slices.Sort(list)
	return list
}
