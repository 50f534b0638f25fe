// Package slack is bailiff's app at Slack: it shows messages in channels and direct
// messages, and tells what people write, click and command there.
//
// Slack reaches it in one of two ways. By Socket Mode the app opens a WebSocket, and
// nothing of this machine has to be reachable. By HTTP Slack calls a listener; each call is
// signed, not older than five minutes, and taken once.
//
// What is promised:
//   - A message is made of rich text blocks, in which no text is ever markup: it mentions
//     nobody, links nowhere, formats nothing. What is too long is cut, at the longest
//     piece first, and never refused.
//   - A message whose posting ended uncertainly is looked for, by its key in the metadata
//     of recent messages, before it is posted again. So is the first message with buttons
//     that is posted in a chat since the start, which an earlier life may have left there.
//     What Slack shows only after that look stands twice.
//   - Whatever Slack delivers is acknowledged at once, and what it delivers again has the
//     same Ref. Only what people write is told: no edits, no bots, no system's messages.
//   - A file stands in the thread below its message, for which an edit leaves it alone.
//
// Not here: names of people, for which the app would need another permission. An id is all
// that Slack tells of who writes.
package slack

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Credential reads a secret. It is asked whenever the secret is used, so that it can be
// renewed.
type Credential func() (bailiff.Secret, error)

// Config is what an app needs.
type Config struct {
	// BotToken is the "Bot User OAuth Token" (xoxb-…).
	BotToken Credential
	// AppToken is an app-level token (xapp-…) with connections:write, for Socket Mode.
	AppToken Credential
	// SigningSecret is what Slack signs its calls by, for HTTP.
	SigningSecret Credential
	// Listen is the host:port where Slack's calls come in; empty means Socket Mode.
	Listen string
	// URL is the API's address; empty is Slack's own.
	URL string
	// Approvals is the chat at which Check looks; empty if there is none.
	Approvals string
	// Log hears of what is wrong with a single message; nil is nobody.
	Log *slog.Logger
}

// Slack is the app.
type Slack struct {
	cfg      Config
	api      *caller
	attempts attempts
	shown    shown
	// self is who the app is at Slack, once that is known.
	self    atomic.Pointer[identity]
	silence time.Duration
}

var (
	_ chat.Platform = (*Slack)(nil)
	_ chat.Checker  = (*Slack)(nil)
)

// New makes the app; nothing is asked of Slack yet.
func New(c Config) (*Slack, error) {
	var lacking []string
	if c.BotToken == nil {
		lacking = append(lacking, "BotToken")
	}
	if c.Listen == "" && c.AppToken == nil {
		lacking = append(lacking, "AppToken")
	}
	if c.Listen != "" && c.SigningSecret == nil {
		lacking = append(lacking, "SigningSecret")
	}
	if len(lacking) > 0 {
		return nil, errors.New("slack's config lacks " + strings.Join(lacking, ", "))
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.URL = strings.TrimSuffix(cmp.Or(c.URL, "https://slack.com/api/"), "/") + "/"
	return &Slack{cfg: c, api: newCaller(), silence: silence, attempts: attempts{recent.New[string, *attempt](mostAttempts)}}, nil
}

// Thread is the one that a message begins or is in; nothing needs to be made for it.
func (s *Slack) Thread(_ context.Context, from chat.Ref, _ string) (chat.Place, error) {
	if from.Thread == "" && isMessage(from.Message) {
		return chat.Place{Chat: from.Chat, Thread: from.Message}, nil
	}
	return from.Place, nil
}

// isMessage tells the id of a message, which is a time, from that of a command.
func isMessage(id string) bool {
	seconds, parts, found := strings.Cut(id, ".")
	return found && strings.Trim(seconds, "0123456789") == "" && strings.Trim(parts, "0123456789") == ""
}
