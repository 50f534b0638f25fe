package discord

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// longestPause is how many seconds are between two attempts at most.
const longestPause = 30

// Run receives what people do until ctx ends.
func (d *Discord) Run(ctx context.Context, in chat.Inbox) error {
	l := newListener(d, in)
	ctx, cancel := context.WithCancel(ctx)
	defer l.work.Wait()
	defer cancel()
	for failures := 0; ; {
		stood, err := l.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if stood {
			failures = 0
		}
		var no *chat.Refused
		if errors.As(err, &no) {
			in.Connected(no)
			return no
		}
		if !errors.Is(err, errReconnect) {
			in.Connected(err)
		}
		if !sleep(ctx, d.pause(err, failures)) {
			return nil
		}
		failures++
	}
}

// pause is how long to wait after so many failures in a row and one more.
func (d *Discord) pause(err error, failures int) time.Duration {
	var busy *chat.Busy
	switch {
	case errors.As(err, &busy):
		return busy.After
	case errors.Is(err, errReconnect) && failures == 0:
		return rand.N(d.second / 4)
	case errors.Is(err, errInvalidSession): // Discord wants one to five seconds
		return d.second + rand.N(4*d.second)
	}
	most := d.second * time.Duration(min(longestPause, 1<<min(failures, 5)))
	return most/2 + rand.N(most/2+1)
}
