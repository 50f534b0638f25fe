package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

func TestFindNamesWhatToDo(t *testing.T) {
	folder := t.TempDir()
	program, text := filepath.Join(folder, "program"), filepath.Join(folder, "text")
	for path, mode := range map[string]os.FileMode{program: 0o711, text: 0o644} {
		backendtest.Must(t, os.WriteFile(path, nil, mode))
	}
	for _, c := range []struct{ name, configured, fault string }{
		{"a configured program", program, ""},
		{"a configured file that is no program", text, "no program"},
		{"a configured folder", folder, "no program"},
		{"nothing at the configured path", filepath.Join(folder, "none"), "runner.path"},
		{"nothing beside the executable", "", "runner.path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := runner.Find(c.configured)
			if c.fault == "" && (err != nil || path != program) {
				t.Errorf("found %q, %v", path, err)
			}
			if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("error is %v, want it to speak of %q", err, c.fault)
			}
		})
	}
}

func TestAnInstalledProgramCanBeRunButNotRead(t *testing.T) {
	source, folder := filepath.Join(t.TempDir(), "program"), filepath.Join(t.TempDir(), "new", "folder")
	backendtest.Must(t, os.WriteFile(source, []byte("#!/bin/true\n"), 0o755))
	first, err := runner.Install(source, folder)
	backendtest.Must(t, err)
	stat, err := os.Stat(first)
	if err != nil || stat.Mode().Perm() != 0o111 {
		t.Errorf("installed with mode %v, %v", stat.Mode(), err)
	}
	if again, err := runner.Install(source, folder); err != nil || again != first {
		t.Errorf("installed again as %q, %v, want %q", again, err, first)
	}
	backendtest.Must(t, os.WriteFile(source, []byte("#!/bin/false\n"), 0o755))
	if other, err := runner.Install(source, folder); err != nil || other == first {
		t.Errorf("another program installed as %q, %v", other, err)
	}
}
