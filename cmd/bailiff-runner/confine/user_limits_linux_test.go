package confine

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// The bounds are never those of the machine, and a host that lets no sandbox have bounds of its own keeps none from starting.
func TestRoomIsLeftInANamespaceOfItsOwnAlone(t *testing.T) {
	t.Parallel()
	const bounds = "/proc/sys/user/max_inotify_instances"
	before, err := os.ReadFile(bounds)
	backendtest.Must(t, err)
	if said := wordsOf(t, nil); !strings.Contains(said, "leaving room: this is no namespace of users of a sandbox's own") {
		t.Errorf("in the machine's own namespace it says %q", said)
	}
	if after, err := os.ReadFile(bounds); err != nil || string(after) != string(before) {
		t.Errorf("the machine's bound was %s and is %s, %v", before, after, err)
	}
	without := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		Credential:  &syscall.Credential{Uid: 10000, Gid: 10000, NoSetGroups: true},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 10000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 10000, HostID: os.Getgid(), Size: 1}}}
	if said := wordsOf(t, without); said != "" {
		t.Errorf("without any capability it says %q", said)
	}
}

// wordsOf is what a runner says that is to leave room and has nothing else to do.
func wordsOf(t *testing.T, as *syscall.SysProcAttr) string {
	t.Helper()
	cmd := exec.Command(backendtest.Runner(t), wire.ShareWatches)
	cmd.SysProcAttr = as
	said := &strings.Builder{}
	cmd.Stderr = said
	_ = cmd.Run() // it ends at once, since there is no sidecar
	return said.String()
}
