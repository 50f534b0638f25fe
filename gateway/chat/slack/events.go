package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// identity is who the app is.
type identity struct{ user, team, enterprise string }

// identify asks Slack who the app is.
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

// me is who the app is, asked for if that is not known yet.
func (s *Slack) me(ctx context.Context) (identity, error) {
	if s.self.Load() == nil {
		if err := s.identify(ctx); err != nil {
			return identity{}, err
		}
	}
	return *s.self.Load(), nil
}

// ear hands on what Slack delivers, during one Run.
type ear struct {
	*Slack
	in chat.Inbox
	// under way are what is answered to Slack before it is done.
	underWay sync.WaitGroup
	slots    chan struct{}
}

// mostUnderWay bounds how many answers of people are worked on at once, and aloneTime how
// long telling one of them something may take: nobody tries that again.
const (
	mostUnderWay = 256
	aloneTime    = 10 * time.Second
)

func (s *Slack) newEar(in chat.Inbox) *ear {
	return &ear{Slack: s, in: in, slots: make(chan struct{}, mostUnderWay)}
}

// aside does something that takes longer than Slack waits.
func (e *ear) aside(do func()) {
	e.slots <- struct{}{}
	e.underWay.Go(func() {
		defer func() { <-e.slots }()
		defer e.survive()
		do()
	})
}

// survive keeps one message from ending it all.
func (e *ear) survive() {
	if cause := recover(); cause != nil {
		e.cfg.Log.Error("handling what Slack delivered panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}

// delivery is what Slack's Events API delivers.
type delivery struct {
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

// isOurs tells this installation of the app from one in another workspace, where the same
// id may be somebody else's.
func (d delivery) isOurs(me identity) bool {
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

// message is what somebody wrote.
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

// delivered hands on what somebody wrote, and leaves everything else be.
func (e *ear) delivered(ctx context.Context, text []byte) {
	defer e.survive()
	me := e.self.Load()
	var d delivery
	var m message
	if json.Unmarshal(text, &d) != nil || me == nil || !d.isOurs(*me) || json.Unmarshal(d.Event, &m) != nil || !m.isSaid(me.user) {
		return
	}
	said, mentioned := typed(m.Text, me.user)
	at := chat.Place{Chat: m.Channel, Thread: m.ThreadTS}
	if m.ThreadTS == m.TS {
		at.Thread = ""
	}
	e.in.Said(ctx, chat.Said{
		Ref:       chat.Ref{Place: at, Message: m.TS},
		Kind:      kindOf(m.ChannelType, at),
		By:        chat.Person{ID: m.User},
		Text:      said,
		Mentioned: mentioned || m.Type == "app_mention",
		Ephemeral: e.alone(at, m.User),
	})
}

// isSaid says whether a person wrote it just now.
func (m message) isSaid(self string) bool {
	return slices.Contains([]string{"message", "app_mention"}, m.Type) &&
		slices.Contains([]string{"", "file_share", "thread_broadcast"}, m.Subtype) &&
		m.Channel != "" && isMessage(m.TS) && (m.ThreadTS == "" || isMessage(m.ThreadTS)) &&
		m.Edited == nil && !m.Hidden && m.isPersons(self)
}

// isPersons says whether it is a person's, neither a program's nor Slack's own.
func (m message) isPersons(self string) bool {
	return m.Bot == "" && m.User != "" && m.User != self && m.User != "USLACKBOT"
}

// kindOf is the kind of conversation; Slack says nothing of it with a mention.
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

// command is what somebody chose of the app's own commands.
type command struct {
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

// commandOf reads one as it comes by HTTP.
func commandOf(form url.Values) command {
	return command{form.Get("team_id"), form.Get("enterprise_id"), form.Get("is_enterprise_install"), form.Get("channel_id"), form.Get("channel_name"),
		form.Get("user_id"), form.Get("user_name"), form.Get("command"), form.Get("text"), form.Get("response_url"), form.Get("trigger_id")}
}

// commands are the words of /bailiff.
var commands = []string{"status", "stop", "new", "approvals", "help"}

// commanded hands on a command. It is not shown to anybody, so its id is one that Slack
// gives to the answer that it may get.
func (e *ear) commanded(ctx context.Context, c command) {
	defer e.survive()
	me := e.self.Load()
	if me == nil || c.User == "" || c.Chat == "" || c.Trigger == "" || !c.isOurs(*me) {
		return
	}
	answer := func(ctx context.Context, t chat.Text) error { return e.respond(ctx, c, t) }
	word := strings.ToLower(strings.TrimSpace(c.Text))
	if !slices.Contains(commands, word) {
		usage := fmt.Sprintf("Say %s with one of: %s.", c.Command, strings.Join(commands, ", "))
		e.aside(func() { e.tell(ctx, answer, chat.Text{{Text: usage}}) })
		return
	}
	at := chat.Place{Chat: c.Chat}
	e.in.Said(ctx, chat.Said{
		Ref: chat.Ref{Place: at, Message: "command." + c.Trigger}, Kind: kindOf(c.kind(), at),
		By: chat.Person{ID: c.User, Name: c.UserName}, Text: "/" + word, Mentioned: true, SlashCommand: true, Ephemeral: answer,
	})
}

func (c command) isOurs(me identity) bool {
	return c.Team == me.team || fmt.Sprint(c.OfAll) == "true" && me.enterprise != "" && c.Enterprise == me.enterprise
}

// kind is what can be told of a chat by its name.
func (c command) kind() string {
	if strings.HasPrefix(c.ChatName, "mpdm-") {
		return "mpim"
	}
	return ""
}

// tell tells somebody something alone, once, and writes down if they were not told.
func (e *ear) tell(ctx context.Context, whisper func(context.Context, chat.Text) error, text chat.Text) {
	ctx, cancel := context.WithTimeout(ctx, aloneTime)
	defer cancel()
	if err := whisper(ctx, text); err != nil {
		e.cfg.Log.Info("somebody at Slack was not told what became of their answer", "error", bailiff.Sentence(err.Error()))
	}
}

// alone is how to tell somebody something in a chat.
func (s *Slack) alone(at chat.Place, to string) func(context.Context, chat.Text) error {
	return func(ctx context.Context, t chat.Text) error { return s.whisper(ctx, at, to, t) }
}
