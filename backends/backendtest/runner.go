// Package backendtest is the suite that every backend passes, with real commands
// in real sandboxes.
package backendtest

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	programs = "github.com/bailiff-dev/bailiff/cmd/"
	program  = programs + "bailiff-runner"
)

// Runner is the path of the bailiff-runner program, built once for the test
// binary that calls it. A test that runs commands by it is left out of short runs.
func Runner(t testing.TB) string {
	t.Helper()
	Starts(t)
	path, err := build()
	Must(t, err)
	return path
}

// build leaves one folder for each checkout in the temporary folder: a test
// binary has no moment at which all of its tests are over.
var build = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(builtRunner); path != "" {
		return path, nil
	}
	source, err := exec.Command("go", "list", "-f", "{{.Dir}}", program).Output()
	if err != nil {
		return "", fmt.Errorf("finding the source of bailiff-runner: %w", err)
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("bailiff-runner-%d-%x", os.Getuid(), crc32.ChecksumIEEE(source)))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "bailiff-runner")
	return path, errors.Join(compile(program, path), noteSources())
})

// Beside builds another program of ours next to the runner, where a backend looks for
// it.
func Beside(t testing.TB, name string) {
	t.Helper()
	Must(t, compile(programs+name, filepath.Join(filepath.Dir(Runner(t)), name)))
}

// compile builds a program as it is released.
func compile(program, path string) error {
	made := fmt.Sprintf("%s.%d", path, os.Getpid())
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", made, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", filepath.Base(path), err, out)
	}
	return os.Rename(made, path)
}

// noteSources opens what the program is made of, so that the results of a test
// that used it are not taken from the cache when that has changed.
func noteSources() error {
	folders, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", program).Output()
	if err != nil {
		return fmt.Errorf("listing the sources of bailiff-runner: %w", err)
	}
	for _, folder := range strings.Fields(string(folders)) {
		files, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				return err
			}
		}
	}
	return nil
}
