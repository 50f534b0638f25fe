package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// backedUp is the state folder of a sidecar that has stopped, packed; in it are a
// grant for always and a freeze. text is its configuration.
func backedUp(t *testing.T) (archive, text string) {
	t.Helper()
	folder := openDir(t)
	text = onePerson(t, askingAlways(t), onTheHost(t))
	o := startOffice(t, folder, text)
	e := send(t.Context(), o.agent, atTerminal("s1", "rm -r build"))
	mustApprove(t, o.operator, e.question(t), bailiff.ScopeAlways)
	wants(t, e.end(t), bailiff.Completed, "")
	if _, err := o.operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeSession, ID: "stopped", Reason: "It is odd."}); err != nil {
		t.Fatal(err)
	}
	o.stop()
	archive = filepath.Join(t.TempDir(), "state.tar")
	packed(t, "-C", filepath.Join(folder, "state"), "-cpf", archive, ".")
	return archive, text
}

// restored is a new folder with the state folder that was packed.
func restored(t *testing.T, archive string) (folder, state string) {
	t.Helper()
	folder = openDir(t)
	state = filepath.Join(folder, "state")
	must(t, os.Mkdir(state, 0o700))
	packed(t, "-C", state, "-xpf", archive)
	return folder, state
}

func packed(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.Command("tar", words...).CombinedOutput(); err != nil {
		t.Fatalf("tar %v: %v\n%s", words, err, out)
	}
}

// verified checks the whole log.
func verified(t *testing.T, state string) {
	t.Helper()
	if report, err := audit.Verify(state); err != nil || len(report.Faults) > 0 {
		t.Errorf("the log: %+v, %v", report, err)
	}
}

func TestARestoredStateFolderIsGoneOnWith(t *testing.T) {
	t.Parallel()
	archive, text := backedUp(t)
	folder, state := restored(t, archive)
	verified(t, state)
	o := startOffice(t, folder, text)
	wants(t, ask(t, o.agent, atTerminal("s2", "rm -r build")), bailiff.Completed, "")
	wants(t, ask(t, o.agent, atTerminal("stopped", "true")), bailiff.Refused, "It is odd.")
	o.stop()
	verified(t, state)
}

func TestEveryFileOfTheStateFolderIsExplained(t *testing.T) {
	t.Parallel()
	archive, _ := backedUp(t)
	_, state := restored(t, archive)
	page, err := os.ReadFile("../docs/recovery.md")
	must(t, err)
	explained := func(name string) bool {
		return strings.Contains(string(page), "\n| `"+name) || strings.Contains(string(page), ", `"+name+"`")
	}
	for _, pattern := range []string{"*", "audit/*"} {
		for _, path := range matching(t, state, pattern) {
			name, err := filepath.Rel(state, path)
			if info, wrong := os.Stat(path); err != nil || wrong != nil {
				t.Fatal(err, wrong)
			} else if info.IsDir() {
				name += "/"
			}
			if !explained(name) {
				t.Errorf("docs/recovery.md does not explain %s", name)
			}
		}
	}
}

// A start that is refused says why; one that is not has lost no more than the file.
func TestWhatALostOrDamagedFileOfTheStateFolderCosts(t *testing.T) {
	t.Parallel()
	archive, text := backedUp(t)
	for name, c := range map[string]struct {
		damage  func(t *testing.T, state string)
		refuses string
	}{
		"the store of approvals is gone":          {withoutFiles("approvals.db"), "with every freeze, grant and pending approval"},
		"the store of approvals is damaged":       {withDamaged("approvals.db"), "opening the approvals"},
		"a file of the decision log is gone":      {withoutFiles("decisions/*"), "is missing"},
		"a file of the decision log is damaged":   {withDamaged("decisions/*"), "bailiff audit verify"},
		"the head of the decision log is gone":    {withoutFiles("audit/head"), "reading the head"},
		"the head of the decision log is damaged": {withDamaged("audit/head"), "reading the head"},
		"the key of the decision log is gone":     {withoutFiles("audit/key"), "key"},
		"the key of the decision log is damaged":  {withDamaged("audit/key"), "key"},
		"the key of certificates is gone":         {withoutFiles("egress.key"), ""},
		"the key of certificates is damaged":      {withDamaged("egress.key"), "egress.key holds"},
		"the lock is gone":                        {withoutFiles("lock*"), ""},
		"the records of sandboxes are gone":       {withoutFiles("sandboxes"), ""},
		"the records of workspaces are gone":      {withoutFiles("workspaces"), ""},
		"the past policies are gone":              {withoutFiles("policies"), ""},
		"log, head and key are moved away":        {withoutFiles("decisions", "audit"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder, state := restored(t, archive)
			c.damage(t, state)
			s, err := tryServe(t, folder, text)
			if c.refuses != "" {
				if err == nil || !strings.Contains(err.Error(), c.refuses) {
					t.Errorf("the start: %v, want one refused with %q", err, c.refuses)
				}
				return
			}
			must(t, err)
			wants(t, ask(t, s.client(t), atTerminal("s2", "rm -r build")), bailiff.Completed, "")
			wants(t, ask(t, s.client(t), atTerminal("stopped", "true")), bailiff.Refused, "It is odd.")
			s.stop()
			verified(t, state)
		})
	}
}

func withoutFiles(patterns ...string) func(*testing.T, string) {
	return func(t *testing.T, state string) {
		t.Helper()
		for _, pattern := range patterns {
			for _, path := range matching(t, state, pattern) {
				must(t, os.RemoveAll(path))
			}
		}
	}
}

func withDamaged(pattern string) func(*testing.T, string) {
	return func(t *testing.T, state string) {
		t.Helper()
		for _, path := range matching(t, state, pattern) {
			must(t, os.WriteFile(path, []byte("damage\n"), 0o600))
		}
	}
}

func matching(t *testing.T, state, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, pattern))
	if err != nil || len(found) == 0 {
		all, _ := filepath.Glob(filepath.Join(state, "*"))
		t.Fatalf("there is no %s among %v: %v", pattern, all, err)
	}
	return found
}
