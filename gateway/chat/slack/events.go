package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// identity is the app's user in its workspace.
type identity struct{ user, team, enterprise string }

// identify asks Slack for the app's identity.
func (s *Slack) identify(ctx context.Context) error {
	c, err := s.begin()
	if err != nil {
		return err
	}
	me, err := c.AuthTestContext(ctx)
	if err == nil && me.UserID == "" {
		err = errAnswer
	}
	if err != nil {
		return c.fault("asking slack who the app is", err)
	}
	s.self.Store(&identity{me.UserID, me.TeamID, me.EnterpriseID})
	return nil
}

// me is the app's identity, asked for if it is not known yet.
func (s *Slack) me(ctx context.Context) (identity, error) {
	if s.self.Load() == nil {
		if err := s.identify(ctx); err != nil {
			return identity{}, err
		}
	}
	return *s.self.Load(), nil
}

// receiver hands on Slack's events during one Run.
type receiver struct {
	*Slack
	in chat.Inbox
	// inFlight is work on events that are acknowledged already.
	inFlight *chat.Background
}

// maxInFlight answers of people are worked on at once. replyTimeout is how long one reply
// may take, which is tried once.
const (
	handlingPanicked = "handling what Slack delivered panicked"
	maxInFlight      = 256
	replyTimeout     = 10 * time.Second
)

func (s *Slack) newReceiver(in chat.Inbox) *receiver {
	return &receiver{Slack: s, in: in, inFlight: chat.NewBackground(maxInFlight, s.cfg.Log, handlingPanicked)}
}

// eventCallback is an event of Slack's Events API.
type eventCallback struct {
	Type           string          `json:"type"`
	Challenge      string          `json:"challenge"`
	Team           string          `json:"team_id"`
	Event          json.RawMessage `json:"event"`
	Authorizations []struct {
		User       string `json:"user_id"`
		Team       string `json:"team_id"`
		Enterprise string `json:"enterprise_id"`
		OfAll      bool   `json:"is_enterprise_install"`
	} `json:"authorizations"`
}

// isOurs says whether an event is for this installation of the app: in another workspace
// the same id may be another user's.
func (d eventCallback) isOurs(me identity) bool {
	if d.Team == me.team {
		return true
	}
	for _, a := range d.Authorizations {
		if a.User == me.user || a.Team == me.team || a.OfAll && me.enterprise != "" && a.Enterprise == me.enterprise {
			return true
		}
	}
	return false
}

// message is a message event.
type message struct {
	Type        string    `json:"type"`
	Subtype     string    `json:"subtype"`
	Channel     string    `json:"channel"`
	ChannelType string    `json:"channel_type"`
	User        string    `json:"user"`
	Bot         string    `json:"bot_id"`
	Text        string    `json:"text"`
	TS          string    `json:"ts"`
	ThreadTS    string    `json:"thread_ts"`
	Edited      *struct{} `json:"edited"`
	Hidden      bool      `json:"hidden"`
}

// onEvent hands on messages of people, and ignores all other events.
func (r *receiver) onEvent(ctx context.Context, text []byte) {
	defer chat.LogPanic(r.cfg.Log, handlingPanicked)
	me := r.self.Load()
	var d eventCallback
	var m message
	if json.Unmarshal(text, &d) != nil || me == nil || !d.isOurs(*me) || json.Unmarshal(d.Event, &m) != nil || !m.isNew(me.user) {
		return
	}
	said, mentioned := typedText(m.Text, me.user)
	at := chat.Place{Chat: m.Channel, Thread: m.ThreadTS}
	if m.ThreadTS == m.TS {
		at.Thread = ""
	}
	r.in.Said(ctx, chat.Said{
		Ref:       chat.Ref{Place: at, Message: m.TS},
		Kind:      kindOf(m.ChannelType, at),
		By:        chat.Person{ID: m.User},
		Text:      said,
		Mentioned: mentioned || m.Type == "app_mention",
		Ephemeral: r.ephemeralTo(at, m.User),
	})
}

