// Package docker makes sandboxes that are containers of a Docker engine, local
// or remote, through the Engine API.
//
// An engine is reached by its socket here, by TCP with certificates that both sides
// check, or by ssh up to its socket there. All connections, streams as well as
// requests, are made in one place, each within a bounded time, and one that falls
// silent is given up. Of a machine that need not be this one nothing is shown or
// mounted. Podman's service is such an engine too; where it means other things by the
// same words, file podman.go says them in its own.
//
// A sandbox is one container whose only program is the resident runner, started
// as process 1 and spoken to over the container's attach stream. What a
// container gets: no capability, no way to gain one, the engine's seccomp
// profile and the runner's own filter below it, an unprivileged user, private namespaces, no network unless the spec
// says "full", no log, no health check, and nothing writable but folders in
// memory and the workspace. Its engine configuration holds no variable.
//
// The runner reaches it in a volume of the engine, filled once for each version
// and mounted read-only; the file is executable but not readable, which makes
// the kernel keep its processes from being traced or looked into by others of
// the same user. That is also why the engine's own init program is not used: it
// would hold the runner's stream open as a process that anyone inside could read.
//
// All that the engine says it set up is compared with what was asked for before
// anything starts. The runtime is the one that the spec names or the configuration, never another in
// its place, and each that the configuration names is tried once with the runner before a request
// gets a container of it. A limit that the engine dropped is [backends.ErrUnsupported] by the
// field's name, unless the configuration accepts that name.
//
// A container outlives the attach stream, so that the next sidecar can attach to
// it anew. A runner that hears of no client for a while ends itself with everything
// inside, so a sidecar that dies for good leaves no command running. The stopped
// container stays until a sweep finds it by its labels. Named workspaces are
// volumes and stay until they are removed by name.
//
// Whatever the moment at which the sidecar, the runner or the engine is killed,
// what is left is told apart: containers by their labels, which the engine writes
// with the container, volumes by their names, since it may come not to write
// their labels.
package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Config says which engine to use and how.
type Config struct {
	// Host is the engine's address (unix:///…, tcp://…, ssh://user@host); empty means DOCKER_HOST
	// or else the engine's usual socket.
	Host string
	// TLS is for an engine on a TCP port; none means the files in DOCKER_CERT_PATH.
	TLS TLS
	// SSH is for an engine on a machine that is reached by ssh. Nothing has to be
	// installed there: the connection ends at the engine's socket.
	SSH settings.SSH
	// Image is used where a spec names none.
	Image string
	// Runtime is what makes and runs containers where a spec names none, by the engine's name for it; empty means
	// the engine's own default. RuntimesAllowed are the others that specs may name.
	Runtime         string
	RuntimesAllowed []string
	// User is the numeric uid:gid that everything inside runs as; empty means
	// 10000:10000. It is never root.
	User string
	// Runner is the path of the bailiff-runner program, built for the engine's
	// system and readable here.
	Runner string
	// AcceptMissing names what may be left out where the engine cannot do it:
	// cpus, memory_mb, swap, pids, disk_mb, seccomp.
	AcceptMissing []string
	// StateDir holds the disks of workspaces that are to be bounded on an engine
	// which cannot bound a volume; empty means that there are none. Where the machine of
	// an engine was trusted when it was first met, its key is noted there.
	StateDir string
	// MountsAllowed lists the folders of the engine's host that specs may mount, at first: [backends.Mountable] replaces them.
	MountsAllowed []string
	// Log gets the progress of pulls and what runners write to standard error;
	// nil means slog's default.
	Log *slog.Logger
	// Owner is that of specs.
	Owner string
	// Epoch is that of this sidecar's name where sidecars share a store, by which runners know its later runs
	// from earlier ones; nil means zero.
	Epoch func() int64
	// CheckOwner says why a later run may have that name by now; nil means that none can.
	CheckOwner func() error
}

// Backend makes sandboxes on one engine.
type Backend struct {
	link
	backends.Mountable
	cfg    Config
	uid    int
	gid    int
	linger time.Duration // for the next sidecar to adopt a sandbox

	program program
	seeding sync.Mutex
	// bundles are the files of certificates of images, by their ids; seeding guards them.
	bundles  map[string]string
	making   sync.Mutex // of volumes, and looking for those that are unused
	warned   sync.Once  // of what the engine lacks
	opening  backends.Opening
	trials   trials
	removals places
	kills    places // of containers that wait for their removal

	mu sync.Mutex
	// about is what the engine last said of itself; nil until asked, and again
	// when it could not be reached.
	about *about
	// seeded are the volumes that this process has put in order, by name, with
	// the creation time the engine gave them.
	seeded map[string]string
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
	_ backends.Adopter  = (*Backend)(nil)
)

// removalsAtOnce is how many sandboxes an engine is asked to remove at once. Two hundred at once take as long in all, with
// a load of 42 in place of 14 on two processors.
const removalsAtOnce = 8

// The names that AcceptMissing may hold.
const (
	cpus     = "cpus"
	memoryMB = "memory_mb"
	swap     = "swap"
	pids     = "pids"
	diskMB   = "disk_mb"
	seccomp  = "seccomp"
)

var acceptable = []string{cpus, memoryMB, swap, pids, diskMB, seccomp}

