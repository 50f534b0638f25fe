// Package ledger remembers on disk what outlives a sidecar that is killed: the
// sandboxes that are let, with whom they are let to and which background
// processes live in them, and the workspaces that are kept between sandboxes. Its
// successor reads both, attaches anew to the sandboxes and goes on.
//
// Each entry is a file of its own in the state folder, written beside and renamed,
// so that a reader finds an entry whole, as it was or as it is. The file's name is
// the entry's, which is why names are letters, digits and a few signs only.
//
// What is read must be what was written: an entry of a sandbox that has an unknown
// or a wrong field is dropped, loudly, since the worst that follows is that a sweep
// removes the sandbox. Files are worth more than that, so that the entry of a
// workspace is never lost by its content: one that cannot be read stands for the
// workspace that its file is named after, which then belongs to nobody and is
// removed when it has not been used for long enough.
//
// Promised: an entry of a workspace is on disk when [Shelf.Keep] returns. One of a
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
	"os"
	"path/filepath"
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

// Ledger is what is remembered.
type Ledger struct {
	Sandboxes  *Shelf[Sandbox]
	Workspaces *Shelf[Workspace]
}

// Open opens the ledger of a state folder, making it if there is none.
func Open(c Config) (*Ledger, error) {
	if c.StateDir == "" {
		return nil, errors.New("ledger config lacks StateDir")
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	l := &Ledger{
		Sandboxes: &Shelf[Sandbox]{dir: filepath.Join(c.StateDir, "sandboxes"), log: c.Log,
			clean: func(s Sandbox) Sandbox { return s.scrubbed(c.Scrub) }},
		Workspaces: &Shelf[Workspace]{dir: filepath.Join(c.StateDir, "workspaces"), log: c.Log, durable: true, named: workspaceNamed},
	}
	if err := errors.Join(l.Sandboxes.open(), l.Workspaces.open()); err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return l, nil
}

// open makes the folder, which is nobody else's, and clears away what a writer
// that was killed had begun.
func (s *Shelf[T]) open() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o700); err != nil {
		return err
	}
	begun, err := filepath.Glob(filepath.Join(s.dir, unfinished+"*"))
	for _, path := range begun {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
