// Package oci makes sandboxes with a program that runs OCI bundles, such as runc,
// without any engine. It is the example of docs/backends/new.md: a backend of
// one file, which passes the suite that every backend passes.
//
// A sandbox is a bundle (a folder with a config.json) that the program makes a
// container of: its own processes, mounts, network, names and IPC, no capability,
// control groups for processors, memory and processes. It sees the host's /usr
// read-only and a root that is made here. Process 1 is bailiff-runner, whose
// standard input and output are the program's. The sidecar must be root.
package oci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// Config is the section backends.oci of bailiff.yaml.
type Config struct {
	// Program runs bundles.
	Program string
}

// Defaults is the section before the file is read.
func Defaults() *Config { return &Config{Program: "runc"} }

// Settings are the keys of the section.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{{Key: "program", Into: &c.Program}}
}

// Check finds nothing that one key does not tell.
func (*Config) Check() error { return nil }

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is none.
func (*Config) DefaultImage() string { return "" }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	unreadable, err := runner.Install(in.Runner, in.StateDir)
	if err != nil {
		return nil, err
	}
	return &Backend{
		Dirs:    &workdirs.Dirs{Backend: "oci", Folder: in.StateDir, UID: user, GID: user},
		program: c.Program, runner: unreadable, folder: in.StateDir,
	}, nil
}

// Backend makes sandboxes on this host. workdirs.Dirs keeps their workspaces.
type Backend struct {
	*workdirs.Dirs
	program, runner, folder string
	opening                 backends.Opening
}

var (
	_ backends.Maker   = (*Config)(nil)
	_ backends.Backend = (*Backend)(nil)
	_ backends.Sweeper = (*Backend)(nil)
	_ backends.Keeper  = (*Backend)(nil)
)

// user is whom commands run as, on the host too: one that owns workspaces only.
const user = 10000

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready says whether the program is there and may make containers.
func (b *Backend) Ready(context.Context) error {
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: the oci backend needs a sidecar that is root", backends.ErrUnavailable)
	}
	if _, err := exec.LookPath(b.program); err != nil {
		return fmt.Errorf("%w: finding what runs bundles (backends.oci.program): %w", backends.ErrUnavailable, err)
	}
	return nil
}

// check refuses what a bundle of the host's programs cannot be.
func check(spec backends.Spec) error {
	switch {
	case spec.Network != "none" && spec.Network != backends.Egress:
		return fmt.Errorf("%w: on the oci backend network must be \"none\" or \"egress\", since another would be the host's own",
			backends.ErrUnsupported)
	case spec.Image != "":
		return fmt.Errorf("%w: the oci backend has no image: sandboxes see the host's programs", backends.ErrUnsupported)
	case spec.Runtime != "":
		return fmt.Errorf("%w: runtime: the oci backend has one program, backends.oci.program", backends.ErrUnsupported)
	}
	return cmp.Or(runner.CheckPIDs(spec.PIDs), backends.CheckMounts(spec.Mounts, nil))
}

// sandbox is the client of a runner, and the bundle that it is in.
type sandbox struct {
	*runner.Child
	backend *Backend
	id      string
}

// ID is the container's name.
func (s *sandbox) ID() string { return s.id }

// Close ends everything inside, and removes what the program could not.
func (s *sandbox) Close(ctx context.Context) error {
	return errors.Join(s.Child.Close(ctx), s.backend.remove(ctx, s.id))
}

// Open writes a bundle and has the program run it.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := check(spec); err != nil {
		return nil, err
	}
	if err := b.Ready(ctx); err != nil {
		return nil, err
	}
	id, done := b.opening.Name(prefix(spec.Owner))
	defer done()
	child, err := b.launch(ctx, id, spec)
	if err != nil {
		return nil, errors.Join(err, b.remove(ctx, id))
	}
	return &sandbox{child, b, id}, nil
}

func (b *Backend) launch(ctx context.Context, id string, spec backends.Spec) (*runner.Child, error) {
	workspace, err := b.TakeFor(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer workspace.Close()
	if err := b.write(id, b.describe(spec, workspace.Folder)); err != nil {
		return nil, fmt.Errorf("%w: writing a bundle: %w", backends.ErrUnavailable, err)
	}
	cmd := b.command(context.WithoutCancel(ctx), "run", "--bundle", b.bundle(id), id)
	child, err := runner.Launch(ctx, cmd, runner.PlaceOf(spec, 0), workspace.Mount, func() error { return nil })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	return child, nil
}

func (b *Backend) bundle(id string) string { return filepath.Join(b.folder, "bundles", id) }

// command is the program in a session of its own, with nothing of our environment.
// What it knows of containers lies in a folder that no other sidecar shares.
func (b *Backend) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.program, append([]string{"--root", filepath.Join(b.folder, "containers")}, args...)...)
	cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH")}, "/"
	return cmd
}

// files are what the root of a sandbox has besides folders.
var files = map[string]string{
	"etc/passwd": fmt.Sprintf("root:x:0:0::/:/bin/false\nsandbox:x:%d:%d::/home:/bin/bash\n", user, user),
	"etc/group":  fmt.Sprintf("root:x:0:\nsandbox:x:%d:\n", user),
	"etc/hosts":  "127.0.0.1 localhost sandbox\n::1 localhost\n",
}

