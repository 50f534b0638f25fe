package lease

import (
	"context"
	"log/slog"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// Recorder notes in the decision log what becomes of sandboxes.
type Recorder interface{ Note(e api.Event) }

// Freezer remembers what humans froze.
type Freezer interface {
	// Frozen says, in one sentence, that and why a session may run nothing.
	Frozen(s bailiff.Session) (reason string, frozen bool)
}

// Observer is told what becomes of sandboxes. What comes with a context is part of a
// request, if that is.
type Observer interface {
	SandboxStarted(ctx context.Context, backend string, err error, took time.Duration)
	SandboxAdopted(backend string)
	SandboxHandedOver(backend string)
	SandboxReaped(backend, reason string)
}

// BackendObserver is told how the backends are that make them.
type BackendObserver interface {
	BackendReady(backend string, ready bool)
	// SweepFailed is told of a sweep that left something at a backend, or may have.
	SweepFailed(backend string)
}

// Processes are those that run in sandboxes beyond a request.
type Processes interface {
	// Entries are those in a sandbox, for the ledger.
	Entries(l *Lease) []ledger.Process
	// Adopt goes on with those of an earlier run of this sidecar, and ends the others.
	Adopt(ctx context.Context, l *Lease, records []ledger.Process, jobs []backends.Process) error
	// Lost is told of one of an earlier run whose sandbox is not gone on with.
	Lost(record ledger.Process, why string)
	// Removed is told that a sandbox is gone.
	Removed(l *Lease)
}

// Policies say, by those in force, which sandbox a request would get; false if they
// deny it.
type Policies func(ctx context.Context, req bailiff.Request) (Spec, bool)

// Config is what a Pool needs; every field but Homes, Repositories, Caches and CheckOwner is required.
type Config struct {
	// Backends are the configured ones by the name that decisions use.
	Backends map[string]backends.Backend
	// Owner identifies this sidecar among others on the same machine.
	Owner string
	// CheckOwner says why this sidecar may have lost the name Owner; nothing is swept meanwhile. Nil means that no other
	// sidecar can take the name.
	CheckOwner func() error
	// Ledger is of the sandboxes that are leased, Workspaces of those files that stay when
	// their sandbox goes.
	Ledger     ledger.Entries[ledger.Sandbox]
	Workspaces ledger.Entries[ledger.Workspace]
	Processes  Processes
	Policies   Policies
	// Repositories may be nil: then sandboxes see the real git directories of the folders that they show.
	Repositories Repositories
	// Caches may be nil: then the tools of a project find in a new sandbox nothing that they fetched or built before.
	Caches Caches
	// Homes may be nil, where no other sidecar serves sessions.
	Homes     Homes
	Freezer   Freezer
	Recorder  Recorder
	Sandboxes Observer
	Readiness BackendObserver
	Log       *slog.Logger
}

// Key is a session of a caller.
type Key struct{ Caller, Session string }

// KeyOf is the session of a request.
func KeyOf(req bailiff.Request) Key { return Key{req.Caller, req.Session.ID} }
