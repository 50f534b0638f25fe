package docker

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// The labels of containers and volumes. Sessions are labelled by digest: their
// names may tell who talks to whom.
const (
	labelOwner     = "bailiff.owner"
	labelSession   = "bailiff.session"
	labelWorkspace = "bailiff.workspace"
	labelSpec      = "bailiff.spec"
	labelImage     = "bailiff.image"
	labelExpires   = "bailiff.expires"
	labelRunner    = "bailiff.runner"
	labelTrust     = "bailiff.trust"
)

const mib = 1 << 20

const sharedMemory = "/dev/shm"

// create makes the container of a spec, not yet started, and sees to it that
// the engine set up what it was asked for.
func (b *Backend) create(ctx context.Context, name string, spec backends.Spec, found image.InspectResponse, in guest,
	mounts []mount.Mount) (id string, err error) {
	engine, err := b.describe(ctx)
	if err != nil {
		return "", err
	}
	host := confinement(spec)
	host.Mounts, host.Tmpfs = mounts, b.inMemory(engine, spec, found)
	made, err := b.engine.ContainerCreate(ctx, b.config(spec, found, in), host, nil, nil, name)
	if err != nil && host.StorageOpt != nil && !client.IsErrConnectionFailed(err) {
		if err := b.missing(diskMB, fmt.Sprintf("the Docker engine cannot bound a container's root (%s)",
			bailiff.Foreign(err.Error()))); err != nil {
			return "", err
		}
		host.StorageOpt = nil
		made, err = b.engine.ContainerCreate(ctx, b.config(spec, found, in), host, nil, nil, name)
	}
	if err != nil {
		return "", b.fault("making the sandbox", err)
	}
	for _, warning := range made.Warnings {
		b.cfg.Log.WarnContext(ctx, "the Docker engine warns", "container", name, "warning", warning)
	}
	return made.ID, b.inspect(ctx, made.ID, host)
}

