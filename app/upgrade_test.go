package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// earlier is a state folder that a sidecar of commit bc00c14 left when it was killed,
// with its configuration and a copy of the policies of that time. It holds one live
// workspace, one approval that was given and one that expired, one frozen session and 11 events.
const earlier = "testdata/state-of-bc00c14.tar.gz"

func TestAStateFolderOfAnEarlierVersionGoesOn(t *testing.T) {
	t.Parallel()
	needsRoot(t) // whose files they were
	folder := openDir(t)
	if out, err := exec.Command("tar", "xzf", earlier, "-C", folder).CombinedOutput(); err != nil {
		t.Fatalf("unpacking: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "bailiff.yaml"))
	must(t, err)
	sockets := openDir(t)
	must(t, os.Mkdir(filepath.Join(sockets, "work"), 0o700))
	filled := os.Expand(string(text), func(string) string { return sockets })
	// Its port would be the usual one, which others take meanwhile.
	o := startOffice(t, folder, filled+"runner: {path: "+backendtest.Runner(t)+"}\nmetrics: {listen: \"\"}\n")

	t.Run("its events are whole", func(t *testing.T) {
		report, err := audit.Verify(filepath.Join(folder, "state"))
		if err != nil || len(report.Faults) > 0 || report.Lines < 11 {
			t.Errorf("the report is %+v, %v", report, err)
		}
	})
	t.Run("its policies judge", func(t *testing.T) {
		a := ask(t, o.agent, inChat("s2", "curl https://example.com"))
		if a.Status != bailiff.Refused || !strings.Contains(a.Message, "house.no_downloads") {
			t.Errorf("the answer is %+v", a)
		}
	})
	t.Run("its commands run", func(t *testing.T) {
		if a := ask(t, o.agent, inChat("s2", "echo hello")); a.Status != bailiff.Completed || a.Output != "hello\n" {
			t.Errorf("the answer is %+v", a)
		}
	})
	t.Run("its frozen session stays frozen", func(t *testing.T) {
		if a := ask(t, o.agent, inChat("s9", "true")); a.Status == bailiff.Completed || !strings.Contains(a.Message, "a stolen phone") {
			t.Errorf("the answer is %+v", a)
		}
	})
	t.Run("its policies are in the history", func(t *testing.T) {
		revisions, err := o.operator.Revisions(t.Context())
		if err != nil || len(revisions) != 1 {
			t.Errorf("the revisions are %+v, %v", revisions, err)
		}
	})
}
