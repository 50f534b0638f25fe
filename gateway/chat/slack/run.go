package slack

import (
	"context"
	"errors"
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
	pauses := chat.NewBackoff(firstPause)
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
		if time.Since(begun) >= steady {
			pauses.Reset()
			if err == nil {
				continue
			}
		}
		if !pauses.Wait(ctx, err) {
			return nil
		}
	}
}

const (
	firstPause = 200 * time.Millisecond
	// steady is how long a connection must have lasted for the pauses to begin anew.
	steady = 2 * time.Second
)
