// Package ledger remembers on disk what outlives a sidecar that is killed: the
// sandboxes that are let, with whom they are let to and which background
// processes live in them, the workspaces that are kept between sandboxes, and what projects of the host
// declared before the first session came to them. Its successor reads them, attaches anew to the sandboxes and goes on.
//
// Each entry is a file of its own in the state folder (package records). An entry of a
// sandbox that has an unknown or a wrong field is dropped, loudly, since the worst that
// follows is that a sweep removes the sandbox. Files are worth more than that, so that the entry of a
// workspace is never lost by its content: one that cannot be read stands for the
// workspace that its file is named after, which then belongs to no session and is
// removed when it has not been used for long enough.
//
// An entry of a project that cannot be read stands for all folders, none of which declares anything from then on.
//
// Promised: an entry of a workspace or a folder is on disk when [Entries.Keep] returns. One of a
// sandbox need not be, as no sandbox survives the machine. No value of a variable
// is written: processes are kept with the names of theirs, and their text is
// scrubbed of known values.
//
// Not here: what an entry means, and what becomes of it (enforcer).
package ledger

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Config says where a ledger is and what it must not hold.
type Config struct {
	// StateDir is the sidecar's state folder, which this process has locked.
	StateDir string
	// Scrub returns a text without known secrets; nil leaves it as it is.
	Scrub func([]byte) []byte
	// Log is told of entries that cannot be read; nil means slog's default.
	Log *slog.Logger
}

// Entries are those of one kind.
type Entries[T any] interface {
	// Keep returns when the next process finds the entry.
	Keep(entry T) error
	Drop(key string) error
	All() ([]T, error)
}

// Ledger is what is remembered.
type Ledger struct {
	Sandboxes  Entries[Sandbox]
	Workspaces Entries[Workspace]
	Projects   Entries[Project]
}

// Open opens the ledger of a state folder, making it if there is none.
func Open(c Config) (*Ledger, error) {
	if c.StateDir == "" {
		return nil, errors.New("ledger config lacks StateDir")
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	sandboxes, err := records.Open(records.Config[Sandbox]{Dir: filepath.Join(c.StateDir, "sandboxes"), Log: c.Log,
		Clean: func(s Sandbox) Sandbox { return s.scrubbed(c.Scrub) }})
	workspaces, wrong := records.Open(records.Config[Workspace]{Dir: filepath.Join(c.StateDir, "workspaces"), Log: c.Log, Durable: true,
		Named: workspaceNamed})
	projects, faulty := records.Open(records.Config[Project]{Dir: filepath.Join(c.StateDir, "sights"), Log: c.Log, Durable: true,
		Named: projectNamed})
	if err := errors.Join(err, wrong, faulty); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return &Ledger{sandboxes, workspaces, projects}, nil
}
