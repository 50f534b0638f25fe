package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func TestOnlyWhatClaudeCodeKeptOfThisSessionIsReadBack(t *testing.T) {
	record, err := filepath.EvalSymlinks(t.TempDir())
	backendtest.Must(t, err)
	user := fmt.Sprintf("/tmp/claude-%d", os.Geteuid())
	tasks := filepath.Join(user, "bailiff-test-"+filepath.Base(record))
	t.Cleanup(func() {
		_ = os.RemoveAll(tasks)
		_ = os.Remove(user) // which stays where it was there before
	})
	written := func(parts ...string) string {
		file := filepath.Join(parts...)
		backendtest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		backendtest.Must(t, os.WriteFile(file, []byte("x"), 0o600))
		return file
	}
	t.Setenv("TMPDIR", filepath.Join(record, "tmp"))
	own := filepath.Join(record, "tmp", filepath.Base(user), "p")
	result := written(record, "s1", "tool-results", "a.txt")
	linked := filepath.Join(record, "s1", "tool-results", "b.txt")
	backendtest.Must(t, os.Symlink(written(record, "secret"), linked))
	named := written(record, "s1", "tool-results", "c.txt")
	backendtest.Must(t, os.Link(named, filepath.Join(record, "again")))
	for name, c := range map[string]struct {
		session, transcript, file string
		want                      bool
	}{
		"a large result":          {"s1", record + "/s1.jsonl", result, true},
		"output of a task":        {"s1", "", written(tasks, "s1", "tasks", "b1.output"), true},
		"output where TMPDIR is":  {"s1", "", written(own, "s1", "tasks", "b1.output"), true},
		"output elsewhere":        {"s1", "", written(record, filepath.Base(user), "p", "s1", "tasks", "b1.output"), false},
		"another session's":       {"s2", record + "/s2.jsonl", result, false},
		"another session's task":  {"s2", "", written(tasks, "s1", "tasks", "b2.output"), false},
		"another record's":        {"s1", "/elsewhere/s1.jsonl", result, false},
		"no record":               {"s1", "", result, false},
		"a link":                  {"s1", record + "/s1.jsonl", linked, false},
		"a file of another name":  {"s1", record + "/s1.jsonl", named, false},
		"a folder":                {"s1", record + "/s1.jsonl", filepath.Dir(result), false},
		"a path that goes up":     {"s1", record + "/s1.jsonl", record + "/s1/tool-results/../tool-results/a.txt", false},
		"nothing":                 {"s1", record + "/s1.jsonl", filepath.Join(record, "s1", "tool-results", "none.txt"), false},
		"a session with a path":   {"../s1", record + "/../s1.jsonl", result, false},
		"another file of a task":  {"s1", "", written(tasks, "s1", "tasks", "b1.sh"), false},
		"a task deeper in a path": {"s1", "", written(tasks, "deep", "s1", "tasks", "b1.output"), false},
	} {
		if got := isKept(hook.Call{Session: c.session, Transcript: c.transcript}, c.file); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
