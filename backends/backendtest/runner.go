// Package backendtest is the suite that every backend passes, with real commands
// in real sandboxes.
package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Runner is the path of the bailiff-runner program, built once for the test
// binary that calls it.
func Runner(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build leaves one folder by content in the temporary folder: a test binary has
// no moment at which all of its tests are over.
var build = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("bailiff-runner-%d", os.Getuid()))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "bailiff-runner")
	made := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", made, "github.com/bailiff-dev/bailiff/cmd/bailiff-runner")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building bailiff-runner: %w\n%s", err, out)
	}
	return path, os.Rename(made, path)
})