// config has a standard input that stays open when who is attached goes away, so
// that the next sidecar can attach anew.
func (b *Backend) config(spec backends.Spec, found image.InspectResponse, in guest) *container.Config {
	return &container.Config{
		Image:       found.ID,
		Hostname:    "sandbox",
		User:        b.cfg.User,
		Entrypoint:  []string{runnerPath},
		Cmd:         []string{in.argument()},
		WorkingDir:  "/",
		Labels:      labels(spec),
		OpenStdin:   true,
		AttachStdin: true, AttachStdout: true, AttachStderr: true,
		StopSignal:  "SIGKILL", // nothing inside has to be asked: an engine that stops or starts need not wait
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
}

func labels(spec backends.Spec) map[string]string {
	all := map[string]string{
		labelOwner:   spec.Owner,
		labelSession: hashed(spec.Session),
		labelSpec:    specHash(spec),
	}
	if !spec.Expires.IsZero() {
		all[labelExpires] = spec.Expires.UTC().Format(time.RFC3339)
	}
	return all
}

// confinement is what keeps a container within its spec, whatever is mounted.
func confinement(spec backends.Spec) *container.HostConfig {
	host := &container.HostConfig{
		Resources:      limits(spec),
		Runtime:        spec.Runtime,
		NetworkMode:    networks[spec.Network],
		IpcMode:        "private",
		CgroupnsMode:   "private",
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		ReadonlyRootfs: spec.ReadOnly,
		LogConfig:      container.LogConfig{Type: "none"},
		ShmSize:        int64(workdirs.ShareMB(spec.DiskMB, sharedMemory)) * mib,
	}
	if spec.Network == backends.Egress {
		host.DNS, host.DNSSearch = []string{wire.Resolver}, []string{"."} // which is no domain: names are looked up as they are
	}
	if size := workdirs.ShareMB(spec.DiskMB, workdirs.Root); size > 0 && !spec.ReadOnly {
		host.StorageOpt = map[string]string{"size": strconv.Itoa(size) + "M"}
	}
	return host
}

// networks are those that specs may name, as the engine calls them.
var networks = map[string]container.NetworkMode{"none": "none", backends.Egress: "none", "full": "bridge"}

// permitted is nil if the configuration allows what the spec asks for.
func (b *Backend) permitted(spec backends.Spec) error {
	if _, known := networks[spec.Network]; !known {
		return fmt.Errorf("%w: network is %q, want none, egress or full", backends.ErrUnsupported, spec.Network)
	}
	return cmp.Or(runner.CheckPIDs(spec.PIDs), b.Shows(spec.Mounts))
}

// Shows is nil if containers may show these folders.
func (b *Backend) Shows(mounts []bailiff.Mount) error {
	if b.at.remote() && len(mounts) > 0 {
		return fmt.Errorf("%w: mounts: folders of this machine cannot be shown on the engine at %s", backends.ErrUnsupported, b.at)
	}
	return b.CheckMounts(mounts, b.socket()...)
}

// limits leaves out what the spec does not bound. Swap is never added to memory. A container
// has less weight than the sidecar where both want a processor; without a bound on processors
// it is given none, since an engine may lack the controller then.
func limits(spec backends.Spec) container.Resources {
	r := container.Resources{
		NanoCPUs: int64(spec.CPUs * 1e9),
		Memory:   int64(spec.MemoryMB) * mib,
	}
	r.MemorySwap = r.Memory
	if spec.CPUs > 0 {
		r.CPUShares = cgroup.Shares
	}
	if spec.PIDs > 0 {
		r.PidsLimit = new(int64(spec.PIDs))
	}
	return r
}

// mounts are the volumes of the runner and of a named workspace, and what the
// spec shows of the host.
func mounts(spec backends.Spec, runner, workspace string) []mount.Mount {
	all := []mount.Mount{volumeAt(runner, "/"+runnerFolder, true)}
	if workspace != "" {
		all = append(all, volumeAt(workspace, workdirs.MountPath, false))
	}
	for _, m := range spec.Mounts {
		all = append(all, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	return all
}

func volumeAt(name, target string, readOnly bool) mount.Mount {
	return mount.Mount{Type: mount.TypeVolume, Source: name, Target: target, ReadOnly: readOnly,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true}}
}

// inMemory lists the folders in memory. The volumes that an image declares are
// among them, closed: else the engine would make one on its disk for each.
func (b *Backend) inMemory(engine *about, spec backends.Spec, found image.InspectResponse) map[string]string {
	tmpfs := map[string]string{}
	if found.Config != nil {
		for target := range found.Config.Volumes {
			tmpfs[path.Clean(target)] = engine.closed()
		}
	}
	for _, folder := range workdirs.Writable {
		if folder != workdirs.Root && folder != sharedMemory {
			tmpfs[folder] = b.tmpfs(engine, workdirs.ShareMB(spec.DiskMB, folder))
		}
	}
	for _, m := range spec.Mounts {
		delete(tmpfs, path.Clean(m.Target))
	}
	if spec.Workspace != "" {
		delete(tmpfs, workdirs.MountPath)
	}
	return tmpfs
}

// tmpfs gives the folder to the unprivileged user outright: a mode alone is lost
// where the image lacks the folder.
func (b *Backend) tmpfs(engine *about, sizeMB int) string {
	options := "rw,exec,nosuid,nodev,mode=0700," + engine.owned(b.uid, b.gid)
	if sizeMB > 0 {
		options += fmt.Sprintf(",size=%dm", sizeMB)
	}
	return options
}

// inspect sees to it that the engine set up what it was asked for.
func (b *Backend) inspect(ctx context.Context, id string, want *container.HostConfig) error {
	got, err := b.engine.ContainerInspect(ctx, id)
	if err != nil {
		return b.fault("inspecting the sandbox", err)
	}
	return b.verify(ctx, got, want)
}

// verify compares what the engine recorded with what it was asked for: an engine
// that cannot do something drops it with a warning at most.
func (b *Backend) verify(ctx context.Context, got container.InspectResponse, want *container.HostConfig) error {
	have := got.HostConfig
	return cmp.Or(
		b.kept(cpus, have.NanoCPUs == want.NanoCPUs),
		b.kept(memoryMB, have.Memory == want.Memory),
		b.kept(swap, have.MemorySwap == want.MemorySwap),
		b.kept(pids, want.PidsLimit == nil || have.PidsLimit != nil && *have.PidsLimit == *want.PidsLimit),
		confined(have, want),
		b.incapable(ctx, got, want),
		b.checkRuntime(ctx, got, want.Runtime),
	)
}

func (b *Backend) kept(name string, same bool) error {
	if same {
		return nil
	}
	return b.missing(name, "the Docker engine dropped this limit")
}

// confined is what no configuration can do without.
func confined(have, want *container.HostConfig) error {
	switch {
	case have.Privileged:
		return fmt.Errorf("%w: the Docker engine made the container privileged", backends.ErrUnsupported)
	case !slices.Equal(have.SecurityOpt, want.SecurityOpt):
		return fmt.Errorf("%w: the Docker engine did not set no-new-privileges", backends.ErrUnsupported)
	case have.ReadonlyRootfs != want.ReadonlyRootfs:
		return fmt.Errorf("%w: read_only: the Docker engine did not set it", backends.ErrUnsupported)
	case have.NetworkMode != want.NetworkMode:
		return fmt.Errorf("%w: network: the Docker engine set %q, not %q", backends.ErrUnsupported, have.NetworkMode, want.NetworkMode)
	}
	return nil
}

// incapable sees to it that the container has no capability.
func (b *Backend) incapable(ctx context.Context, got container.InspectResponse, want *container.HostConfig) error {
	engine, err := b.describe(ctx)
	switch {
	case err != nil:
		return err
	case engine.podman:
		return b.checkCapabilities(ctx, got.ID)
	case !slices.Equal(got.HostConfig.CapDrop, want.CapDrop), len(got.HostConfig.CapAdd) > 0:
		return fmt.Errorf("%w: the Docker engine did not drop the capabilities", backends.ErrUnsupported)
	}
	return nil
}

// specHash is equal for specs that may share a sandbox.
func specHash(spec backends.Spec) string {
	spec.Expires = time.Time{}
	return backends.Digest(spec.Text())
}

// hashed labels a name without telling it.
func hashed(name string) string { return "sha256:" + backends.Digest(name) }
