package backendtest

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// shapes makes folders in one another, deeper than a process may hold descriptors, folders that are
// closed to their user, and many files.
const shapes = `
import os, sys
os.makedirs('closed/a/b')
for folder in ('closed/a/b', 'closed/a', 'closed'): os.chmod(folder, 0)
for n in range(2000): open('file %d' % n, 'w').close()
for n in range(int(sys.argv[1])):
    os.mkdir('d')
    os.chdir('d')
print('made')`

// RemovesAnyWorkspace wants the workspace of a spec to be removed, however deep a command has nested its
// folders, and this process not to hold a descriptor for each folder meanwhile.
func RemovesAnyWorkspace(t *testing.T, backend backends.Backend, spec backends.Spec) {
	t.Helper()
	keeper := backend.(backends.Keeper)
	inside := func(code string) string {
		sandbox, err := backend.Open(t.Context(), spec)
		Must(t, err)
		defer func() { NoError(t, sandbox.Close(context.Background())) }()
		cmd := backends.Command{Argv: []string{"python3", "-c", code, strconv.Itoa(Rounds(5000, 25000))}, HeadBytes: 1000,
			Timeout: time.Minute}
		var out []byte
		_, err = sandbox.Run(t.Context(), cmd, func(p []byte) { out = append(out, p...) })
		Must(t, err)
		return string(out)
	}
	if said := inside(shapes); said != "made\n" {
		t.Fatalf("making the files: %s", said)
	}
	most, stop := watchDescriptors()
	err := eventually(t, func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) })
	stop()
	if err != nil || most() > 1000 {
		t.Errorf("removing it: %.300v, with up to %d descriptors", err, most())
	}
	if said := inside("import os; print(os.listdir())"); said != "[]\n" {
		t.Errorf("the next workspace of that name has %.300s", said)
	}
	NoError(t, eventually(t, func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) }))
}

// watchDescriptors counts how many descriptors this process holds at most until it is stopped.
func watchDescriptors() (most func() int, stop func()) {
	done, ended, n := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(ended)
		backends.Every(10*time.Millisecond, done, func() {
			open, _ := os.ReadDir("/proc/self/fd")
			n = max(n, len(open))
		})
	}()
	return func() int { return n }, func() { close(done); <-ended }
}
