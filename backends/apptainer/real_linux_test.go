package apptainer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// The real program is not to be had everywhere: "make apptainer-test" runs these tests
// in a system that has it, and there a SIF file of scripts/make-root.
const realImage = "/srv/bailiff-sandbox.sif"

// realProgram leaves a test out where the program is not.
func realProgram(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("apptainer")
	if err == nil {
		_, err = os.Stat(realImage)
	}
	if err != nil {
		t.Skip("SKIPPED WITHOUT THE REAL APPTAINER: make apptainer-test brings it")
	}
	return program
}

// onReal is a backend whose program is the real one.
func onReal(t testing.TB) backends.Backend { return backend(t, realProgram(t), realImage) }

// real is a field for calls of the real program.
func real(t *testing.T) field {
	t.Helper()
	f := newField(t, realProgram(t))
	f.sif, f.image, f.static = filepath.Join(f.work, "image.sif"), filepath.Join(f.work, "root"), filepath.Join(f.work, "static")
	copied(t, realImage, f.sif)
	copied(t, backendtest.Runner(t), f.static)
	if out, err := exec.Command("unsquashfs", "-no-progress", "-no-xattrs", "-d", f.image, "-o", "36864",
		f.sif).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}

func copied(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o755)
	}
	backendtest.Must(t, err)
}

func TestConformanceOfTheRealProgram(t *testing.T) {
	realProgram(t)
	backendtest.Run(t, backendtest.Config{Open: onReal, Spec: spec, Tries: backendtest.OnBackend, Without: rootsLack})
}

func TestConformanceOfTheRealProgramForAnUnprivilegedUser(t *testing.T) {
	program := realProgram(t)
	if backendtest.Unprivileged(t) {
		unprivileged(t, program, realImage)
	}
}

func TestTheRealProgramLetsNothingOfTheSidecarsVariablesIn(t *testing.T) {
	b := onReal(t)
	hostile(t, t.TempDir())
	leaksNothing(t, b)
}

func TestTheRealProgramPullsOnceAndPins(t *testing.T) {
	pulls(t, backend(t, realProgram(t), realImage), newRegistry(t, ofRegistry(t)))
}

func TestAKilledSidecarLeavesNothingOfTheRealProgram(t *testing.T) {
	realProgram(t)
	backendtest.TestKilledSidecar(t, onReal, spec)
}

func BenchmarkTheRealProgram(b *testing.B) { backendtest.Benchmark(b, onReal(b), spec) }

func backend(t testing.TB, program, image string, change ...func(*apptainer.Config)) *apptainer.Backend {
	t.Helper()
	cfg := apptainer.Config{Program: program, Image: image, Runner: backendtest.Runner(t), StateDir: t.TempDir()}
	for _, f := range change {
		f(&cfg)
	}
	b, err := apptainer.New(cfg)
	backendtest.Must(t, err)
	return b
}
