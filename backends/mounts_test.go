package backends_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestMountsComeFromAllowedFoldersOnly(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	backendtest.Must(t, err)
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	must := func(err error) {
		t.Helper()
		backendtest.Must(t, err)
	}
	must(os.MkdirAll(in("project", "src"), 0o755))
	must(os.MkdirAll(in("project-secrets"), 0o755))
	must(os.MkdirAll(in("project", "engine"), 0o755))
	must(os.Symlink(in("project-secrets"), in("project", "way-out")))
	must(os.Symlink(in("project"), in("alias")))
	listener, err := net.Listen("unix", in("project", "listening"))
	must(err)
	defer listener.Close()

	for _, c := range []struct {
		name, source, target string
		allowed              []string
		refusal              string
	}{
		{"a folder below an allowed one", in("project", "src"), "/src", []string{in("project")}, ""},
		{"the allowed folder itself", in("project"), "/src", []string{in("project") + "/"}, "engine"},
		{"an allowed folder named through a link", in("project", "src"), "/src", []string{in("alias")}, ""},
		{"a folder that does not exist yet", in("project", "new", "er"), "/src", []string{in("project")}, ""},
		{"nothing is allowed", in("project", "src"), "/src", nil, "mounts_allowed"},
		{"a neighbour with the same beginning", in("project-secrets"), "/src", []string{in("project")}, "mounts_allowed"},
		{"a link that leads out", in("project", "way-out"), "/src", []string{in("project")}, "mounts_allowed"},
		{"a file behind a link that leads out", in("project", "way-out", "key"), "/src", []string{in("project")}, "mounts_allowed"},
		{"a path that climbs", in("project") + "/../project-secrets", "/src", []string{in("project")}, "absolute"},
		{"a relative source", "project", "/src", []string{"/"}, "absolute"},
		{"a relative target", in("project", "src"), "src", []string{in("project")}, "absolute"},
		{"the whole root", "/", "/host", []string{"/"}, "engine"},
		{"the folder of the engine's socket", "/var/run", "/host", []string{"/"}, "engine"},
		{"the engine's socket", "/run/docker.sock", "/docker.sock", []string{"/"}, "engine"},
		{"a socket that the caller knows of", in("project", "engine"), "/e", []string{in("project")}, "engine"},
		{"any socket", in("project", "listening"), "/s", []string{in("project")}, "is a socket"},
		{"over the sandbox's root", in("project", "src"), "/", []string{in("project")}, "target"},
		{"over the runner", in("project", "src"), "/.bailiff/runner", []string{in("project")}, "target"},
		{"over the kernel's files", in("project", "src"), "/proc/sys", []string{in("project")}, "target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := backends.CheckMounts([]bailiff.Mount{{Source: c.source, Target: c.target}}, c.allowed, in("project", "engine", "socket"))
			switch {
			case c.refusal == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refusal != "" && !errors.Is(err, backends.ErrUnsupported):
				t.Errorf("error is %v, want one that wraps ErrUnsupported", err)
			case c.refusal != "" && !strings.Contains(err.Error(), c.refusal):
				t.Errorf("error is %q, want it to speak of %q", err, c.refusal)
			}
		})
	}
}
