package telegram

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// updateBytes bounds an update that the service calls with.
const updateBytes = 1 << 20

// secrets are those that the service can send along.
var secrets = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// receiveByWebhook has the service call, and looks now and then whether it can.
func (r *receiver) receiveByWebhook(ctx context.Context) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.setWebhook(ctx); err != nil {
		return fmt.Errorf("setting the webhook: %w", err)
	}
	info, err := r.webhookInfo(ctx)
	if err != nil {
		return err
	}
	r.pauses.Reset()
	r.inbox.Connected(nil)
	return r.watchWebhook(ctx, info.LastErrorDate)
}

// open reads the secret, and listens.
func (r *receiver) open(ctx context.Context) error {
	secret, err := r.config.Webhook.Secret()
	if err != nil {
		return fmt.Errorf("reading the webhook's secret: %w", err)
	}
	if !secrets.MatchString(secret.Reveal()) {
		r.refused = true
		return &chat.Refused{Reason: "the webhook's secret cannot be one: want up to 256 letters, digits, - and _"}
	}
	sum := sha256.Sum256([]byte(secret.Reveal()))
	r.secret.Store(&webhookSecret{secret, sum})
	return r.listen(ctx)
}

const maxConnections, maxCalls = 256, 64

// listen opens the listener, unless it is open; one that failed is opened again.
func (r *receiver) listen(ctx context.Context) error {
	select {
	case err := <-r.listenerErr:
		_ = r.listenerFailed(ctx, err)
	default:
	}
	if r.listener != nil {
		return nil
	}
	listener, err := gateway.Open(gateway.ListenerConfig{
		Name: "telegram", Network: "tcp", Address: r.config.Webhook.Listen, Login: true, Log: r.config.Log,
		MaxConnections: maxConnections, MaxRequests: maxCalls,
	}, r.webhookHandler(ctx))
	if err != nil {
		return err
	}
	r.listener, r.listenerErr = listener, make(chan error, 1)
	go func(shut chan<- error) { shut <- listener.Serve() }(r.listenerErr)
	return nil
}

var errListenerClosed = errors.New("the listener for Telegram's calls fell shut")

// listenerFailed closes a listener that takes no more calls.
func (r *receiver) listenerFailed(ctx context.Context, err error) error {
	r.config.Log.WarnContext(ctx, "the listener for Telegram's calls fell shut", "error", err)
	r.close(ctx)
	r.listener, r.listenerErr = nil, nil
	if err == nil {
		return errListenerClosed
	}
	return fmt.Errorf("%w: %w", errListenerClosed, err)
}

// webhookSecret is what the service sends along.
type webhookSecret struct {
	secret bailiff.Secret
	sum    [sha256.Size]byte
}

func (s *webhookSecret) is(given []string) bool {
	if len(given) != 1 {
		return false
	}
	sum := sha256.Sum256([]byte(given[0]))
	return subtle.ConstantTimeCompare(sum[:], s.sum[:]) == 1
}

// close takes no more calls, and lets those that run finish.
func (r *receiver) close(ctx context.Context) {
	if r.listener == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := r.listener.Shutdown(ctx); err != nil {
		r.config.Log.Debug("closing the listener for Telegram's calls", "error", err)
	}
}

// webhookHandler takes the service's calls. The answer is yes once the inbox took the update, and
// also for one that cannot be read: it would come again and again.
func (r *receiver) webhookHandler(ctx context.Context) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "want POST", http.StatusMethodNotAllowed)
			return
		}
		if !r.secret.Load().is(q.Header["X-Telegram-Bot-Api-Secret-Token"]) {
			http.Error(w, "want the secret token", http.StatusUnauthorized)
			return
		}
		if ctx.Err() != nil {
			http.Error(w, "closing; send it again", http.StatusServiceUnavailable)
			return
		}
		update, err := io.ReadAll(http.MaxBytesReader(w, q.Body, updateBytes))
		if err != nil {
			http.Error(w, "the update cannot be read", http.StatusBadRequest)
			return
		}
		r.handle(ctx, update)
	})
}

func (r *receiver) setWebhook(ctx context.Context) error {
	return ask(ctx, r.Telegram, (*bot.Bot).SetWebhook, &bot.SetWebhookParams{
		URL: r.config.Webhook.URL, AllowedUpdates: allowedUpdates, SecretToken: r.secret.Load().secret.Reveal()}, nil)
}

func (t *Telegram) webhookInfo(ctx context.Context) (info models.WebhookInfo, err error) {
	err = ask(ctx, t, withoutParams((*bot.Bot).GetWebhookInfo), noParams{}, &info)
	return info, err
}

// watchWebhook checks the webhook until another program removes it. A failed call is reported when
// it is later than the last one seen; all is well again when nothing waits.
func (r *receiver) watchWebhook(ctx context.Context, seen int) error {
	ill := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.listenerErr:
			return r.listenerFailed(ctx, err)
		case <-time.After(r.look):
		}
		info, err := r.webhookInfo(ctx)
		switch {
		case err != nil:
			return err
		case info.URL != r.config.Webhook.URL:
			return errors.New("somebody took the bot's webhook away: only one program may have it, so stop the other one")
		case info.LastErrorDate != seen && info.PendingUpdateCount > 0:
			ill, seen = true, info.LastErrorDate
			r.inbox.Connected(unreachable(info))
		case ill && info.PendingUpdateCount == 0:
			ill = false
			r.inbox.Connected(nil)
		}
	}
}

func unreachable(info models.WebhookInfo) error {
	return fmt.Errorf("Telegram cannot call %s: %s; %d updates wait", info.URL, bailiff.Foreign(info.LastErrorMessage),
		info.PendingUpdateCount)
}
