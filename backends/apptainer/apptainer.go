// Package apptainer makes sandboxes with the program apptainer, or singularity as
// it was called: containers without a daemon, out of SIF images.
//
// A sandbox is one "apptainer exec" whose process 1 is the resident runner, a child
// of the sidecar's. It is not an instance in the program's sense: an instance is
// kept alive by a process of the program's own, outlives the sidecar, and can be
// entered by each user of the program with the same uid. Here the runner's input ends
// with the sidecar, and with the runner everything inside.
//
// The program's defaults are made for sharing a machine's files and variables, so
// each is turned off by name: no home, no current folder, no binds of the machine's
// configuration, no variable (neither the sidecar's own nor those that the program
// takes for the inside, APPTAINERENV_… and SINGULARITYENV_…, which it lets in even
// where the environment is to be clean). The program gets an environment of its own
// that holds nothing of the sidecar's.
//
// Where the sidecar is root, the program is too, and everything inside is an
// unprivileged user without any capability; the writable folders are file systems in
// memory, made in a mount namespace that goes with the sandbox. Elsewhere the program
// uses a user namespace, everything is the sidecar's own user, and the program's
// settings bound what is written. Control groups are this sidecar's own (package
// cgroup): the program can bound containers only as root or with systemd's help, and
// does not tell that memory was used up.
//
// An image is a SIF file. It is brought into a folder of the sidecar's, unpacked there
// and named by the digest of the file from then on, so that it cannot come to be
// another.
package apptainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/descent"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// Config says which program makes sandboxes, and of what.
type Config struct {
	// Program is the path of apptainer or singularity; empty means the one that is
	// found in PATH.
	Program string
	// Image is used where a spec names none.
	Image string
	// AuthFile holds the credentials of registries, as "apptainer registry login"
	// writes them; empty means none.
	AuthFile string
	// User is the numeric uid:gid inside where the sidecar is root; empty means
	// 10000:10000. It is never root.
	User string
	// AcceptMissing names what may be left out where it cannot be bounded: cpus,
	// memory_mb, pids, disk_mb.
	AcceptMissing []string
	// Silence is that of [backends.Host].
	Silence time.Duration
	// MountsAllowed lists the folders of the host that specs may mount, at first: [backends.Mountable] replaces them.
	MountsAllowed []string
	// Runner is the path of the bailiff-runner program.
	Runner string
	// StateDir holds images, workspaces and what is being made.
	StateDir string
}

// Backend makes sandboxes on this host.
type Backend struct {
	*workdirs.Dirs
	backends.Mountable
	cfg     Config
	program string
	images  images
	// works are the names of the folders in which something is made now.
	works backends.Opening
	// settling is held while what all sandboxes see is made.
	settling sync.Mutex
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
	_ backends.Clearer  = (*Backend)(nil)
)

// New checks the configuration.
func New(cfg Config) (*Backend, error) {
	if cfg.User == "" {
		cfg.User = runner.Nobody
	}
	dirs, err := workdirs.New("apptainer", cfg.StateDir, cfg.User, cfg.AcceptMissing)
	if err := errors.Join(cfg.check(), err); err != nil {
		return nil, err
	}
	b := &Backend{cfg: cfg, Dirs: dirs, program: cfg.Program, images: newImages()}
	b.AllowMounts(cfg.MountsAllowed)
	for _, name := range []string{"apptainer", "singularity"} {
		if b.program == "" {
			b.program, _ = exec.LookPath(name) // Ready tells when there is none
		}
	}
	return b, nil
}

// check finds what is wrong beside the workspaces.
func (c Config) check() error {
	var faults []error
	if c.Runner == "" {
		faults = append(faults, errors.New("apptainer backend lacks the path of bailiff-runner"))
	}
	if c.Program != "" && !filepath.IsAbs(c.Program) {
		faults = append(faults, fmt.Errorf("apptainer program is %q, want an absolute path", c.Program))
	}
	if c.Image != "" {
		if err := isImage(c.Image); err != nil {
			faults = append(faults, fmt.Errorf("apptainer image is %q: %w", c.Image, err))
		}
	}
	return errors.Join(faults...)
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready makes a sandbox with limits to see whether it can be done. Its image is an
// empty folder: the runner needs nothing else.
func (b *Backend) Ready(ctx context.Context) error {
	if err := b.equipped(ctx); err != nil {
		return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	trial := backends.Spec{Network: "none", ReadOnly: true}
	if !b.accepts(cgroup.CPUs) {
		trial.CPUs = 1
	}
	if !b.accepts(cgroup.MemoryMB) {
		trial.MemoryMB = 64
	}
	if !b.accepts(cgroup.PIDs) {
		trial.PIDs = runner.LeastPIDs
	}
	made, err := b.open(ctx, trial, b.path(emptyFolder))
	if err != nil {
		return err
	}
	return made.Close(context.WithoutCancel(ctx))
}

func (b *Backend) accepts(limit string) bool { return slices.Contains(b.cfg.AcceptMissing, limit) }

func (b *Backend) equipped(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("apptainer needs Linux, this is %s", runtime.GOOS)
	}
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("finding the runner: %w", err)
	}
	if b.program == "" {
		return errors.New("the program apptainer is not installed, nor singularity: install apptainer 1.1 or later, or set " +
			"backends.apptainer.program")
	}
	if _, err := exec.LookPath(unpacker); err != nil {
		return fmt.Errorf("the program %s is not installed: install squashfs-tools", unpacker)
	}
	help, err := b.tell(ctx, b.cfg.StateDir, b.program, "exec", "--help")
	if err != nil {
		return fmt.Errorf("asking what it can do: %w", err)
	}
	if err := b.knows(help); err != nil {
		return err
	}
	if err := isImageHere(b.cfg.Image); err != nil {
		return fmt.Errorf("looking at backends.apptainer.image: %w", err)
	}
	return nil
}

