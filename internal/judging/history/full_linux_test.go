package history

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestADiskThatIsFullIsToldAndNothingIsHalfKept(t *testing.T) {
	disk := t.TempDir()
	backendtest.SmallDisk(t, disk, "128k")
	dir := filepath.Join(disk, "policies")
	h := open(t, dir)
	must(t, h.Keep(revision(1), files(1)))
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, bytes.Repeat([]byte("x"), 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk says %v", err)
	}
	word := api.Rollback{Revision: "abc"}
	for what, err := range map[string]error{"a revision": h.Keep(revision(2), files(2)), "a word": h.RollBack(word)} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("keeping %s says %v", what, err)
		}
	}
	h = open(t, dir)
	all, err := h.All()
	got, wrong := h.RolledBack()
	if err != nil || len(all) != 1 || all[0].Name != revision(1).Name || all[0].Damaged || wrong != nil || got != nil {
		t.Errorf("kept are %+v, %v; the word is %+v, %v", all, err, got, wrong)
	}
	must(t, os.Remove(ballast))
	must(t, h.Keep(revision(2), files(2)))
	must(t, h.RollBack(word))
}
