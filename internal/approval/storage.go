package approval

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// storage is where what a book knows is kept.
type storage interface {
	steps
	lifetime
}

// steps are what a store does for a book.
type steps interface {
	// Do has a step decided on the part of the state that it needs, and returns when what
	// comes of it is durable and shown.
	Do(ctx context.Context, n state.Need, d state.Decide) error
	// Claim reads the text of a claim; found says whether there is one still.
	Claim(seq uint64) (text state.ClaimText, found bool, err error)
	// Refresh shows what others have written until now.
	Refresh()
	// Confirm returns once freezes are in force wherever this book is; silent are the replicas
	// of which that is not known, which start nothing new.
	Confirm(ctx context.Context) (silent []string, err error)
	// Now is the time by the clock that deadlines go by.
	Now() time.Time
}

// lifetime is how a store begins, fares and ends.
type lifetime interface {
	// Start begins what goes on until Close, and ends what ran out of time before.
	Start(ctx context.Context) error
	// Err is why nothing may be granted; nil if that is not so.
	Err() error
	// Standing is how this sidecar is seen by others that share the store: the epoch of its name, and how often it was
	// silent for so long that they may have taken over what was its own.
	Standing() (epoch int64, silences uint64)
	// Warnings say what deserves a second look, a sentence each.
	Warnings() []string
	// Close returns once all that is waited for was decided.
	Close() error
}
