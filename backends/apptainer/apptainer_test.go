package apptainer_test

import (
	"os"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

var spec = backends.Spec{Owner: "test", Session: "s", Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}

func open(t testing.TB) backends.Backend {
	b, err := apptainer.New(apptainer.Config{Runner: backendtest.Runner(t), StateDir: t.TempDir(), Image: os.Getenv("BAILIFF_SIF")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformanceOfTheRealProgram(t *testing.T) {
	if os.Getenv("BAILIFF_SIF") == "" {
		t.Skip("SKIPPED WITHOUT APPTAINER")
	}
	backendtest.Run(t, backendtest.Config{Open: open, Spec: spec})
}
