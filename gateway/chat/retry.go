package chat

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	// firstPause and longestPause are the least and the longest pause between two tries.
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
	// longestWait is the longest pause that a service may ask for.
	longestWait = time.Hour
	// tryTimeout is how long one try may take.
	tryTimeout = 30 * time.Second
	// tryGrace is how much longer a try may take after the context has ended.
	tryGrace = 3 * time.Second
)

// retry tries something until it succeeds, with growing pauses or those that the
// service asks for. Its error is [ErrGone], of type [*Refused], or, when ctx ends before,
// that of ctx with why the last try failed. Failed, which may be nil, is told of each try
// that did.
func retry(ctx context.Context, failed func(error), try func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := tryOnce(ctx, try)
		if err == nil || isFinal(err) {
			return err
		}
		if failed != nil {
			failed(err)
		}
		wait := pause/2 + rand.N(pause) //nolint:gosec // so that not all try at once
		var busy *Busy
		if errors.As(err, &busy) {
			wait, pause = min(max(busy.After, 0), longestWait)+rand.N(firstPause), firstPause //nolint:gosec // as above
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// tryOnce tries once. When ctx ends a try goes on for a moment: one that is cut off may have
// had its effect, and nobody would know.
func tryOnce(ctx context.Context, try func(context.Context) error) error {
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(tryGrace, cancel) })()
	return try(trying)
}

// isFinal says that to try again is of no use.
func isFinal(err error) bool {
	var refused *Refused
	return errors.Is(err, ErrGone) || errors.As(err, &refused)
}
