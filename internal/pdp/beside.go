package pdp

import "context"

// beside is work that goes on beside its caller, one piece at a time.
type beside struct {
	stop context.CancelFunc
	done chan struct{} // closed at the end of the last piece; nil before the first
}

// begin starts the next piece. The last one has ended.
func (b *beside) begin(ctx context.Context, work func(context.Context)) {
	ctx, b.stop = context.WithCancel(ctx)
	b.done = make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		work(ctx)
	}(b.done)
}

func (b *beside) isRunning() bool {
	select {
	case <-b.done:
		return false
	default:
		return b.done != nil
	}
}

// end stops the last piece, and waits for its end.
func (b *beside) end() {
	if b.done != nil {
		b.stop()
		<-b.done
	}
}