// New checks the configuration; it does not talk to the engine.
func New(cfg Config) (*Backend, error) {
	if cfg.User == "" {
		cfg.User = runner.Nobody
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Epoch == nil {
		cfg.Epoch = func() int64 { return 0 }
	}
	if cfg.CheckOwner == nil {
		cfg.CheckOwner = func() error { return nil }
	}
	b := &Backend{cfg: cfg, linger: runner.Linger, seeded: map[string]string{}, bundles: map[string]string{},
		trials:   trials{last: map[string]*trial{}, unusable: map[string]error{}},
		removals: make(places, removalsAtOnce), kills: make(places, removalsAtOnce)}
	b.AllowMounts(cfg.MountsAllowed)
	var err error
	if b.uid, b.gid, err = unprivileged(cfg.User); err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if b.link, err = cfg.connect(); err != nil {
		return nil, err
	}
	if b.at.remote() {
		b.cfg.StateDir = "" // disks made here are none there
	}
	return b, nil
}

func (c Config) check() error {
	var faults []error
	if c.Runner == "" {
		faults = append(faults, errors.New("docker backend lacks the path of bailiff-runner"))
	}
	for _, name := range slices.Concat(c.RuntimesAllowed, []string{c.Runtime}) {
		if err := isRuntime(name); err != nil && name != "" {
			faults = append(faults, fmt.Errorf("docker runtime is %q: %w", name, err))
		}
	}
	for _, name := range c.AcceptMissing {
		if !slices.Contains(acceptable, name) {
			faults = append(faults, fmt.Errorf("accept_missing_limits names %q, want one of %s", name, strings.Join(acceptable, ", ")))
		}
	}
	return errors.Join(faults...)
}

func unprivileged(user string) (uid, gid int, err error) {
	if err := backends.IsUnprivileged(user); err != nil {
		return 0, 0, fmt.Errorf("docker user is %q: %w", user, err)
	}
	_, err = fmt.Sscanf(user, "%d:%d", &uid, &gid)
	return uid, gid, err
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready says whether the engine answers, can confine, has the configured image or could pull it, and has the configured
// runtime in which the runner works.
func (b *Backend) Ready(ctx context.Context) error {
	b.mu.Lock()
	b.about = nil // asked anew: the engine may have been started in another way
	b.mu.Unlock()
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("%w: finding the runner: %w", backends.ErrUnavailable, err)
	}
	if err := b.confines(ctx); err != nil {
		return err
	}
	if b.cfg.Image != "" {
		if err := b.obtainable(ctx, b.cfg.Image); err != nil {
			return err
		}
	}
	return b.readyRuntimes(ctx)
}

// confines checks what can be known of the engine before there is a container.
func (b *Backend) confines(ctx context.Context) error {
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	if engine.OSType != "linux" {
		return fmt.Errorf("%w: the Docker engine runs %s containers, want linux", backends.ErrUnsupported, engine.OSType)
	}
	profiled := slices.ContainsFunc(engine.SecurityOptions, func(option string) bool {
		return strings.HasPrefix(option, "name=seccomp") && !strings.Contains(option, "unconfined")
	})
	if !profiled {
		return b.missing(seccomp, "the Docker engine applies no seccomp profile")
	}
	return nil
}

func (b *Backend) describe(ctx context.Context) (*about, error) {
	b.mu.Lock()
	known := b.about
	b.mu.Unlock()
	if known != nil {
		return known, nil
	}
	info, err := b.engine.Info(ctx)
	if err != nil {
		return nil, b.fault("asking the Docker engine what it can do", err)
	}
	version, err := b.engine.ServerVersion(ctx)
	if err != nil {
		return nil, b.fault("asking the Docker engine what it is", err)
	}
	if !slices.ContainsFunc(info.SecurityOptions, isMandatoryAccess) {
		b.warned.Do(func() {
			b.cfg.Log.Warn("the Docker engine applies neither AppArmor nor SELinux; sandboxes rest on namespaces, seccomp and dropped " +
				"capabilities")
		})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.about = &about{info, isPodman(version)}
	return b.about, nil
}

func isMandatoryAccess(option string) bool {
	return strings.HasPrefix(option, "name=apparmor") || strings.HasPrefix(option, "name=selinux")
}

// forget drops what is believed of the engine, which may be another by now.
func (b *Backend) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.about = nil
	clear(b.seeded)
}

// missing is an error unless the configuration accepts that the engine lacks name.
func (b *Backend) missing(name, sentence string) error {
	if slices.Contains(b.cfg.AcceptMissing, name) {
		return nil
	}
	return fmt.Errorf("%w: %s: %s (accept it with backends.docker.accept_missing_limits: [%s])",
		backends.ErrUnsupported, name, sentence, name)
}

// fault makes one sentence of what the engine answered.
func (b *Backend) fault(doing string, err error) error {
	var lost unreachable
	switch {
	case errors.As(err, &lost):
	case refused(err):
		lost.why = b.cfg.TLS.orFromEnv().refusal()
	case client.IsErrConnectionFailed(err):
		lost.why = "the connection ended: see that it runs"
	default:
		return fmt.Errorf("%w: %s: %w", backends.ErrUnavailable, doing, bailiff.ForeignError(err))
	}
	b.forget()
	return fmt.Errorf("%w: cannot reach the Docker engine at %s: %s", backends.ErrUnavailable, b.at, lost.why)
}

// socket is the engine's own, if it is a file here.
func (b *Backend) socket() []string {
	if b.at.remote() {
		return nil
	}
	return []string{b.at.socket()}
}
