package discord

import (
	"context"
	"errors"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// tries are how often is tried what nobody but this package could try again: a second
// between them at most, unless Discord asks for more.
const tries = 5

func (d *Discord) persist(ctx context.Context, try func() error) (err error) {
	for n := range tries {
		var no *chat.Refused
		if err = try(); err == nil || errors.As(err, &no) || errors.Is(err, chat.ErrGone) {
			return err
		}
		wait := d.second / 10 * time.Duration(1+n)
		var busy *chat.Busy
		if errors.As(err, &busy) {
			wait = busy.After
		}
		if !sleep(ctx, wait) {
			return err
		}
	}
	return err
}
