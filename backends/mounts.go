package backends

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// engineSockets are where container engines listen. Who can write to one owns
// the machine, so no mount shows one, nor a folder that holds or could hold one.
var engineSockets = []string{
	"/run/docker.sock", "/var/run/docker.sock",
	"/run/containerd", "/var/run/containerd",
	"/run/podman", "/var/run/podman",
	"/run/crio", "/var/run/crio",
	"/run/user", "/var/run/user",
	"/run/bailiff", "/var/run/bailiff",
}

// takenTargets are folders inside a sandbox that its backend or kernel provides.
var takenTargets = []string{"/proc", "/sys", "/dev", "/.bailiff"}

// CheckMounts refuses a mount whose source does not lie in one of the allowed
// folders, on the way through symbolic links as well, or that would show the
// socket of a container engine. Further sockets are those the caller knows of.
func CheckMounts(mounts []bailiff.Mount, allowed []string, sockets ...string) error {
	sockets = append(slices.Clone(engineSockets), sockets...)
	for _, m := range mounts {
		if err := checkMount(m, allowed, sockets); err != nil {
			return fmt.Errorf("%w: mounts: %w", ErrUnsupported, err)
		}
	}
	return nil
}

func checkMount(m bailiff.Mount, allowed, sockets []string) error {
	if !isPlain(m.Source) || !isPlain(m.Target) {
		return fmt.Errorf("source %q and target %q must be absolute, without . or .. in them", m.Source, m.Target)
	}
	if m.Target == "/" || slices.ContainsFunc(takenTargets, func(taken string) bool { return within(m.Target, taken) }) {
		return fmt.Errorf("target %s is not free for mounts", m.Target)
	}
	for _, source := range []string{m.Source, RealPath(m.Source)} {
		if !slices.ContainsFunc(allowed, func(folder string) bool { return within(source, folder) || within(source, RealPath(folder)) }) {
			return fmt.Errorf("source %s lies in none of the folders of mounts_allowed", source)
		}
		if slices.ContainsFunc(sockets, func(socket string) bool { return overlap(source, socket) || overlap(source, RealPath(socket)) }) {
			return fmt.Errorf("source %s holds the socket of a container engine", source)
		}
		if stat, err := os.Stat(source); err == nil && stat.Mode()&os.ModeSocket != 0 {
			return fmt.Errorf("source %s is a socket", source)
		}
	}
	return nil
}

// Overlaps says whether a mount lies at, below or above a path of the sandbox.
func Overlaps(mounts []bailiff.Mount, path string) bool {
	return slices.ContainsFunc(mounts, func(m bailiff.Mount) bool { return overlap(m.Target, path) })
}

func isPlain(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// RealPath is a path with its links followed as far as it exists here; on a
// remote engine's host it need not.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(RealPath(parent), filepath.Base(path))
}

func overlap(a, b string) bool { return within(a, b) || within(b, a) }

func within(path, folder string) bool {
	folder = filepath.Clean(folder)
	return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
}
