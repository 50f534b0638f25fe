// Package modal makes sandboxes that are sandboxes of Modal, a cloud, through its
// own Go client.
//
// A sandbox is a machine that Modal gives to no other customer. bailiff's runner is
// written into it and started there as root, which it renounces for good before it
// hears of any command; what it reads and writes travels as the standard input and
// output of that one program. In a virtual machine it first makes a place apart from
// all else that runs there. No variable is ever set through Modal, so none lies in
// its records.
//
// What a machine costs ends by itself, whatever becomes of the sidecar: the runner
// ends when it hears of no client for a while, Modal ends a machine in which nothing
// runs, and every machine has a greatest age. What an earlier sidecar left a sweep
// finds by its tags, which Modal writes as it makes the machine; so it also finds
// one whose making was never answered.
//
// Calls are repeated by Modal's client, with a key by which Modal knows them again,
// and where Modal says when. Nothing that runs a command is among them: a stream
// that breaks is taken up again where it broke, or the sandbox is lost.
//
// Named workspaces are Modal's volumes and stay until they are removed by name. A
// machine sees a volume as it was written out when the machine was made; so, before
// another one is made on the same workspace, those that have it write it out.
package modal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Config says whose machines to use and how.
type Config struct {
	// TokenID and TokenSecret say where the two halves of a token of Modal's are.
	TokenID, TokenSecret settings.Credential
	// Environment is the one of Modal's to use; empty means MODAL_ENVIRONMENT or else
	// the account's usual one.
	Environment string
	// App names what Modal files the sandboxes under; it is made if it is missing.
	App string
	// Image is used where a spec names none.
	Image string
	// Runtime is what Modal runs sandboxes in: gvisor or vm. Only in a virtual machine
	// root may make the places in which processes are counted and files closed.
	Runtime string
	// AcceptMissing names what may be left out where Modal cannot do it:
	// disk_mb, pids, read_only.
	AcceptMissing []string
	// Runner is the path of the bailiff-runner program, built for Linux on amd64.
	Runner string
	// Log gets what runners write to standard error and what Modal warns of.
	Log *slog.Logger
}

// The names that AcceptMissing may hold.
const (
	diskMB   = "disk_mb"
	pids     = "pids"
	readOnly = "read_only"
)

// Backend makes sandboxes on Modal.
type Backend struct {
	cfg    Config
	linger time.Duration

	opening backends.Opening

	mu      sync.Mutex
	current *account // nil until it is needed
	// users are the sandboxes that have a workspace, by the name of its volume.
	users map[string][]*sandbox
}

var (
	_ backends.Backend  = (*Backend)(nil)
	_ backends.Resolver = (*Backend)(nil)
	_ backends.Sweeper  = (*Backend)(nil)
	_ backends.Keeper   = (*Backend)(nil)
)

// New checks the configuration; it does not connect.
func New(cfg Config) (*Backend, error) {
	if cfg.Runner == "" {
		return nil, errors.New("modal backend lacks the path of bailiff-runner")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Backend{cfg: cfg, linger: runner.Linger, users: map[string][]*sandbox{}}, cfg.Check()
}

// Isolated is true.
func (*Backend) Isolated() bool { return true }

// Ready says whether the runner is there and Modal takes the token.
func (b *Backend) Ready(ctx context.Context) error {
	if _, err := os.Stat(b.cfg.Runner); err != nil {
		return fmt.Errorf("%w: finding the runner: %w", backends.ErrUnavailable, err)
	}
	a, err := b.use()
	if err != nil {
		return err
	}
	defer b.leave(a)
	_, err = b.app(ctx, a)
	return err
}

func (b *Backend) accepts(limit string) bool {
	return slices.Contains(b.cfg.AcceptMissing, limit)
}
