package snapshot_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
)

// A disk of 12 MiB has no room for 20 more.
func TestADiskThatFillsWhileASnapshotIsWrittenLosesNothing(t *testing.T) {
	var fault error
	if os.Geteuid() != 0 {
		fault = os.ErrPermission
	}
	backendtest.Needs(t, "root, who alone may mount a small disk", fault)
	w := open(t, func(c *snapshot.Config) {
		must(t, unix.Mount("tmpfs", c.Dir, "tmpfs", 0, "size=12m"))
		t.Cleanup(func() { must(t, unix.Unmount(c.Dir, unix.MNT_DETACH)) })
	})
	w.sh("echo kept > b; head -c 1M /dev/urandom > a")
	w.ready()
	was := w.files()
	id := w.do("rm b")
	w.sh("for i in $(seq 20); do head -c 1M /dev/urandom > big$i; done")
	if err := w.take(); err == nil || !strings.Contains(err.Error(), "No space left on device") {
		t.Fatalf("with a full disk it says %v", err)
	}
	w.sh("rm big*")
	w.reopen()
	w.ready()
	w.undo(id, false)
	w.same(was)
}
