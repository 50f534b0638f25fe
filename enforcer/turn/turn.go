// Package turn lets requests, and questions to backends, go one after the other, without any of them having to wait for
// longer than it wants.
package turn

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// Turn lets one in at a time; a request that waits can go away.
type Turn chan struct{}

// New is a turn that is free.
func New() Turn { return make(Turn, 1) }

// Take waits for the turn.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryTake is false if the turn is taken.
func (t Turn) TryTake() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Pass ends the turn.
func (t Turn) Pass() { <-t }

// Turns let each backend, by its name, be asked one thing at a time.
type Turns map[string]Turn

// Of has a turn for each backend.
func Of(all map[string]backends.Backend) Turns {
	turns := Turns{}
	for name := range all {
		turns[name] = New()
	}
	return turns
}

// Ask returns in time, whatever the backend does: one that heeds no deadline is asked
// again only when it has answered.
func (t Turns) Ask(ctx context.Context, name string, most time.Duration, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if t[name].Take(ctx) != nil {
		return fmt.Errorf("%w: it has not answered since it was asked before", backends.ErrUnavailable)
	}
	answered := make(chan error, 1)
	go func() {
		err := question(ctx)
		t[name].Pass()
		answered <- err
	}()
	select {
	case err := <-answered:
		if err == nil || ctx.Err() == nil {
			return err
		}
	case <-ctx.Done():
	}
	return fmt.Errorf("%w: it did not answer within %s", backends.ErrUnavailable, most)
}
