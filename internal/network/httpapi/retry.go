package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	// attempts is how often a call is tried at most.
	attempts = 6
	// firstPause is the least time between the first attempt and the second. It doubles
	// each time, and is drawn out by chance, so that many do not come back at once.
	firstPause = 200 * time.Millisecond
	// longestWait is how long Retry-After is obeyed within a call.
	longestWait = 30 * time.Second
)

// persist tries until there is an outcome to stay with.
func persist(ctx context.Context, call Call, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if err != nil && call.Failed != nil {
			call.Failed(err)
		}
		if err == nil || call.Once || attempt == attempts || !passes(err, call.Idempotent) {
			return err
		}
		pause := pauseAfter(err, attempt)
		if pause > longestWait || Wait(ctx, pause) != nil {
			return err
		}
	}
}

// passes says whether another attempt may come to something else, and may be made.
// Other numbers from 500 on, such as 501 and 507, say what waiting does not change.
func passes(err error, idempotent bool) bool {
	switch Status(err) {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return idempotent
	}
	var unknown *lost
	return idempotent && errors.As(err, &unknown)
}

func pauseAfter(err error, attempt int) time.Duration {
	if after := After(err); after > 0 {
		return after
	}
	least := firstPause << (attempt - 1)
	return least + rand.N(least)
}

// Wait waits, such as between one look at what changes and the next. Who would not
// live to see its end is told so at once.
func Wait(ctx context.Context, long time.Duration) error {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) <= long {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
