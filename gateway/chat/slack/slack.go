// Package slack is bailiff's app at Slack: it shows messages in channels and direct
// messages, and receives the messages, clicks and slash commands of people.
//
// Slack reaches it in one of two ways. By Socket Mode the app opens a WebSocket, and
// nothing of this machine has to be reachable. By HTTP Slack calls a listener; each call is
// signed, not older than five minutes, and taken once.
//
// What is promised:
//   - A message is made of rich text blocks, in which no text is markup: no mentions, links
//     or formatting. A text that is too long is cut, the longest piece first.
//   - A message whose post ended uncertainly is looked for, by its key in the metadata of
//     recent messages, before it is posted again. So is the first message with buttons in a
//     chat since the start, which an earlier run may have posted. A message that Slack shows
//     only after that look is shown twice.
//   - Each event is acknowledged at once, and one that is delivered again has the same Ref.
//     Only messages of people are handed on: no edits, bots or system messages.
//   - A file stands in the thread below its message, for which an edit leaves it alone.
//
// Not here: names of people, for which the app would need another permission. Slack names
// the writer of a message by id alone.
package slack

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config/required"
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
	// Log gets problems with single messages; may be nil.
	Log *slog.Logger
}

// Slack is the app.
type Slack struct {
	cfg        Config
	api        *httpClient
	deliveries deliveries
	history    history
	// self is the app's identity at Slack, once it is known.
	self    atomic.Pointer[identity]
	silence time.Duration
}

var (
	_ chat.Platform = (*Slack)(nil)
	_ chat.Checker  = (*Slack)(nil)
)

// New makes the app; nothing is asked of Slack yet.
func New(c Config) (*Slack, error) {
	if err := required.Fields("slack", map[string]bool{"BotToken": c.BotToken == nil,
		"AppToken": c.Listen == "" && c.AppToken == nil, "SigningSecret": c.Listen != "" && c.SigningSecret == nil}); err != nil {
		return nil, err
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.URL = strings.TrimSuffix(cmp.Or(c.URL, "https://slack.com/api/"), "/") + "/"
	return &Slack{cfg: c, api: newHTTPClient(), silence: silence, deliveries: deliveries{recent.New[string, *delivery](maxDeliveries)}}, nil
}

// Thread is the thread that a message starts or is in; Slack needs no call for it.
func (s *Slack) Thread(_ context.Context, from chat.Ref, _ string) (chat.Place, error) {
	if from.Thread == "" && isMessage(from.Message) {
		return chat.Place{Chat: from.Chat, Thread: from.Message}, nil
	}
	return from.Place, nil
}

// isMessage says whether an id is a message's, which is a time, and not a command's.
func isMessage(id string) bool {
	seconds, parts, found := strings.Cut(id, ".")
	return found && strings.Trim(seconds, "0123456789") == "" && strings.Trim(parts, "0123456789") == ""
}
