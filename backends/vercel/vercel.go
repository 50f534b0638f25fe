// Package vercel makes sandboxes out of machines that Vercel lends: microVMs, each
// with a kernel of its own, driven over HTTP. Nothing of a sandbox is on this host.
//
// A machine is the sandbox's alone. The runner is brought there as a file and
// started as root; it puts itself and all that it starts apart from the rest of the
// machine and becomes a user that owns nothing there. Vercel takes no input for a
// program that runs, and passes on what it prints as text: so what the runner is
// told comes as files that no process inside can write (package carrier), and what it
// says goes as lines of text through the log of its command, which
// is followed for as long as the sandbox lives. Variables travel in that stream
// only; Vercel is told none.
//
// A machine costs while it runs. It has a time after which Vercel ends it, a few
// minutes, put off again and again while the sidecar is there, never beyond the
// spec's Expires: what a killed sidecar leaves behind ends by itself. Machines are
// named after their owner before they are made, so that one whose making was not
// answered is found by a sweep. A stream that breaks is the end of its sandbox.
//
// Named workspaces are drives of Vercel's, which one machine at a time can have.
// Processors come in whole numbers with 2048 MB of memory each, so that a spec gets
// the largest machine that is within its bounds. Machines have a disk of 32 GB.
package vercel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Config says whose machines are used.
type Config struct {
	// Token is an access token for the team.
	Token settings.Credential
	// Team and Project are the ids of the team that pays and the project that the
	// machines belong to.
	Team, Project string
	// Region is where machines and drives are.
	Region string
	// Image is what sandboxes are made of where the policies name none.
	Image string
	// Endpoint is the address of Vercel's API.
	Endpoint string
	// AcceptMissing names the limits that may be left out where they cannot be met:
	// cpus, memory_mb, disk_mb.
	AcceptMissing []string

	// Runner is the path of the bailiff-runner program.
	Runner string
	Log    *slog.Logger
}

// The limits that a spec may lack, as policies call them.
const (
	cpus     = "cpus"
	memoryMB = "memory_mb"
	diskMB   = "disk_mb"
)

var acceptable = []string{cpus, memoryMB, diskMB}

// Backend makes sandboxes at Vercel.
type Backend struct {
	cfg Config
	api *client

	// lease is for how long a machine runs that is asked for no more, and patience
	// for how long a drive is waited for that another machine has still.
	lease, patience time.Duration

	opening backends.Opening
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
)

// New makes the backend. It does not connect yet.
func New(cfg Config) (*Backend, error) {
	if cfg.Runner == "" || cfg.Log == nil {
		return nil, errors.New("vercel backend lacks the path of bailiff-runner or a log")
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return &Backend{cfg: cfg, api: newClient(cfg), lease: 5 * time.Minute, patience: time.Minute}, nil
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready asks for a list of machines, which needs all that making one does.
func (b *Backend) Ready(ctx context.Context) error {
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("%w: finding the runner: %w", backends.ErrUnavailable, err)
	}
	if err := b.api.mayList(ctx); err != nil {
		return unavailable("asking Vercel for machines", err)
	}
	return nil
}

// unavailable words a fault for the operator that set the backend up.
func unavailable(doing string, err error) error {
	if hint := hints[httpapi.Status(err)]; hint != "" {
		return fmt.Errorf("%w: %s: %w; %s", backends.ErrUnavailable, doing, err, hint)
	}
	return fmt.Errorf("%w: %s: %w", backends.ErrUnavailable, doing, err)
}

var hints = map[int]string{
	401: "renew the token that backends.vercel.token names",
	402: "the account needs a payment method, or has used up what its plan includes",
	403: "the token that backends.vercel.token names must be one for the team of backends.vercel.team, and not be over",
	404: "set backends.vercel.project to the id of a project of that team",
}

// missing is nil if a limit may be left out.
func (b *Backend) missing(limit, why string) error {
	if slices.Contains(b.cfg.AcceptMissing, limit) {
		return nil
	}
	return fmt.Errorf("%w: %s: %s; list it in backends.vercel.accept_missing_limits to go without that bound", backends.ErrUnsupported,
		limit, why)
}
