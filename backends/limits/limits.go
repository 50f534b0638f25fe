// Package limits makes sandboxes whose commands are processes of this machine. It starts
// the runner as a child of this process, in a control group that keeps the limits of the
// spec and holds all that the runner starts. Where a limit ended a command, the answer
// says so; closing a sandbox ends every process in its group.
package limits

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Open makes a sandbox that keeps a spec's limits, but for those that its section of
// bailiff.yaml accepts to be missing. The caller starts the runner and puts it into the group.
func Open(ctx context.Context, section string, spec backends.Spec, accept []string,
	start func(*cgroup.Group) (*runner.Child, error)) (backends.Sandbox, error) {
	group, err := Group(section, spec, accept)
	if err != nil {
		return nil, err
	}
	child, err := start(group)
	if err != nil {
		return nil, errors.Join(err, group.Close(context.WithoutCancel(ctx)))
	}
	return &sandbox{child, section + "-" + strings.ToLower(rand.Text()[:12]), group}, nil
}

// Group makes the group alone.
func Group(section string, spec backends.Spec, accept []string) (*cgroup.Group, error) {
	group, err := cgroup.New(cgroup.Limits{CPUs: spec.CPUs, MemoryMB: spec.MemoryMB, PIDs: spec.PIDs}, accept)
	var missing *cgroup.Missing
	switch {
	case errors.As(err, &missing):
		return nil, fmt.Errorf("%w: %w; run the sidecar as root or with delegated control groups, or accept it with "+
			"backends.%s.accept_missing_limits: [%s]",
			backends.ErrUnsupported, err, section, strings.Join(missing.Limits, ", "))
	case err != nil:
		return nil, fmt.Errorf("%w: %w", backends.ErrUnavailable, err)
	}
	return group, nil
}

type sandbox struct {
	*runner.Child
	id    string
	group *cgroup.Group
}

// ID is a name of its own.
func (s *sandbox) ID() string { return s.id }

// Run runs a command, and tells what it cost when that was the sandbox.
func (s *sandbox) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	before := s.group.OOMKills()
	exit, err := s.Child.Run(ctx, cmd, out)
	if s.group.OOMKills() > before {
		err = WithMemoryHint(err)
	}
	return exit, err
}

// WithMemoryHint adds to an error, if there is one, that memory was lacking.
func WithMemoryHint(err error) error {
	if err != nil {
		err = fmt.Errorf("%w; processes were killed since the sandbox had used up its memory", err)
	}
	return err
}

// Close ends everything inside and removes the group.
func (s *sandbox) Close(ctx context.Context) error {
	return errors.Join(s.Child.Close(ctx), s.group.Close(ctx))
}
