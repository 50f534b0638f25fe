package matrix

import (
	"context"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// maxBackgroundCalls wait at a time; more are dropped.
	maxBackgroundCalls = 1024
	// backgroundWorkers make so many of them at a time.
	backgroundWorkers = 4
	// attempts is how often one is tried.
	attempts = 6
	// firstPause is the longest first pause between two attempts, or between connections.
	firstPause = time.Second
)

// backgroundCalls are calls that may fail and may be made twice: reactions below a message,
// private replies, joining rooms.
type backgroundCalls chan func(context.Context) error

func (e backgroundCalls) add(do func(context.Context) error) {
	select {
	case e <- do:
	default:
	}
}

// run makes the calls until ctx ends, and calls failed with the error of each that failed.
func (e backgroundCalls) run(ctx context.Context, failed func(error)) {
	var all sync.WaitGroup
	defer all.Wait()
	for range backgroundWorkers {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case do := <-e:
					err := chat.Retry(ctx, attempts, firstPause, func() error { return do(ctx) })
					if err != nil && ctx.Err() == nil {
						failed(err)
					}
				}
			}
		})
	}
}
