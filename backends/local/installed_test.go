package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatRootInstalledIsInstalled(t *testing.T) {
	t.Parallel()
	const system = "/usr/bin:/bin"
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ls"), []byte("#!/bin/sh\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "ls"), 0o777); err != nil { // with any umask
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       bool
	}{
		{"ls", system, true},
		{"unheard-of", system, false},
		{"ls", folder + ":" + system, false}, // others may write the first that is found
		{"ls", system + ":" + folder, true},
		{"apt", strings.Join([]string{folder, "/usr"}, ":"), false}, // a folder, or nothing
	} {
		if got := installed(c.name, c.path); got != c.want {
			t.Errorf("%s in %s: installed is %v, want %v", c.name, c.path, got, c.want)
		}
	}
}
