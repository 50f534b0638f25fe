package bubblewrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/descent"
	"github.com/bailiff-dev/bailiff/backends/limits"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// Open makes namespaces, bounds them, and starts the runner inside.
func (b *Backend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if err := b.able(ctx, spec); err != nil {
		return nil, err
	}
	place := runner.PlaceOf(spec, b.cfg.Silence)
	place.Names = true
	return limits.Open(ctx, b.Backend, spec, b.cfg.AcceptMissing, func(group *cgroup.Group) (child *runner.Child, err error) {
		var first int
		announce := func(pid int) error { first = pid; return nil }
		err = b.launch(ctx, spec, group, announce, func(cmd *exec.Cmd, prepare, admit func() error) (err error) {
			child, err = runner.Launch(ctx, cmd, place, prepare, admit)
			if err == nil && spec.Network == backends.Egress {
				_ = openLowPorts(ctx, first, cmd.SysProcAttr.Credential) // or else the runner says that it may not listen there
			}
			return err
		})
		return child, err
	})
}

// able refuses what cannot be done.
func (b *Backend) able(ctx context.Context, spec backends.Spec) error {
	if b.bwrap == "" {
		return fmt.Errorf("%w: %w", backends.ErrUnavailable, b.equipped(ctx))
	}
	return b.check(spec)
}

// launch has bwrap started, which waits with the namespaces made until its processes
// are in the group and announce, which is told the first one inside, has returned.
func (b *Backend) launch(ctx context.Context, spec backends.Spec, group *cgroup.Group, announce func(first int) error,
	start func(cmd *exec.Cmd, prepare, admit func() error) error) error {
	workspace, err := b.workspace(ctx, spec)
	if err != nil {
		return err
	}
	defer workspace.Close()
	handed := new(descriptors)
	defer handed.close()
	arguments, err := b.arguments(spec, workspace.Folder, group.Events(), handed)
	if err != nil {
		return err
	}
	made, err := handed.pipe("--info-fd", false)
	if err != nil {
		return err
	}
	goOn, err := handed.pipe("--block-fd", true)
	if err != nil {
		return err
	}
	cmd, err := b.command(handed, arguments)
	if err != nil {
		return err
	}
	err = start(cmd, workspace.Mount, func() error {
		handed.closeTheirs()
		first, err := admit(group, cmd.Process.Pid, made)
		if err == nil {
			err = announce(first)
		}
		if err == nil {
			_, err = goOn.Write([]byte{1})
		}
		return err
	})
	if err != nil {
		return explain(err)
	}
	return nil
}

// workspace is the named one of a spec, if it names one.
func (b *Backend) workspace(ctx context.Context, spec backends.Spec) (workdirs.Workspace, error) {
	if spec.Workspace != "" {
		if err := b.Reachable(); err != nil {
			return workdirs.Workspace{}, err
		}
	}
	return b.TakeFor(ctx, spec)
}

// command is bwrap with its arguments and descriptors. It ends with this process. A child that
// bwrap holds back while it starts would not, so the first argument tells a sweep who made it.
func (b *Backend) command(handed *descriptors, arguments []string) (*exec.Cmd, error) {
	mark, err := descent.Mark()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	cmd := exec.Command(b.bwrap, append(append(handed.options, arguments...), "--", runnerPath, runner.ShareWatches, runner.Confine)...)
	cmd.Args[0] = mark
	cmd.Env, cmd.Dir, cmd.ExtraFiles = []string{}, "/", handed.theirs
	cmd.SysProcAttr = endingWithThread()
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(b.UID), Gid: uint32(b.GID)}
	}
	return cmd, nil
}

// admit puts bwrap and what it has started inside the namespaces into the group.
func admit(group *cgroup.Group, monitor int, made *os.File) (pid int, err error) {
	var inside struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(made).Decode(&inside); err != nil || inside.PID <= 1 {
		return 0, errors.New("bwrap could not make the namespaces")
	}
	return inside.PID, errors.Join(group.Add(monitor), group.Add(inside.PID))
}

// explain adds what to do where the kernel forbids namespaces.
func explain(err error) error {
	for _, sign := range []string{"No permissions to create", "Creating new namespace failed", "setting up uid map",
		"max_user_namespaces"} {
		if strings.Contains(err.Error(), sign) {
			err = fmt.Errorf("%w: unprivileged user namespaces are not allowed here; see the settings kernel.unprivileged_userns_clone, "+
				"user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns", err)
			break
		}
	}
	return fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
}

// descriptors are the files that bwrap is handed by number.
type descriptors struct {
	options      []string
	theirs, ours []*os.File
}

// add hands a file over and returns its number.
func (d *descriptors) add(f *os.File) string {
	d.theirs = append(d.theirs, f)
	return fmt.Sprint(2 + len(d.theirs))
}

// content hands over a short text.
func (d *descriptors) content(text string) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer write.Close()
	number := d.add(read)
	_, err = write.WriteString(text)
	return number, err
}

// pipe is this side of a pipe whose other end bwrap is handed for an option, which it
// writes to or, where we do, reads from.
func (d *descriptors) pipe(option string, weWrite bool) (*os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if weWrite {
		ours, theirs = theirs, ours
	}
	d.ours = append(d.ours, ours)
	d.options = append(d.options, option, d.add(theirs))
	return ours, nil
}

func (d *descriptors) closeTheirs() {
	for _, f := range d.theirs {
		f.Close()
	}
	d.theirs = nil
}

func (d *descriptors) close() {
	d.closeTheirs()
	for _, f := range d.ours {
		f.Close()
	}
}
