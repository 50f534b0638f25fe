// Package kubernetes makes sandboxes that are pods, through the API of a Kubernetes cluster.
//
// A pod has three containers. The first, of bailiff's own image, brings the runner into a folder that the others see, removes the
// pod's network interfaces where it is to have no network, and ends. The door, of the same image, stays beside the sandbox and hands
// bytes on between the sidecar and the runner (package cmd/bailiff-runner/door). The sandbox, of the policies' image, starts nothing
// but the runner. Streams are an exec of the door's container through the API server: an attach to the sandbox's would have all output
// written to its node's log, and an exec of the sandbox's would end the runner with its stream.
//
// What a pod gets: no token, no service's address, no capability, no way to gain one, the engine's seccomp profile and the runner's
// own filter below it, a user of its own, a bound on its life that the kubelet keeps, and nothing writable but folders in memory and
// the workspace. Its description holds no variable.
//
// Of limits, Kubernetes knows none on processes: the kernel's bound on a user's takes its place, since the user is the pod's
// alone, or its workspace's. A bound on the disk is the size of folders in memory and of the workspace's claim; the writable layer of
// a root that is not read-only has none, which has to be accepted.
//
// A stream that ends, as with the API server it goes through, breaks the sandbox for this sidecar: what it ran there is lost. Adopting is
// for the next sidecar.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Config says which cluster to use and how.
type Config struct {
	// Kubeconfig is a file with the cluster's address and credentials, and Context the part of it; empty means that of the pod
	// in which the sidecar runs.
	Kubeconfig, Context string
	// Namespace is where sandboxes are, for them alone.
	Namespace string
	// Image is used where a spec names none, by its digest; RunnerImage is bailiff's own.
	Image, RunnerImage string
	// RuntimeClass makes pods; empty means the cluster's default.
	RuntimeClass string
	// StorageClass is for workspaces; empty means the cluster's default. WorkspaceMB is what one may hold where a spec says nothing.
	StorageClass string
	WorkspaceMB  int
	// FullNetwork says that the namespace's network policies are proven to keep pods from what they must not reach.
	FullNetwork bool
	// OwnerConfigMap and OwnerUID name what pods and claims are gone with.
	OwnerConfigMap, OwnerUID string
	// RequestedShare is what of its limits a pod asks its node for.
	RequestedShare float64
	// StartTimeout is how long a pod may take to start.
	StartTimeout time.Duration
	// AcceptMissing names what may be left out: disk_mb.
	AcceptMissing []string
	Log           *slog.Logger
	Epoch         func() int64
	CheckOwner    func() error
}

// Backend makes sandboxes in one namespace.
type Backend struct {
	cfg     Config
	client  *http.Client // for all but streams
	upgrade *http.Client // for streams
	base    *url.URL
	// connecting guards the three.
	connecting sync.Mutex
	linger     time.Duration
	opening    backends.Opening
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
	_ backends.Adopter  = (*Backend)(nil)
)

const diskMB = "disk_mb"

