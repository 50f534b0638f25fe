package kernel_test

import (
	"context"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/local"
)

// workshop is a sandbox on this machine and the folder in which its commands start.
type workshop struct {
	backends.Sandbox
	home string
}

func place(t testing.TB) workshop {
	t.Helper()
	home := t.TempDir()
	b, err := local.New(local.Config{Runner: backendtest.Runner(t), Workdir: home, StateDir: t.TempDir()})
	backendtest.Must(t, err)
	sandbox, err := b.Open(t.Context(), backends.Spec{Owner: "test", Session: "s", Network: "full"})
	backendtest.Must(t, err)
	t.Cleanup(func() { _ = sandbox.Close(context.Background()) })
	return workshop{sandbox, home}
}
