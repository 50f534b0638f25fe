package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// programs are what a release installs, with what the compiler is told for each.
var programs = []struct {
	name  string
	flags []string
}{
	{"bailiff", []string{"-tags", "grpcnotrace"}}, // as the Makefile builds it
	{"bailiff-runner", nil},
	{"bailiff-hook", nil},
	{"bailiff-host", nil},
}

// compile builds the programs for an architecture, once.
func (r *release) compile(arch string) error {
	if _, err := os.Stat(r.programs(arch)); err == nil {
		return nil
	}
	fmt.Fprintf(r.told, "compiling bailiff for %s: nothing that make compiled is reused, so this takes minutes without a word\n", arch)
	for _, p := range programs {
		build := buildCommand(r.source, arch, r.version, p.name, p.flags, filepath.Join(r.programs(arch), p.name))
		if printed, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s for %s: %w\n%s", p.name, arch, err, printed)
		}
	}
	return nil
}

// buildCommand builds one program the same way in every folder.
func buildCommand(source, arch, version, name string, flags []string, out string) *exec.Cmd {
	build := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X main.linkedVersion=" + version}, flags, []string{"-o", out, "./cmd/" + name})...)
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	return build
}

// shells are those whose completions are installed, and where.
var shells = map[string]string{
	"bash": "usr/share/bash-completion/completions/bailiff",
	"zsh":  "usr/share/zsh/vendor-completions/_bailiff",
	"fish": "usr/share/fish/vendor_completions.d/bailiff.fish",
}

// describe has bailiff write its manual pages and its completions.
func (r *release) describe() error {
	bailiff := filepath.Join(r.work, "bin", runtime.GOARCH, "bailiff")
	pages := filepath.Join(r.documents(), "usr/share/man/man1")
	if err := os.MkdirAll(pages, 0o755); err != nil { //nolint:gosec // is installed
		return err
	}
	manual := exec.Command(bailiff, "man", pages)
	manual.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
	if printed, err := manual.CombinedOutput(); err != nil {
		return fmt.Errorf("writing the manual pages: %w\n%s", err, printed)
	}
	for shell, place := range shells {
		text, err := exec.Command(bailiff, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("writing the completion of %s: %w", shell, err)
		}
		if err := write(filepath.Join(r.documents(), place), text); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // is installed
		return err
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // is installed
}

// bill writes the bill of materials, which lies in the program itself.
func (r *release) bill(arch string) error {
	sbom := exec.Command("go", "tool", "cyclonedx-gomod", "bin", "-json", "-noserial", "-notimestamp", "-std", "-version", "v"+r.version,
		"-output", r.name(arch, "cdx.json"), filepath.Join(r.programs(arch), "bailiff"))
	if printed, err := sbom.CombinedOutput(); err != nil {
		return fmt.Errorf("writing the bill of materials: %w\n%s", err, strings.TrimSpace(string(printed)))
	}
	return nil
}
