package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// Turn lets one in at a time; a request that waits can go away.
type Turn chan struct{}

// NewTurn is free.
func NewTurn() Turn { return make(Turn, 1) }

// Take waits for the turn.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryTake is false if the turn is taken.
func (t Turn) tryTake() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// Pass ends the turn.
func (t Turn) Pass() { <-t }

// turns let each backend, by its name, be asked one thing at a time.
type turns map[string]Turn

func newTurns(of map[string]backends.Backend) turns {
	all := turns{}
	for name := range of {
		all[name] = NewTurn()
	}
	return all
}

// ask returns in time, whatever the backend does: one that heeds no deadline is asked
// again only when it has answered.
func (t turns) ask(ctx context.Context, name string, most time.Duration, question func(context.Context) error) error {
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
