package lease

import (
	"context"
	"errors"

	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// The reasons why a sandbox goes by itself.
const (
	reasonIdle    = supply.ReasonIdle
	reasonFailed  = supply.ReasonFailed
	reasonRequest = "request_end"
	reasonOrphan  = "orphan" // an earlier run's, that no lease holds
	// A later run of this sidecar, by the same name in the shared store, has it.
	reasonSuperseded = "superseded"
	// A later run may have it, so it stays until a sweep.
	reasonOwnerUnknown = supply.ReasonOwnerUnknown
)

// The reasons why one is closed though requests use it.
const (
	reasonExpired  = supply.ReasonExpired
	reasonPolicy   = "policy"
	reasonRemoved  = supply.ReasonRemoved
	reasonEnd      = "session_end"
	reasonShutdown = supply.ReasonShutdown
	reasonFrozen   = "frozen"
	reasonYielded  = "yielded"
	reasonOutage   = "outage"
	// A folder that it shows read-only, or in place of which it shows another, was replaced.
	reasonDisplaced = "displaced"
)

// Evicted is why a sandbox was taken from the requests that used it: one of the reasons.
type Evicted string

// evictions say each of the reasons for people.
var evictions = map[Evicted]string{
	reasonExpired:  "The sandbox had reached the greatest age that the policies allow, and was removed",
	reasonPolicy:   "The policies that are in force now no longer allow the sandbox, and it was removed",
	reasonRemoved:  "An operator removed the sandbox",
	reasonEnd:      "The session was ended and its sandbox removed",
	reasonShutdown: "The sidecar is shutting down and removed the sandbox",
	reasonYielded:  "Another sidecar has taken the session over, and the sandbox was removed",
	reasonOutage:   "The store that sidecars share does not answer, and the sandbox was removed (store.on_outage)",
	reasonFrozen:   "An operator froze a session that used the sandbox, and it was removed",
	reasonDisplaced: "A folder that the sandbox must not write, or its .git, was replaced on the host while this ran, so that the sandbox " +
		"could write it, and was removed: look at the folder before a program of yours uses it",
}

func (e Evicted) Error() string { return evictions[e] }

// Within returns a context that also ends, with an [Evicted], when the sandbox is
// closed under the requests that use it.
func (h *Hold) Within(ctx context.Context) (context.Context, func()) {
	l := h.lease
	ctx, cancel := context.WithCancelCause(ctx)
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	if l.evicted != "" {
		cancel(l.evicted)
	}
	l.stops[&cancel] = true
	return ctx, func() {
		cancel(nil)
		l.pool.mu.Lock()
		defer l.pool.mu.Unlock()
		delete(l.stops, &cancel)
	}
}

// evictLocked ends what runs in the sandbox, before that is closed.
func (l *Lease) evictLocked(reason Evicted) {
	l.evicted = reason
	for cancel := range l.stops {
		(*cancel)(reason)
	}
}

// IsEvicted says whether a context has ended because a sandbox was taken away.
func IsEvicted(ctx context.Context) bool {
	return errors.As(context.Cause(ctx), new(Evicted))
}
