package config

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// runnerProgram is what the runner is called, wherever it lies.
const runnerProgram = "bailiff-runner"

// checkRunner says what is wrong with the program that is to run commands in sandboxes.
func checkRunner(path string) error {
	about, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: want the path of %s", path, runnerProgram)
	case err != nil:
		return fmt.Errorf("looking at %s: %w", runnerProgram, err)
	case !about.Mode().IsRegular() || about.Mode()&0o111 == 0:
		return fmt.Errorf("%s is no program: want the path of %s, which may be executed (chmod 755)", path, runnerProgram)
	}
	built, err := buildinfo.ReadFile(path)
	if err != nil || filepath.Base(built.Path) != runnerProgram {
		return fmt.Errorf("%s is another program than %s: want the one that came with this bailiff", path, runnerProgram)
	}
	if own, ok := debug.ReadBuildInfo(); ok && differ(revision(own), revision(built)) {
		return settings.Doubt(path + " was built from other sources than this bailiff: replace all programs together")
	}
	return nil
}

// revision is what a program was built from; empty if it does not say so.
func revision(built *debug.BuildInfo) string {
	for _, s := range built.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func differ(a, b string) bool { return a != "" && b != "" && a != b }
