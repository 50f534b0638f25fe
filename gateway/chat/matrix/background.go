package matrix

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
)

const (
	// maxBackgroundCalls wait at a time; more are dropped.
	maxBackgroundCalls = 1024
	// backgroundWorkers make so many of them at a time.
	backgroundWorkers = 4
	// attempts is how often one is tried.
	attempts = 6
	// firstPause is before the second attempt, and between one connection and the next;
	// it doubles up to longestPause.
	firstPause   = time.Second
	longestPause = 30 * time.Second
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
					if err := persist(ctx, do); err != nil && ctx.Err() == nil {
						failed(err)
					}
				}
			}
		})
	}
}

func persist(ctx context.Context, do func(context.Context) error) error {
	var p pause
	for attempt := 1; ; attempt++ {
		err := do(ctx)
		if err == nil || isRefused(err) || attempt == attempts || p.wait(ctx, err) != nil {
			return err
		}
	}
}

// pause is between attempts; its zero value is before the first.
type pause struct{ last time.Duration }

// next is how long to wait after a failure: as long as the homeserver asks for, or longer
// each time, and not as long as all others who lost it at the same time.
func (p *pause) next(err error) time.Duration {
	p.last = min(max(firstPause, 2*p.last), longestPause)
	var busy *chat.Busy
	if errors.As(err, &busy) {
		return busy.After
	}
	return p.last/2 + rand.N(p.last/2)
}

func (p *pause) wait(ctx context.Context, err error) error { return httpapi.Wait(ctx, p.next(err)) }
