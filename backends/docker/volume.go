package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

const (
	runnerFolder = ".bailiff"
	runnerPath   = "/" + runnerFolder + "/runner"
)

// The names of volumes begin with what they are for and a digest of whose they
// are: a volume that the engine was killed while making has no label to tell.
const (
	runnerVolumes    = "bailiff-runner-"
	trustVolumes     = "bailiff-trust-"
	workspaceVolumes = "bailiff-workspace-"
)

func ownersVolumes(kind, owner string) string { return kind + backends.Digest(owner)[:12] + "-" }

// runnerVolume returns the name of the volume that holds the runner's program,
// making it on first use. Owner and content are in the name, so that no sidecar
// ever writes to a volume that another one's sandboxes run from.
func (b *Backend) runnerVolume(ctx context.Context, owner, image string, in guest) (string, error) {
	sum, err := b.program.sum(b.cfg.Runner)
	if err != nil {
		return "", fmt.Errorf("%w: reading the runner: %w", backends.ErrUnavailable, err)
	}
	name := ownersVolumes(runnerVolumes, owner) + sum
	if in != linux {
		name += "-" + in.argument()
	}
	made, err := b.makeVolume(ctx, volume.CreateOptions{
		Name:   name,
		Labels: map[string]string{labelOwner: owner, labelRunner: sum},
	})
	if err != nil {
		return "", err
	}
	b.seeding.Lock() // two openings must not write one program at once
	defer b.seeding.Unlock()
	return made.Name, b.seed(made, func() error {
		content, err := os.ReadFile(b.cfg.Runner)
		if err == nil && backends.Digest(string(content)) != sum {
			err = errors.New("the runner's file was changed at this moment")
		}
		if err != nil {
			return err
		}
		return b.fill(ctx, entry{
			owner: owner, image: image, volume: made.Name, target: runnerFolder, content: content,
			header: tar.Header{Typeflag: tar.TypeReg, Name: path.Base(runnerPath), Mode: in.mode(), Size: int64(len(content))},
		})
	})
}

// workspace is the volume of a named workspace, or nothing.
type workspace struct {
	volume.Volume
	disk *disk
}

// workspaceVolume makes the volume of a named workspace, if the spec names one
// and it is not there. It is to be released when a container has it.
func (b *Backend) workspaceVolume(ctx context.Context, spec backends.Spec) (workspace, error) {
	if spec.Workspace == "" {
		return workspace{}, nil
	}
	options := volume.CreateOptions{
		Name: workspaceVolumeName(spec.Owner, spec.Workspace),
		Labels: map[string]string{labelOwner: spec.Owner, labelSession: hashed(spec.Session), labelWorkspace: spec.Workspace,
			labelImage: cmp.Or(spec.Image, b.cfg.Image)},
	}
	size := workdirs.ShareMB(spec.DiskMB, workdirs.MountPath)
	if b.hasDisk(options.Name) {
		return b.onDisk(ctx, options, size)
	}
	if size > 0 {
		engine, err := b.describe(ctx)
		if err != nil {
			return workspace{}, err
		}
		options.DriverOpts = engine.quota(strconv.Itoa(size) + "M")
	}
	made, err := b.makeVolume(ctx, options)
	if errors.Is(err, errNoQuota) {
		return b.withoutQuota(ctx, options, size, err)
	}
	return workspace{Volume: made}, err
}

// ownWorkspace makes a workspace's volume the unprivileged user's. Done twice it
// does no harm.
func (b *Backend) ownWorkspace(ctx context.Context, spec backends.Spec, image string, made workspace) error {
	if made.Name == "" {
		return nil
	}
	return b.seed(made.Volume, func() error {
		return b.fill(ctx, entry{
			owner: spec.Owner, image: image, volume: made.Name, target: strings.TrimPrefix(workdirs.MountPath, "/"),
			header: tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o700, Uid: b.uid, Gid: b.gid},
		})
	})
}

func workspaceVolumeName(owner, workspace string) string {
	return ownersVolumes(workspaceVolumes, owner) + backends.Digest(workspace)
}

// Workspaces lists the owner's named workspaces by the labels of their volumes.
func (b *Backend) Workspaces(ctx context.Context, owner string) ([]string, error) {
	found, err := b.workspaceVolumes(ctx, owner)
	list := make([]string, len(found))
	for i, v := range found {
		list[i] = v.Labels[labelWorkspace]
	}
	return list, err
}

// workspaceVolumes looks at the labels itself: podman lists what has any of several.
func (b *Backend) workspaceVolumes(ctx context.Context, owner string) ([]*volume.Volume, error) {
	found, err := b.engine.VolumeList(ctx, volume.ListOptions{Filters: ownedBy(owner)})
	if err != nil {
		return nil, b.fault("listing workspaces", err)
	}
	return slices.DeleteFunc(found.Volumes, func(v *volume.Volume) bool {
		return v.Labels[labelOwner] != owner || v.Labels[labelWorkspace] == ""
	}), nil
}

// RemoveWorkspace deletes the volume of a named workspace, whatever an earlier
// version called it, and its disk.
func (b *Backend) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	found, err := b.workspaceVolumes(ctx, owner)
	if err != nil {
		return err
	}
	for _, v := range found {
		if v.Labels[labelWorkspace] != workspace {
			continue
		}
		if err := b.removeWorkspace(ctx, owner, v); err != nil && !errdefs.IsNotFound(err) {
			return b.fault("removing a workspace", err)
		}
	}
	name := workspaceVolumeName(owner, workspace)
	b.unmarkSeeded(name)
	return b.removeDisk(name)
}

