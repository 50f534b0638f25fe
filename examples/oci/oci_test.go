package oci_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/examples/oci"
	"github.com/bailiff-dev/bailiff/internal/config"
)

func open(t testing.TB) backends.Backend {
	t.Helper()
	_, err := exec.LookPath("runc")
	if os.Getuid() != 0 {
		err = errors.New("this is not root")
	}
	backendtest.Needs(t, "RUNC", err)
	b, err := oci.Defaults().Make(backends.Host{Runner: backendtest.Runner(t), StateDir: t.TempDir(), Log: slog.Default()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var spec = backends.Spec{Owner: "test", Session: "s", Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{Open: open, Spec: spec, Tries: backendtest.OnBackend})
}

func TestAKilledSidecarLeavesNothing(t *testing.T) { backendtest.TestKilledSidecar(t, open, spec) }

// known is what package catalogue would have with one line more.
var known = backends.Catalogue{
	"oci": func() backends.Maker { return oci.Defaults() },
}

func TestOneLineMakesItKnown(t *testing.T) {
	cfg, err := config.Parse("bailiff.yaml", []byte("backends: {oci: {program: crun}}"), known)
	if err != nil {
		t.Fatal(err)
	}
	if made, ok := cfg.Backends["oci"].(*oci.Config); !ok || made.Program != "crun" {
		t.Errorf("the section is %+v", cfg.Backends["oci"])
	}
	_, err = config.Parse("bailiff.yaml", []byte("backends: {oci: {programm: crun}}"), known)
	if err == nil || !strings.Contains(err.Error(), "program") {
		t.Errorf("a misspelt key is answered with %v", err)
	}
}

func TestABackendTakesLessThan300Lines(t *testing.T) {
	text, err := os.ReadFile("oci.go")
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines == 0 || lines >= 300 {
		t.Errorf("it takes %d lines, %v", lines, err)
	}
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	cfg := oci.Defaults()
	cfg.Program = "no-such-program"
	b, err := cfg.Make(backends.Host{Runner: backendtest.Runner(t), StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Ready(context.Background()); !errors.Is(err, backends.ErrUnavailable) {
		t.Errorf("Ready says %v", err)
	}
}
