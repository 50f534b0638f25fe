package telegram

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// Run receives updates until ctx ends.
func (t *Telegram) Run(ctx context.Context, in chat.Inbox) error {
	var working sync.WaitGroup
	defer working.Wait()
	return (&receiver{mailbox: mailbox{t, in, &working, make(chan struct{}, mostAnswers)}, wait: t.pause}).run(ctx)
}

func (r *receiver) run(ctx context.Context) error {
	receive := r.poll
	if r.config.Webhook != nil {
		receive = r.hook
		defer r.close(ctx)
	}
	defer r.confirm(ctx)
	for {
		err := receive(ctx)
		if ctx.Err() != nil {
			return nil
		}
		err = told(err)
		r.inbox.Connected(err)
		if r.hopeless {
			return err
		}
		r.rest(ctx, err)
	}
}

// receiver is one run.
type receiver struct {
	mailbox
	// offset is the number of the next update; what is before it is confirmed by asking
	// for it.
	offset      int64
	unconfirmed bool
	// commanded says that the bot's commands are known to clients.
	commanded bool
	// contested says that another program asked for the same updates.
	contested bool
	// hopeless says that the service will have nothing to do with the bot.
	hopeless bool
	// wait is the next pause.
	wait time.Duration
	// door is where a webhook's calls come in, shut tells that it takes no more, and secret
	// is what comes with them.
	door   *gateway.Door
	shut   chan error
	secret atomic.Pointer[sent]
}

// rest lets some time pass before the next attempt, more of it each time.
func (r *receiver) rest(ctx context.Context, why error) {
	pause := r.wait/2 + rand.N(r.wait/2+1)
	var busy *chat.Busy
	if errors.As(why, &busy) {
		pause = max(pause, busy.After)
	}
	r.wait = min(2*r.wait, mostPause)
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// meet asks the service who the bot is, and tells it the bot's commands.
func (r *receiver) meet(ctx context.Context) error {
	if err := r.learn(ctx); err != nil {
		r.hopeless = unknown(err)
		return err
	}
	if !r.commanded {
		err := ask(ctx, r.Telegram, (*bot.Bot).SetMyCommands, &bot.SetMyCommandsParams{Commands: commands}, nil)
		if r.commanded = err == nil; err != nil { // they can be typed all the same
			r.config.Log.DebugContext(ctx, "telling Telegram the bot's commands", "error", err)
		}
	}
	return nil
}

// learn asks who the bot is.
func (t *Telegram) learn(ctx context.Context) error {
	var me models.User
	err := ask(ctx, t, bare((*bot.Bot).GetMe), nothing{}, &me)
	if err == nil {
		t.me.Store(&me)
	}
	return err
}

// poll asks for updates until that fails.
func (r *receiver) poll(ctx context.Context) error {
	if err := r.meet(ctx); err != nil {
		return err
	}
	if err := ask(ctx, r.Telegram, (*bot.Bot).DeleteWebhook, &bot.DeleteWebhookParams{}, nil); err != nil {
		return fmt.Errorf("taking back a webhook that was left over: %w", err)
	}
	wait, stands := time.Duration(0), false // so that it shows at once whether it works
	if r.contested {
		wait = r.keep // but who asks at once drives the other one away, and is answered
	}
	for {
		updates, err := r.updates(ctx, r.offset, wait)
		if err != nil {
			return r.explained(err)
		}
		if r.unconfirmed = false; !stands {
			stands = true
			r.inbox.Connected(nil)
		}
		if wait > 0 {
			r.contested, r.wait = false, r.pause
		}
		for _, raw := range updates {
			if ctx.Err() != nil {
				return nil // what is not taken comes again
			}
			if id := r.take(ctx, raw); id >= r.offset {
				r.offset, r.unconfirmed = id+1, true
			}
		}
		if len(updates) > 0 && !r.unconfirmed {
			return errors.New("reading Telegram's updates: none has a number")
		}
		wait = r.keep
	}
}

// explained says what a fault of asking for updates means.
func (r *receiver) explained(err error) error {
	r.hopeless = unknown(err)
	var f *fault
	if r.contested = errors.As(err, &f) && f.code == http.StatusConflict; r.contested {
		return fmt.Errorf("another program asks for this bot's updates, or set a webhook for it: stop that one, or get this sidecar a bot of its own (%w)", err)
	}
	return err
}

// confirm says what was taken, so that it does not come again after a restart.
func (r *receiver) confirm(ctx context.Context) {
	if !r.unconfirmed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_, _ = r.updates(ctx, r.offset, 0) // else it comes again, with the same ids
}
