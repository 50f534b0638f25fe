package apptainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/descent"
	"github.com/bailiff-dev/bailiff/backends/limits"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

type sandbox struct {
	backends.Sandbox
	// leave gives up the folder in which the program worked.
	leave func() error
}

var _ backends.Outlet = (*sandbox)(nil)

// OpenOutlet has the runner listen.
func (s *sandbox) OpenOutlet(ctx context.Context, terms backends.OutletTerms, serve func(backends.OutletConn)) (backends.OutletFacts,
	error) {
	outlet, able := s.Sandbox.(backends.Outlet)
	if !able {
		return backends.OutletFacts{}, fmt.Errorf("%w: network: the sandbox has no outlet", backends.ErrUnsupported)
	}
	return outlet.OpenOutlet(ctx, terms, serve)
}

// Close ends everything inside and removes what there was for it.
func (s *sandbox) Close(ctx context.Context) error {
	return errors.Join(s.Sandbox.Close(ctx), s.leave())
}

// Open brings the image, has the program make a place out of it, and bounds that.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if b.program == "" {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, b.equipped(ctx))
	}
	if err := b.check(spec); err != nil {
		return nil, err
	}
	image, err := b.bring(ctx, spec.Image)
	if err != nil {
		return nil, err
	}
	return b.open(ctx, spec, b.root(image.digest))
}

func (b *Backend) open(ctx context.Context, spec backends.Spec, image string) (backends.Sandbox, error) {
	program, err := b.settle()
	if err != nil {
		return nil, err
	}
	folder, leave, err := b.begin()
	if err != nil {
		return nil, fmt.Errorf("%w: making a folder: %w", backends.ErrUnavailable, err)
	}
	opened, err := limits.Open(ctx, b.Backend, spec, b.cfg.AcceptMissing, func(group *cgroup.Group) (*runner.Child, error) {
		return b.launch(ctx, place{spec: spec, image: image, runner: program, events: group.Events()}, folder, group)
	})
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	return &sandbox{opened, leave}, nil
}

// launch starts the program and bounds what it has started inside, which waits for
// its first word until then.
func (b *Backend) launch(ctx context.Context, p place, folder string, group *cgroup.Group) (*runner.Child, error) {
	mark, err := descent.Mark()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	workspace, err := b.TakeFor(ctx, p.spec)
	if err != nil {
		return nil, err
	}
	defer workspace.Close()
	p.workspace = workspace.Folder
	cmd := exec.Command(b.program, command(b.arguments(p), p.image)...)
	cmd.Env, cmd.Dir = append(b.environment(folder), descent.Variable+"="+mark), "/"
	prepare := func() error { return errors.Join(b.stage(p.spec), workspace.Mount()) }
	child, err := runner.Launch(ctx, cmd, runner.PlaceOf(p.spec, b.cfg.Silence), prepare, nothing)
	if err != nil {
		return nil, explain(err)
	}
	if err := enclose(group, cmd.Process.Pid); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", backends.ErrUnavailable, err), child.Close(context.WithoutCancel(ctx)))
	}
	return child, nil
}

func nothing() error { return nil }

// inside is the user that everything runs as.
func (b *Backend) inside() (uid, gid int) {
	if asRoot() {
		return b.UID, b.GID
	}
	return os.Getuid(), os.Getgid()
}

// explain adds what to do about a refusal that the program words for those who know
// it.
func explain(err error) error {
	for sign, advice := range map[string]string{
		"unknown userid": "the program wants its user, the sidecar's, to have a line in /etc/passwd",
		"user namespace": "see the settings kernel.unprivileged_userns_clone, user.max_user_namespaces and " +
			"kernel.apparmor_restrict_unprivileged_userns",
	} {
		if strings.Contains(err.Error(), sign) {
			return fmt.Errorf("%w: %w: %s", backends.ErrUnavailable, err, advice)
		}
	}
	return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
}
