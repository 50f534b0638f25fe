package chat

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// firstPause is the longest first pause between two tries, longestPause any.
	firstPause   = 400 * time.Millisecond
	longestPause = 30 * time.Second
	// longestWait is the longest pause that a service may ask for.
	longestWait = time.Hour
	// tryTimeout is how long one try may take.
	tryTimeout = 30 * time.Second
	// tryGrace is how much longer a try may take after the context has ended.
	tryGrace = 3 * time.Second
)

// Backoff counts out the pauses between tries. Each is twice as long as the one before, up
// to half a minute, less up to a half by chance, so that not all clients try at once.
type Backoff struct{ backoff.ExponentialBackOff }

// NewBackoff returns a Backoff whose first pause is at most so long.
func NewBackoff(first time.Duration) *Backoff {
	b := &Backoff{backoff.ExponentialBackOff{InitialInterval: first * 3 / 4, RandomizationFactor: 1.0 / 3, Multiplier: 2,
		MaxInterval: longestPause * 3 / 4}}
	b.Reset()
	return b
}

// Wait pauses after an error, at least for as long as a [Busy] service asks, and says
// whether ctx still lasts.
func (b *Backoff) Wait(ctx context.Context, err error) bool {
	pause := b.NextBackOff()
	var busy *Busy
	if errors.As(err, &busy) {
		pause = max(pause, busy.After)
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// Retry tries until there is no error, the error is [ErrGone] or a [Refused], ctx has ended, or
// so many tries have failed; 0 means no limit. It returns the last try's error. The first
// pause is at most so long.
func Retry(ctx context.Context, tries uint, first time.Duration, try func() error) error {
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = try()
		return struct{}{}, retryable(last, first)
	}, backoff.WithBackOff(NewBackoff(first)), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	if err == nil {
		return nil
	}
	return last
}

// retryable tells the library whether and when to try again.
func retryable(err error, first time.Duration) error {
	var busy *Busy
	switch {
	case err == nil:
		return nil
	case isFinal(err):
		return backoff.Permanent(err)
	case errors.As(err, &busy):
		wait := min(max(busy.After, 0), longestWait) + rand.N(first) //nolint:gosec // so that not all clients try at once
		return &backoff.RetryAfterError{Duration: wait}
	}
	return err
}

// retry tries without limit. Its error is [ErrGone], a [Refused] or, when ctx ends before, the
// cause of that with the last try's error. Failed, which may be nil, is called with each
// error that is tried again.
func retry(ctx context.Context, failed func(error), try func(context.Context) error) error {
	err := Retry(ctx, 0, firstPause, func() error {
		err := tryOnce(ctx, try)
		if err != nil && failed != nil && !isFinal(err) {
			failed(err)
		}
		return err
	})
	if err != nil && !isFinal(err) {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// tryOnce tries once. A try goes on for tryGrace after ctx has ended: if it were cut off, it
// would be unknown whether it had its effect.
func tryOnce(ctx context.Context, try func(context.Context) error) error {
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(tryGrace, cancel) })()
	return try(trying)
}

// isFinal says that trying again is of no use.
func isFinal(err error) bool {
	var refused *Refused
	return errors.Is(err, ErrGone) || errors.As(err, &refused)
}
