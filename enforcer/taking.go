package enforcer

import (
	"context"
	"errors"
)

// The reasons why a sandbox goes by itself.
const (
	reasonIdle    = "idle"
	reasonFailed  = "failed"
	reasonRequest = "request_end"
	reasonOrphan  = "orphan" // an earlier run's, that no lease holds
)

// The reasons why one is closed, whoever uses it.
const (
	reasonExpired  = "expired"
	reasonPolicy   = "policy"
	reasonRemoved  = "removed"
	reasonEnd      = "session_end"
	reasonShutdown = "shutdown"
	reasonFrozen   = "frozen"
)

// taking is why a sandbox was taken from those who used it: one of the reasons.
type taking string

// takings say each of the reasons for people.
var takings = map[taking]string{
	reasonExpired:  "The sandbox had reached the greatest age that the policies allow, and was removed",
	reasonPolicy:   "The policies that are in force now no longer allow the sandbox, and it was removed",
	reasonRemoved:  "An operator removed the sandbox",
	reasonEnd:      "The session was ended and its sandbox removed",
	reasonShutdown: "The sidecar is shutting down and removed the sandbox",
	reasonFrozen:   "An operator froze somebody who used the sandbox, and it was removed",
}

func (t taking) Error() string { return takings[t] }

// within returns a context that also ends, with a [taking], when the sandbox is
// closed under those who use it.
func (l *lease) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.leases.mu.Lock()
	defer l.leases.mu.Unlock()
	if l.taken != "" {
		cancel(l.taken)
	}
	l.stops[&cancel] = true
	return ctx, func() {
		cancel(nil)
		l.leases.mu.Lock()
		defer l.leases.mu.Unlock()
		delete(l.stops, &cancel)
	}
}

// take ends what runs in the sandbox, before that is closed.
func (l *lease) take(reason taking) {
	l.taken = reason
	for cancel := range l.stops {
		(*cancel)(reason)
	}
}

// isTaken says whether a context has ended because a sandbox was taken away.
func isTaken(ctx context.Context) bool {
	var t taking
	return errors.As(context.Cause(ctx), &t)
}

const neverCalledFor = "The caller went away before the command was started."

// neverStarted says why what was to run was not started.
func neverStarted(ctx context.Context) string {
	if isTaken(ctx) {
		return context.Cause(ctx).Error() + " before the command was started."
	}
	return neverCalledFor
}

// stopped says why what ran was stopped, and that it was.
func stopped(ctx context.Context) string {
	if isTaken(ctx) {
		return context.Cause(ctx).Error() + "; the command and everything it had started was stopped."
	}
	return "Interrupted; the command and everything it had started was stopped."
}