// knows wants every option that is used to be in the program's help. A kind of mount
// that it does not know it would ignore, and so leave the machine's own binds in.
func (b *Backend) knows(help string) error {
	for _, word := range append(b.arguments(place{}), "bind-paths") {
		if known := regexp.MustCompile(`(?m)(^|[ ,'])` + regexp.QuoteMeta(word) + `([ ,')]|$)`); isOption(word) &&
			!known.MatchString(help) {
			return fmt.Errorf("%s does not know %s: install apptainer 1.1 or later", b.program, word)
		}
	}
	return nil
}

func isOption(word string) bool { return strings.HasPrefix(word, "--") || word == "bind-paths" }

// Sweep removes the remains of sidecars that are gone: processes of the program, control
// groups with what lives in them still, and folders in which something was being made.
func (b *Backend) Sweep(ctx context.Context, _ string, _ func(id string) bool) (int, error) {
	n, err := cgroup.Sweep(ctx)
	if err = errors.Join(err, descent.Sweep(ctx)); err == nil {
		err = b.sweepWorks()
	}
	if err != nil {
		return n, fmt.Errorf("%w: sweeping: %w", backends.ErrUnavailable, err)
	}
	return n, nil
}

// Shows is nil if sandboxes may show these folders.
func (b *Backend) Shows(mounts []bailiff.Mount) error {
	return b.CheckMounts(mounts)
}

// check refuses what the program cannot do.
func (b *Backend) check(spec backends.Spec) error {
	if err := b.Shows(spec.Mounts); err != nil {
		return err
	}
	switch {
	case spec.Network != "none" && spec.Network != backends.Egress:
		return fmt.Errorf("%w: on the apptainer backend network must be \"none\" or \"egress\", since another would be the host's own",
			backends.ErrUnsupported)
	case spec.Runtime != "":
		return fmt.Errorf("%w: runtime: the apptainer backend has none to choose from", backends.ErrUnsupported)
	case spec.DiskMB > 0 && !asRoot() && !b.AcceptUnbounded:
		return fmt.Errorf("%w: disk_mb: only a sidecar that is root can bound folders in memory (accept it with "+
			"backends.apptainer.accept_missing_limits: [disk_mb])",
			backends.ErrUnsupported)
	}
	return runner.CheckPIDs(spec.PIDs)
}

func asRoot() bool { return os.Getuid() == 0 }

// Of the state folder:
const (
	emptyFolder = "empty"
	etcFolder   = "etc"
	stageFolder = "stage"
	worksFolder = "works"
	imageFolder = "images"
)

func (b *Backend) path(parts ...string) string {
	return filepath.Join(append([]string{b.cfg.StateDir}, parts...)...)
}

// environment is all that the program has of variables. What is in the folder may be
// thrown away with it.
func (b *Backend) environment(folder string) []string {
	list := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + filepath.Dir(b.program), "HOME=" + folder,
		"LANG=C.UTF-8"}
	for _, name := range []string{"APPTAINER", "SINGULARITY"} {
		for _, use := range []string{"CONFIGDIR", "CACHEDIR", "TMPDIR"} {
			list = append(list, name+"_"+use+"="+folder)
		}
	}
	return list
}

// settle makes what all sandboxes see, and a runner that cannot be read.
func (b *Backend) settle() (program string, err error) {
	b.settling.Lock()
	defer b.settling.Unlock()
	// Images hold programs that are of use to others (setuid): no other user gets there.
	for name, mode := range map[string]os.FileMode{emptyFolder: 0o755, etcFolder: 0o755, stageFolder: 0o700, worksFolder: 0o700,
		imageFolder: 0o700} {
		if err := os.MkdirAll(b.path(name), mode); err != nil {
			return "", fmt.Errorf("%w: making folders: %w", backends.ErrUnavailable, err)
		}
	}
	for name, text := range b.etc() {
		if err := b.keep(b.path(etcFolder, name), text); err != nil {
			return "", fmt.Errorf("%w: making files for sandboxes: %w", backends.ErrUnavailable, err)
		}
	}
	if program, err = runner.Install(b.cfg.Runner, b.path("runner")); err != nil {
		return "", fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	return program, nil
}

// keep writes a file unless it is there as it should be.
func (b *Backend) keep(path, text string) error {
	if there, err := os.ReadFile(path); err == nil && string(there) == text {
		return nil
	}
	part := path + ".part"
	if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
