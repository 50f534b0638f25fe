package lease

import "context"

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