// isNew says whether it is a new message of a person.
func (m message) isNew(self string) bool {
	return slices.Contains([]string{"message", "app_mention"}, m.Type) &&
		slices.Contains([]string{"", "file_share", "thread_broadcast"}, m.Subtype) &&
		m.Channel != "" && isMessage(m.TS) && (m.ThreadTS == "" || isMessage(m.ThreadTS)) &&
		m.Edited == nil && !m.Hidden && m.isFromPerson(self)
}

// isFromPerson says whether the writer is neither a program nor Slack itself.
func (m message) isFromPerson(self string) bool {
	return m.Bot == "" && m.User != "" && m.User != self && m.User != "USLACKBOT"
}

// kindOf is the kind of conversation; app_mention events do not state it.
func kindOf(channelType string, at chat.Place) string {
	switch {
	case channelType == "im" || strings.HasPrefix(at.Chat, "D"):
		return "dm"
	case at.Thread != "":
		return "thread"
	case channelType == "mpim":
		return "group"
	}
	return "channel"
}

// slashCommand is a command of the app that a person chose.
type slashCommand struct {
	Team        string `json:"team_id"`
	Enterprise  string `json:"enterprise_id"`
	OfAll       any    `json:"is_enterprise_install"` // true or "true" if the app is installed in all of an enterprise
	Chat        string `json:"channel_id"`
	ChatName    string `json:"channel_name"`
	User        string `json:"user_id"`
	UserName    string `json:"user_name"`
	Command     string `json:"command"`
	Text        string `json:"text"`
	ResponseURL string `json:"response_url"`
	Trigger     string `json:"trigger_id"`
}

// commandOf reads a command from an HTTP form.
func commandOf(form url.Values) slashCommand {
	return slashCommand{form.Get("team_id"), form.Get("enterprise_id"), form.Get("is_enterprise_install"), form.Get("channel_id"),
		form.Get("channel_name"),
		form.Get("user_id"), form.Get("user_name"), form.Get("command"), form.Get("text"), form.Get("response_url"), form.Get("trigger_id")}
}

// onCommand hands on a command. It is not shown as a message, so its id is its trigger's.
func (r *receiver) onCommand(ctx context.Context, c slashCommand) {
	defer chat.LogPanic(r.cfg.Log, handlingPanicked)
	me := r.self.Load()
	if me == nil || c.User == "" || c.Chat == "" || c.Trigger == "" || !c.isOurs(*me) {
		return
	}
	answer := func(ctx context.Context, t chat.Text) error { return r.respond(ctx, c, t) }
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	if word = strings.ToLower(word); !chat.IsCommand(word) || rest != "" && !chat.HasArgument(word) {
		usage := fmt.Sprintf("Say %s with one of: %s.", c.Command, strings.Join(chat.CommandNames(), ", "))
		r.inFlight.Spawn(func() { r.reply(ctx, answer, chat.Text{{Text: usage}}) })
		return
	}
	at := chat.Place{Chat: c.Chat}
	r.in.Said(ctx, chat.Said{
		Ref: chat.Ref{Place: at, Message: "command." + c.Trigger}, Kind: kindOf(c.kind(), at),
		By: chat.Person{ID: c.User, Name: c.UserName}, Text: strings.TrimSpace("/" + word + " " + rest), Mentioned: true,
		SlashCommand: true, Ephemeral: answer,
	})
}

func (c slashCommand) isOurs(me identity) bool {
	return c.Team == me.team || fmt.Sprint(c.OfAll) == "true" && me.enterprise != "" && c.Enterprise == me.enterprise
}

// kind is the kind of chat as far as its name states it.
func (c slashCommand) kind() string {
	if strings.HasPrefix(c.ChatName, "mpdm-") {
		return "mpim"
	}
	return ""
}

// reply sends an ephemeral message, once, and logs if that fails.
func (r *receiver) reply(ctx context.Context, whisper func(context.Context, chat.Text) error, text chat.Text) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	if err := whisper(ctx, text); err != nil {
		r.cfg.Log.Info("somebody at Slack was not told what became of their answer", "error", bailiff.Sentence(err.Error()))
	}
}

// ephemeralTo returns a function that posts ephemeral messages to a person in a chat.
func (s *Slack) ephemeralTo(at chat.Place, to string) func(context.Context, chat.Text) error {
	return func(ctx context.Context, t chat.Text) error { return s.postEphemeral(ctx, at, to, t) }
}
