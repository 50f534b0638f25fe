// Package bubblewrap makes sandboxes out of the kernel's namespaces alone, with
// the program bwrap: no daemon, no image, a few milliseconds each.
//
// A sandbox has namespaces of its own for users, processes, mounts, IPC, names,
// network and control groups. What it sees is a list: programs and libraries
// (/usr, or the folders of a root of one's own), the few files of /etc that they
// need, a new /proc and a minimal /dev; never /run, /var, /root or anyone's home.
// Everything but the workspace and some folders in memory is read-only where the
// spec says so. Its user has no capability inside, may make no further user
// namespace, and is an unprivileged user of the host: where the sidecar is root,
// a user that owns nothing but workspaces, else the sidecar's own. Calls of the
// kernel that no command needs are filtered by the runner, which also bounds what
// the kernel counts by user, and gives up what allows it to before anything runs.
//
// The runner is process 1. Its file is a copy in memory that can be run but not
// read, which makes the kernel close its processes to others of the same user.
// It ends when the sidecar does: its input ends, and bwrap dies with the thread
// that started it. If the sidecar is killed while bwrap starts, the next sweep finds what
// is left by the first argument of the processes, which names their maker (package descent).
//
// Processors, memory and processes are bounded by control groups, what is written
// by the sizes of the folders in memory and, where the sidecar is root, by a disk
// of its own for a named workspace. The network is
// "none" or "egress" only: "full" would share the host's loopback. With "egress" the runner
// answers programs that look names up, for which processes inside may listen at low ports.
package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/descent"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Config says what sandboxes are made of.
type Config struct {
	// Name is that of the section of bailiff.yaml which this is about; empty means
	// bubblewrap.
	Name string
	// Runner is the path of the bailiff-runner program.
	Runner string
	// StateDir holds the workspaces.
	StateDir string
	// Root is a folder that serves as the sandbox's root; empty means the host's
	// own programs and libraries.
	Root string
	// User is the numeric uid:gid on the host that a sidecar which is root makes
	// sandboxes as; empty means 10000:10000. It is never root.
	User string
	// AcceptMissing names what may be left out where it cannot be bounded: cpus,
	// memory_mb, pids, disk_mb.
	AcceptMissing []string
	// MountsAllowed lists the folders of the host that specs may mount, at first: [backends.Mountable] replaces them.
	MountsAllowed []string
	// Silence is that of [backends.Host].
	Silence time.Duration
}

// Backend makes sandboxes on this host.
type Backend struct {
	*workdirs.Dirs
	backends.Mountable
	cfg   Config
	bwrap string
}

var (
	_ backends.Backend = (*Backend)(nil)
	_ backends.Sweeper = (*Backend)(nil)
	_ backends.Keeper  = (*Backend)(nil)
	_ backends.Clearer = (*Backend)(nil)
)

// New checks the configuration.
func New(cfg Config) (*Backend, error) {
	if cfg.User == "" {
		cfg.User = runner.Nobody
	}
	if cfg.Name == "" {
		cfg.Name = "bubblewrap"
	}
	dirs, err := workdirs.New(cfg.Name, cfg.StateDir, cfg.User, cfg.AcceptMissing)
	if err := errors.Join(cfg.check(), err); err != nil {
		return nil, err
	}
	b := &Backend{cfg: cfg, Dirs: dirs}
	b.AllowMounts(cfg.MountsAllowed)
	b.bwrap, _ = exec.LookPath("bwrap") // Ready tells when there is none
	return b, nil
}