// seed has a volume filled at its first use in this process, since an earlier
// process may have died halfway.
func (b *Backend) seed(made volume.Volume, fill func() error) error {
	if b.isSeeded(made) {
		return nil
	}
	if err := fill(); err != nil {
		return b.fault("filling volume "+made.Name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seeded[made.Name] = made.CreatedAt
	return nil
}

// errNoQuota wraps what an engine says that cannot bound a volume.
var errNoQuota = errors.New("the Docker engine cannot bound a volume")

// makeVolume returns the volume, which may have been there, with the bound that
// the options ask for.
func (b *Backend) makeVolume(ctx context.Context, options volume.CreateOptions) (volume.Volume, error) {
	b.making.Lock()
	defer b.making.Unlock()
	size := quotaOf(options.DriverOpts)
	made, err := b.labelledVolume(ctx, options)
	switch {
	case err == nil:
	case size != "" && !client.IsErrConnectionFailed(err):
		return made, fmt.Errorf("%w (%w)", errNoQuota, bailiff.ForeignError(err))
	default:
		return made, b.fault("making volume "+options.Name, err)
	}
	if bound := quotaOf(made.Options); bound != size {
		return made, b.missing(diskMB, fmt.Sprintf("the workspace was made with the bound %q, not %q", bound, size))
	}
	return made, nil
}

// labelledVolume makes a volume anew that lacks its labels: the engine was killed
// while making it, so it was never used, and would never be listed.
func (b *Backend) labelledVolume(ctx context.Context, options volume.CreateOptions) (volume.Volume, error) {
	made, err := b.engine.VolumeCreate(ctx, options)
	if err != nil || made.Labels[labelOwner] == options.Labels[labelOwner] {
		return made, err
	}
	if err := b.engine.VolumeRemove(ctx, options.Name, false); err != nil {
		return made, err
	}
	b.unmarkSeeded(options.Name)
	return b.engine.VolumeCreate(ctx, options)
}

func (b *Backend) isSeeded(v volume.Volume) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	made, known := b.seeded[v.Name]
	return known && made == v.CreatedAt
}

// entry is a file or folder to put into a volume, which is mounted at /target in a container
// of the image.
type entry struct {
	owner, image   string
	volume, target string
	header         tar.Header
	content        []byte
}

// fill unpacks an entry into a volume.
func (b *Backend) fill(ctx context.Context, e entry) error {
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	where, prefix := engine.seedPath(e.target)
	file := path.Join("/", e.target, e.header.Name)
	e.header.Name = prefix + e.header.Name
	return b.beside(ctx, e.owner, e.image, []mount.Mount{volumeAt(e.volume, "/"+e.target, false)}, func(name string) error {
		if e.header.Typeflag == tar.TypeReg && b.holds(ctx, name, file, e.content) {
			return nil
		}
		archive, err := pack(e.header, e.content)
		if err != nil {
			return err
		}
		return b.unpack(ctx, name, where, archive)
	})
}

// holds says that a file of a container has a content. It is not written anew then: a sandbox that is being started at this
// moment, maybe by another sidecar, could not run it.
func (b *Backend) holds(ctx context.Context, name, file string, content []byte) bool {
	from, stat, err := b.engine.CopyFromContainer(ctx, name, file)
	if err != nil {
		return false
	}
	defer from.Close()
	archive := tar.NewReader(from)
	if _, err := archive.Next(); err != nil || stat.Size != int64(len(content)) {
		return false
	}
	there, err := io.ReadAll(archive)
	return err == nil && bytes.Equal(there, content)
}

// beside calls do with a container of an image that is never started, and removes it: so
// nothing has to run as root, and a remote engine is as good as a local one.
func (b *Backend) beside(ctx context.Context, owner, image string, mounts []mount.Mount, do func(name string) error) error {
	name, done := b.opening.Name("bailiff-fill-")
	defer done()
	_, err := b.engine.ContainerCreate(ctx,
		&container.Config{Image: image, Cmd: []string{"/nothing"}, Labels: map[string]string{labelOwner: owner}},
		&container.HostConfig{NetworkMode: "none", Mounts: mounts}, nil, nil, name)
	if err == nil {
		err = do(name)
	}
	return cmp.Or(err, b.discard(ctx, name))
}

// unpack is not given up with ctx: an engine would go on with what it has got, and might open the file of the runner for writing
// when a sandbox of the next opening starts it.
func (b *Backend) unpack(ctx context.Context, name, where string, archive io.Reader) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestFill)
	defer cancel()
	return b.engine.CopyToContainer(ctx, name, where, archive, container.CopyToContainerOptions{})
}

// longestFill is how long an engine may take to unpack some megabytes.
const longestFill = 30 * time.Second

func pack(header tar.Header, content []byte) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&header); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	return &archive, w.Close()
}

// program is the runner's file, read again only when it has changed.
type program struct {
	mu     sync.Mutex
	stat   os.FileInfo
	digest string
}

func (p *program) sum(path string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stat, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if p.stat != nil && os.SameFile(stat, p.stat) && stat.ModTime().Equal(p.stat.ModTime()) && stat.Size() == p.stat.Size() {
		return p.digest, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	p.stat, p.digest = stat, backends.Digest(string(content))
	return p.digest, nil
}
