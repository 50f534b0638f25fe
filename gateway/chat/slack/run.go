package slack

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// Run receives until ctx ends; see [chat.Platform].
func (s *Slack) Run(ctx context.Context, in chat.Inbox) error {
	r := s.newReceiver(in)
	defer r.inFlight.Wait()
	once := r.receiveBySocket
	if s.cfg.Listen != "" {
		once = r.receiveByHTTP
	}
	var p pauses
	for {
		begun := time.Now()
		err := once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			in.Connected(err)
		}
		var no *chat.Refused
		if errors.As(err, &no) {
			return err
		}
		if !p.wait(ctx, time.Since(begun), err) {
			return nil
		}
	}
}

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
	// steady is how long a connection must have stood for the next to be made anew as if it
	// were the first.
	steady = 2 * time.Second
)

// pauses grow from one failure to the next.
type pauses struct{ last time.Duration }

// wait waits before the next connection, and says whether there is to be one.
func (p *pauses) wait(ctx context.Context, stood time.Duration, err error) bool {
	p.last = min(max(2*p.last, firstPause), longestPause)
	if stood >= steady {
		p.last = firstPause
		if err == nil {
			return true
		}
	}
	pause := p.last/2 + rand.N(p.last/2)
	var busy *chat.Busy
	if errors.As(err, &busy) {
		pause = max(pause, busy.After)
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}