// check finds what is wrong beside the workspaces.
func (c Config) check() error {
	var faults []error
	if c.Runner == "" {
		faults = append(faults, errors.New("bubblewrap backend lacks the path of bailiff-runner"))
	}
	if c.Root != "" && (!filepath.IsAbs(c.Root) || filepath.Clean(c.Root) == "/") {
		faults = append(faults, fmt.Errorf("bubblewrap root is %q, want the absolute path of a folder made for sandboxes", c.Root))
	}
	return errors.Join(faults...)
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready makes a sandbox with limits to see whether it can be done.
func (b *Backend) Ready(ctx context.Context) error {
	if err := b.equipped(ctx); err != nil {
		return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	if err := b.Reachable(); err != nil {
		return err
	}
	trial, err := b.Open(ctx, backends.Spec{Network: "none", ReadOnly: true, CPUs: 1, MemoryMB: 64, PIDs: runner.LeastPIDs})
	if err != nil {
		return err
	}
	return trial.Close(context.WithoutCancel(ctx))
}

func (b *Backend) equipped(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("bubblewrap needs Linux, this is %s", runtime.GOOS)
	}
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("finding the runner: %w", err)
	}
	if b.bwrap == "" {
		return errors.New("the program bwrap is not installed: install bubblewrap 0.8 or later")
	}
	help, err := subprocess.Output(ctx, subprocess.Command(ctx, b.bwrap, "--help"))
	if err != nil {
		return fmt.Errorf("asking bwrap what it can do: %w", err)
	}
	for _, option := range []string{"--disable-userns", "--size", "--perms", "--clearenv"} {
		if !strings.Contains(help, option+" ") {
			return fmt.Errorf("%s does not know %s: install bubblewrap 0.8 or later", b.bwrap, option)
		}
	}
	return nil
}

// Sweep ends the processes of sidecars that are gone: those which bwrap had started and not
// yet let go on, and those in control groups, which it removes. No sandbox of theirs serves a
// request, and those of a sidecar that runs, whichever its owner, have a maker that runs.
func (b *Backend) Sweep(ctx context.Context, _ string, _ func(id string) bool) (int, error) {
	n, err := cgroup.Sweep(ctx)
	if err = errors.Join(err, descent.Sweep(ctx)); err != nil {
		return n, fmt.Errorf("%w: removing remains of sidecars that are gone: %w", backends.ErrUnavailable, err)
	}
	return n, nil
}

// Shows is nil if sandboxes may show these folders.
func (b *Backend) Shows(mounts []bailiff.Mount) error {
	return b.CheckMounts(mounts)
}

// Whose is the user of the sandboxes.
func (b *Backend) Whose() (backends.User, bool) {
	u := backends.User{UID: os.Geteuid(), GID: os.Getegid(), InsideUID: insideNumber, InsideGID: insideNumber}
	if u.UID == 0 {
		u.UID, u.GID = b.UID, b.GID
	}
	return u, true
}

// check refuses what namespaces cannot do.
func (b *Backend) check(spec backends.Spec) error {
	if err := b.Shows(spec.Mounts); err != nil {
		return err
	}
	switch {
	case spec.Network != "none" && spec.Network != backends.Egress:
		return fmt.Errorf("%w: on the bubblewrap backend network must be \"none\" or \"egress\", since another would be the host's own",
			backends.ErrUnsupported)
	case spec.Image != "":
		return fmt.Errorf("%w: the bubblewrap backend has no images; set backends.%s.root to choose what sandboxes see",
			backends.ErrUnsupported, b.Backend)
	case spec.Runtime != "":
		return fmt.Errorf("%w: runtime: the bubblewrap backend has none to choose from", backends.ErrUnsupported)
	}
	return errors.Join(runner.CheckPIDs(spec.PIDs), present(spec.Mounts))
}

// present names a folder that is to be shown and is gone, and how it is taken away.
func present(mounts []bailiff.Mount) error {
	for _, m := range mounts {
		if _, err := os.Stat(m.Source); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: the folder %s, which sandboxes show, is not there: put it back, or have them show it no longer (a "+
				"project: bailiff setup AGENT --project %s --remove)", backends.ErrUnavailable, m.Source, shellquote.Quote(m.Source))
		}
	}
	return nil
}