// New checks the configuration; it does not talk to the cluster.
func New(cfg Config) (*Backend, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Epoch == nil {
		cfg.Epoch = func() int64 { return 0 }
	}
	if cfg.CheckOwner == nil {
		cfg.CheckOwner = func() error { return nil }
	}
	b := &Backend{cfg: cfg, linger: runner.Linger}
	return b, cfg.Check()
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready says whether the cluster answers, and lets pods of the namespace be listed.
func (b *Backend) Ready(ctx context.Context) error {
	if err := b.connect(); err != nil {
		return err
	}
	if _, err := b.Resolve(ctx, ""); err != nil {
		return err
	}
	if !isPinned(b.cfg.RunnerImage) {
		return fmt.Errorf("%w: backends.kubernetes.runner_image is %q, want bailiff's image by its digest, NAME@sha256:…",
			backends.ErrUnsupported, b.cfg.RunnerImage)
	}
	return b.ask(ctx, http.MethodGet, "pods", url.Values{"limit": {"1"}}, nil, nil)
}

// Resolve wants an image to be named by its digest: what a name means is known to a node's engine alone.
func (b *Backend) Resolve(_ context.Context, image string) (string, error) {
	if image == "" {
		image = b.cfg.Image
	}
	if !isPinned(image) {
		return "", fmt.Errorf("%w: image is %q, want it by its digest, NAME@sha256:…", backends.ErrUnsupported, image)
	}
	return image, nil
}

func isPinned(image string) bool {
	name, digest, found := strings.Cut(image, "@sha256:")
	return found && name != "" && len(digest) == 64
}

// permitted is nil if a pod can be what the spec asks for.
func (b *Backend) permitted(spec backends.Spec) error {
	refused := func(field, why string) error { return fmt.Errorf("%w: %s: %s", backends.ErrUnsupported, field, why) }
	switch {
	case !slices.Contains([]string{backends.None, backends.Egress, "full"}, spec.Network):
		return refused("network", fmt.Sprintf("%q is none of none, egress and full", spec.Network))
	case spec.Network == "full" && !b.cfg.FullNetwork:
		return refused("network", "pods are given the cluster's network only where backends.kubernetes.full_network says that the "+
			"namespace's policies are proven")
	case spec.Runtime != "":
		return refused("runtime", "the configuration names the RuntimeClass")
	case len(spec.Mounts)+len(spec.Own) > 0:
		return refused("mounts", "folders of the sidecar's machine cannot be shown in pods")
	case spec.DiskMB > 0 && !spec.ReadOnly && !slices.Contains(b.cfg.AcceptMissing, diskMB):
		return refused(diskMB, "nothing bounds the root of a pod unless it is read-only; its node evicts it some time later "+
			"(accept it with backends.kubernetes.accept_missing_limits: [disk_mb])")
	}
	return runner.CheckPIDs(spec.PIDs)
}

// Open makes a pod and waits until its runner answers.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	name, done := b.opening.Name("bailiff-")
	defer done()
	opened, err := b.open(ctx, name, spec)
	if err == nil {
		return opened, nil
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRemoval)
	defer cancel()
	if left := b.remove(late, name); left != nil {
		b.cfg.Log.WarnContext(ctx, "a sandbox that failed is left to the next sweep", "pod", name, "error", left)
	}
	return nil, err
}

func (b *Backend) open(ctx context.Context, name string, spec backends.Spec) (*sandbox, error) {
	if err := errors.Join(b.permitted(spec), b.connect()); err != nil {
		return nil, err
	}
	image, err := b.Resolve(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	claim, err := b.claimOf(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := b.ask(ctx, http.MethodPost, "pods", nil, b.pod(name, claim, image, spec), nil); err != nil {
		return nil, fmt.Errorf("making the sandbox: %w", err)
	}
	backends.Step(ctx, "starting pod %s", name)
	if err := b.awaitStart(ctx, name); err != nil {
		return nil, fmt.Errorf("%w: starting the sandbox: %w", backends.ErrUnavailable, err)
	}
	return b.attach(ctx, name, spec)
}

// awaitStart waits until the sandbox's container runs.
func (b *Backend) awaitStart(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.StartTimeout)
	defer cancel()
	var last pod
	err := b.watch(ctx, name, func(p pod, gone bool) (bool, error) {
		last = p
		if gone {
			return false, errors.New("it was removed")
		}
		return p.runs(), p.fault()
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w; the cluster says %q", ctx.Err(), bailiff.Foreign(last.waiting()))
	}
	return err
}

// Adopt attaches anew to the door of a pod that runs still, if it was made for the spec.
func (b *Backend) Adopt(ctx context.Context, id string, spec backends.Spec) (backends.Sandbox, error) {
	if err := errors.Join(b.permitted(spec), b.connect()); err != nil {
		return nil, err
	}
	var got pod
	if err := b.ask(ctx, http.MethodGet, "pods/"+url.PathEscape(id), nil, nil, &got); err != nil {
		return nil, fmt.Errorf("adopting sandbox %s: %w", id, err)
	}
	want := labels(spec)
	switch {
	case !got.runs() || got.Metadata.DeletionTimestamp != nil:
		return nil, fmt.Errorf("%w: adopting sandbox %s: it does not run", backends.ErrUnavailable, id)
	case !spec.Expires.IsZero() && !time.Now().Before(spec.Expires):
		return nil, fmt.Errorf("%w: adopting sandbox %s: its time is over", backends.ErrUnavailable, id)
	case got.Metadata.Annotations[expiresAt] != expiry(spec):
		return nil, fmt.Errorf("%w: adopting sandbox %s: it was made for another time", backends.ErrUnavailable, id)
	}
	for key, value := range want {
		if got.Metadata.Labels[key] != value {
			return nil, fmt.Errorf("%w: adopting sandbox %s: its label %s is another's", backends.ErrUnavailable, id, key)
		}
	}
	if err := b.cfg.CheckOwner(); err != nil { // coming to the door ends who spoke there before
		return nil, fmt.Errorf("adopting sandbox %s: %w", id, err)
	}
	adopted, err := b.attach(ctx, id, spec)
	if err != nil {
		return nil, err
	}
	return adopted, nil
}
