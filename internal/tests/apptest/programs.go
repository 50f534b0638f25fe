// Package apptest is what the tests of clients need: the programs as they are
// shipped ([Programs]), a sidecar in a process of its own ([Serve]), and broken sidecars of
// one, in front of which no client may let anything run ([BrokenSidecars]).
//
// What is not here: the sidecar's own tests, which run it in their own process.
package apptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// Root is the folder of this repository.
func Root(tb testing.TB) string {
	tb.Helper()
	root, err := findRoot()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

var findRoot = sync.OnceValues(func() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(file))), nil
})

// Programs is a folder with bailiff, bailiff-runner and bailiff-hook, as "make"
// builds them. There is one for each checkout, below the temporary folder: a test
// binary has no moment at which all of its tests are over.
func Programs(tb testing.TB) string {
	tb.Helper()
	backendtest.Starts(tb)
	folder, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

var build = sync.OnceValues(func() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("bailiff-programs-%d%s", os.Getuid(), strings.ReplaceAll(root, "/", "-")))
	made := fmt.Sprintf("%s.%d", folder, os.Getpid())
	defer func() { _ = os.RemoveAll(made) }()
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.MkdirAll(made, 0o755)); err != nil {
		return "", err
	}
	_ = os.CopyFS(made, os.DirFS(folder)) // what is there already need not be linked again
	command := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", made+"/", "./cmd/...")
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if printed, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the programs: %w\n%s", err, printed)
	}
	programs, err := os.ReadDir(made)
	for _, program := range programs {
		err = errors.Join(err, os.Rename(filepath.Join(made, program.Name()), filepath.Join(folder, program.Name())))
	}
	return folder, errors.Join(err, noteSources(root))
})

// noteSources looks at what the programs are made of, so that the results of a
// test that used them are not taken from the cache when that has changed.
func noteSources(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}
