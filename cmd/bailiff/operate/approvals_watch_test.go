package operate

import (
	"bytes"
	"strings"
	"testing"
)

// Who changes a project by hand while a command runs does not read the answer that tells of it.
func TestAWatchTellsWhatWasPutBackInAProject(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"It was stopped. Put back, since programs start by it later and the change was not asked about: /src/.envrc (the changed one is " +
			".envrc.refused).": "put back   /src/.envrc (the changed one is .envrc.refused). If you made the change yourself",
		"It was stopped.": "",
	} {
		var printed bytes.Buffer
		w := watcher{out: &printed}
		event := `{"event": "execution", "session": "s1", "message": "` + message + `"}`
		if err := w.printLine(t.Context(), "execution", []byte(event)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(printed.String(), "  put back "); got != (want != "") || !strings.Contains(printed.String(), want) {
			t.Errorf("of %q it prints %q", message, printed.String())
		}
	}
}

func TestALineOfAWatchSaysItsTimeAndItsKindOnce(t *testing.T) {
	t.Parallel()
	var printed bytes.Buffer
	w := watcher{out: &printed}
	event := `{"event": "decision", "timestamp": "2001-02-03T04:05:06Z", "session": "s1", "outcome": "allow", "text": "ls"}`
	if err := w.printLine(t.Context(), "decision", []byte(event)); err != nil {
		t.Fatal(err)
	}
	line := printed.String()
	if strings.Contains(line, "2001") || strings.Count(line, "decision") != 1 || !strings.HasSuffix(line, "  decision   s1  allow  ls\n") {
		t.Errorf("it prints %q", line)
	}
}