// write makes the folder of a bundle.
func (b *Backend) write(id string, config any) error {
	root := filepath.Join(b.bundle(id), "root")
	text, err := json.Marshal(config)
	faults := []error{err, os.MkdirAll(filepath.Join(root, "etc"), 0o755)}
	for name, content := range files {
		faults = append(faults, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64"} {
		if to, err := os.Readlink("/" + name); err == nil { // into /usr, as on the host
			faults = append(faults, os.Symlink(to, filepath.Join(root, name)))
		}
	}
	return errors.Join(append(faults, os.WriteFile(filepath.Join(b.bundle(id), "config.json"), text, 0o600))...)
}

type object = map[string]any

// describe is the config.json of a sandbox.
func (b *Backend) describe(spec backends.Spec, workspace string) object {
	namespaces := []object{}
	for _, kind := range []string{"pid", "mount", "network", "ipc", "uts", "cgroup"} {
		namespaces = append(namespaces, object{"type": kind})
	}
	return object{
		"ociVersion": "1.0.2",
		"hostname":   "sandbox",
		"root":       object{"path": "root", "readonly": true},
		"mounts":     b.mounts(spec, workspace),
		"process": object{"args": []string{"/.bailiff/runner", runner.Confine}, "env": []string{}, "cwd": "/",
			"user": object{"uid": user, "gid": user}, "capabilities": object{}, "noNewPrivileges": true},
		"linux": object{"namespaces": namespaces, "resources": limits(spec),
			"readonlyPaths": []string{"/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq"},
			"maskedPaths":   []string{"/proc/kcore", "/proc/keys", "/proc/sysrq-trigger", "/proc/timer_list", "/sys/firmware"}},
	}
}

// limits are the control groups' part of a spec; what is zero is not bounded.
func limits(spec backends.Spec) object {
	bounded := object{"devices": []object{{"allow": false, "access": "rwm"}}} // those of /dev come on top
	if spec.CPUs > 0 {
		bounded["cpu"] = object{"quota": int(spec.CPUs * 100_000), "period": 100_000}
	}
	if spec.MemoryMB > 0 {
		bounded["memory"] = object{"limit": spec.MemoryMB << 20, "swap": spec.MemoryMB << 20}
	}
	if spec.PIDs > 0 {
		bounded["pids"] = object{"limit": spec.PIDs}
	}
	return bounded
}

func mount(kind, source, target string, options ...string) object {
	return object{"type": kind, "source": source, "destination": target, "options": append(options, "nosuid")}
}

// mounts are what a sandbox sees. Of a bound on what is written each folder in
// memory has its share, and so has a workspace that is kept.
func (b *Backend) mounts(spec backends.Spec, workspace string) []object {
	list := []object{
		mount("proc", "proc", "/proc"),
		mount("tmpfs", "tmpfs", "/dev", "mode=755", "size=64k"),
		mount("devpts", "devpts", "/dev/pts", "newinstance", "ptmxmode=0666", "mode=0620"),
		mount("cgroup", "cgroup", "/sys/fs/cgroup", "ro"), // where the runner sees that memory ran out
		mount("bind", "/usr", "/usr", "rbind", "ro", "nodev"),
		mount("bind", "/etc/alternatives", "/etc/alternatives", "bind", "ro"),
		mount("bind", b.runner, "/.bailiff/runner", "bind", "ro"),
	}
	if workspace != "" {
		list = append(list, mount("bind", workspace, workdirs.MountPath, "bind", "nodev"))
	}
	for _, folder := range workdirs.Writable {
		if folder == workdirs.Root || folder == workdirs.MountPath && workspace != "" {
			continue
		}
		options := []string{"nodev", "mode=700", fmt.Sprintf("uid=%d", user), fmt.Sprintf("gid=%d", user)}
		if size := workdirs.ShareMB(spec.DiskMB, folder); size > 0 {
			options = append(options, fmt.Sprintf("size=%dm", size))
		}
		list = append(list, mount("tmpfs", "tmpfs", folder, options...))
	}
	return list
}

// prefix begins the names of an owner's containers.
func prefix(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "bailiff-" + hex.EncodeToString(sum[:8]) + "-"
}

// Sweep removes what an owner's sidecar left when it was killed.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (removed int, err error) {
	bundles, _ := filepath.Glob(b.bundle(prefix(owner) + "*"))
	for _, bundle := range bundles {
		id := filepath.Base(bundle)
		if b.opening.Has(id) || keep(id) {
			continue
		}
		err = errors.Join(err, b.remove(ctx, id))
		removed++
	}
	return removed, err
}

// remove deletes a container, if there is one still, and its bundle, also for a
// caller who has gone.
func (b *Backend) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if said, err := b.command(ctx, "delete", "--force", id).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: removing sandbox %s: %w: %s", backends.ErrUnavailable, id, err, said)
	}
	return os.RemoveAll(b.bundle(id))
}
