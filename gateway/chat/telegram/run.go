package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// Run receives updates until ctx ends.
func (t *Telegram) Run(ctx context.Context, in chat.Inbox) error {
	r := t.newReceiver(in)
	defer r.working.Wait()
	return r.run(ctx)
}

func (t *Telegram) newReceiver(in chat.Inbox) *receiver {
	working := chat.NewBackground(maxAnswers, t.config.Log, "answering at Telegram panicked")
	return &receiver{updateHandler: updateHandler{t, in, working}, pauses: chat.NewBackoff(t.pause)}
}

func (r *receiver) run(ctx context.Context) error {
	receive := r.poll
	if r.config.Webhook != nil {
		receive = r.receiveByWebhook
		defer r.close(ctx)
	}
	defer r.confirm(ctx)
	for {
		err := receive(ctx)
		if ctx.Err() != nil {
			return nil
		}
		err = chatError(err)
		r.inbox.Connected(err)
		if r.refused {
			return err
		}
		r.pauses.Wait(ctx, err)
	}
}

// receiver is one run.
type receiver struct {
	updateHandler
	// offset is the number of the next update; asking for it confirms those before.
	offset      int64
	unconfirmed bool
	// commandsSet says that the bot's commands are known to clients.
	commandsSet bool
	// conflict says that another program asked for the same updates.
	conflict bool
	// refused says that the service does not accept the bot.
	refused bool
	pauses  *chat.Backoff
	// listener takes the webhook's calls, listenerErr gets the error with which it ends, and
	// secret comes with each call.
	listener    *gateway.Listener
	listenerErr chan error
	secret      atomic.Pointer[webhookSecret]
}

// identify asks the service for the bot's user, and sets the bot's commands.
func (r *receiver) identify(ctx context.Context) error {
	if err := r.getMe(ctx); err != nil {
		r.refused = isUnknownBot(err)
		return err
	}
	if !r.commandsSet {
		err := ask(ctx, r.Telegram, (*bot.Bot).SetMyCommands, &bot.SetMyCommandsParams{Commands: commands}, nil)
		if r.commandsSet = err == nil; err != nil { // they can be typed all the same
			r.config.Log.DebugContext(ctx, "telling Telegram the bot's commands", "error", err)
		}
	}
	return nil
}

// getMe asks for the bot's user.
func (t *Telegram) getMe(ctx context.Context) error {
	var me models.User
	err := ask(ctx, t, withoutParams((*bot.Bot).GetMe), noParams{}, &me)
	if err == nil {
		t.me.Store(&me)
	}
	return err
}

// poll asks for updates until that fails.
func (r *receiver) poll(ctx context.Context) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	if err := ask(ctx, r.Telegram, (*bot.Bot).DeleteWebhook, &bot.DeleteWebhookParams{}, nil); err != nil {
		return fmt.Errorf("taking back a webhook that was left over: %w", err)
	}
	wait, stands := time.Duration(0), false // so that it shows at once whether it works
	if r.conflict {
		wait = r.keep // a short poll would cut the other program off, and succeed
	}
	for {
		updates, err := r.updates(ctx, r.offset, wait)
		if err != nil {
			return r.pollError(err)
		}
		if r.unconfirmed = false; !stands {
			stands = true
			r.inbox.Connected(nil)
		}
		if wait > 0 {
			r.conflict = false
			r.pauses.Reset()
		}
		for _, raw := range updates {
			if ctx.Err() != nil {
				return nil // what is not taken comes again
			}
			if id := r.handle(ctx, raw); id >= r.offset {
				r.offset, r.unconfirmed = id+1, true
			}
		}
		if len(updates) > 0 && !r.unconfirmed {
			return errors.New("reading Telegram's updates: none has a number")
		}
		wait = r.keep
	}
}

// pollError says what an error of a poll means.
func (r *receiver) pollError(err error) error {
	r.refused = isUnknownBot(err)
	var f *apiError
	if r.conflict = errors.As(err, &f) && f.code == http.StatusConflict; r.conflict {
		return fmt.Errorf("another program asks for this bot's updates, or set a webhook for it: stop that one, or get this sidecar a "+
			"bot of its own (%w)", err)
	}
	return err
}

// confirm confirms the updates that were taken, so that they do not come again.
func (r *receiver) confirm(ctx context.Context) {
	if !r.unconfirmed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_, _ = r.updates(ctx, r.offset, 0) // else it comes again, with the same ids
}
