package file

import (
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What a sidecar of commit bc00c14 left is read here, where no clock runs: a book forgets approvals a week after their end.
func TestABookOfAnEarlierVersionIsRead(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.Command("tar", "xzf", "../../../app/testdata/state-of-bc00c14.tar.gz", "-C", folder, "--no-same-owner").
		CombinedOutput(); err != nil {
		t.Fatalf("unpacking: %v\n%s", err, out)
	}
	records, kept, err := OpenRecords(filepath.Join(folder, "state", "approvals.db"))
	backendtest.Must(t, err)
	defer records.Close()
	got := map[string]bailiff.ApprovalState{}
	for _, item := range kept.Items {
		got[item.Entry.ID] = item.Entry.State
	}
	want := map[string]bailiff.ApprovalState{"a-xz6e4bun6z": bailiff.ApprovalApproved, "a-5crtgumyaz": bailiff.ApprovalPending}
	if !maps.Equal(got, want) || len(kept.Grants) != 1 || kept.Grants[0].Grant.ApprovalID != "a-xz6e4bun6z" || len(kept.Freezes) != 1 {
		t.Errorf("the approvals are %v, want %v; the grants %+v, the freezes %+v", got, want, kept.Grants, kept.Freezes)
	}
}
