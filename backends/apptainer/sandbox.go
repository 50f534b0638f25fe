package apptainer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/shelf"
)

type sandbox struct {
	*runner.Child
	id    string
	group *cgroup.Group
	// leave gives up the folder in which the program worked.
	leave func() error
}

// ID is a name of its own.
func (s *sandbox) ID() string { return s.id }

// Run runs a command, and tells what it cost when that was the sandbox.
func (s *sandbox) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	before := s.group.Starved()
	exit, err := s.Child.Run(ctx, cmd, out)
	if err != nil && s.group.Starved() > before {
		err = fmt.Errorf("%w; processes were killed since the sandbox had used up its memory", err)
	}
	return exit, err
}

// Close ends everything inside and removes the control groups.
func (s *sandbox) Close(ctx context.Context) error {
	return errors.Join(s.Child.Close(ctx), s.group.Close(ctx), s.leave())
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
	group, err := cgroup.New(cgroup.Limits{CPUs: spec.CPUs, MemoryMB: spec.MemoryMB, PIDs: spec.PIDs}, b.cfg.AcceptMissing)
	if err != nil {
		return nil, b.unbounded(err)
	}
	made := &sandbox{id: "apptainer-" + strings.ToLower(rand.Text()[:12]), group: group, leave: func() error { return nil }}
	if err := b.launch(ctx, spec, image, made); err != nil {
		return nil, errors.Join(err, group.Close(context.WithoutCancel(ctx)), made.leave())
	}
	return made, nil
}

func (b *Backend) unbounded(err error) error {
	var missing *cgroup.Missing
	if !errors.As(err, &missing) {
		return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w; run the sidecar as root or with delegated control groups, or accept it with backends.apptainer.accept_missing_limits: [%s]",
		backends.ErrUnsupported, err, missing.Limit)
}

// launch starts the program and bounds what it has started inside, which waits for
// its first word until then.
func (b *Backend) launch(ctx context.Context, spec backends.Spec, image string, made *sandbox) error {
	program, err := b.settle()
	if err != nil {
		return err
	}
	workspace, err := b.workspace(ctx, spec)
	if err != nil {
		return err
	}
	defer workspace.Close()
	folder, err := b.works.begin(b.path(worksFolder))
	if err != nil {
		return fmt.Errorf("%w: making a folder: %w", backends.ErrUnavailable, err)
	}
	made.leave = func() error { return b.works.end(folder) }
	cmd := exec.Command(b.program, command(b.arguments(place{spec, image, program, workspace.Folder, made.group.Events()}), image)...)
	cmd.Env, cmd.Dir = b.environment(folder), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	prepare := func() error { return errors.Join(b.stage(spec), workspace.Mount()) }
	made.Child, err = runner.Launch(ctx, cmd, runner.Place{PIDs: spec.PIDs}, prepare, func() error { return nil })
	if err != nil {
		return explain(err)
	}
	if err := enclose(made.group, cmd.Process.Pid); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", backends.ErrUnavailable, err), made.Child.Close(context.WithoutCancel(ctx)))
	}
	return nil
}

// workspace is the named one of a spec, if it names one.
func (b *Backend) workspace(ctx context.Context, spec backends.Spec) (shelf.Workspace, error) {
	if spec.Workspace == "" {
		return shelf.Workspace{}, nil
	}
	return b.Take(ctx, spec.Owner, spec.Workspace, shelf.ShareMB(spec.DiskMB, shelf.Place))
}

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
		"user namespace": "see the settings kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns",
	} {
		if strings.Contains(err.Error(), sign) {
			return fmt.Errorf("%w: %w: %s", backends.ErrUnavailable, err, advice)
		}
	}
	return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
}
