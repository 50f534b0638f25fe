// Package background runs one piece of work at a time beside its caller.
package background

import "context"

// Work is work that goes on beside its caller, one piece at a time.
type Work struct {
	stop context.CancelFunc
	done chan struct{} // closed at the end of the last piece; nil before the first
}

// Begin starts the next piece. The last one has ended.
func (b *Work) Begin(ctx context.Context, work func(context.Context)) {
	ctx, b.stop = context.WithCancel(ctx)
	b.done = make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		work(ctx)
	}(b.done)
}

// IsRunning says whether a piece goes on.
func (b *Work) IsRunning() bool {
	select {
	case <-b.done:
		return false
	default:
		return b.done != nil
	}
}

// End stops the last piece, and waits for its end.
func (b *Work) End() {
	if b.done != nil {
		b.stop()
		<-b.done
	}
}
