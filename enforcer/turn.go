package enforcer

import "context"

// turn lets one in at a time, and whoever waits go away.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryTake is false if it is somebody's turn.
func (t turn) tryTake() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t turn) pass() { <-t }
