package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// listener is what Run knows.
type listener struct {
	d       *Discord
	in      chat.Inbox
	session session
	// work is under way besides the connection, under counts what people made of it.
	work  sync.WaitGroup
	under atomic.Int32

	// me is the bot's user, app its application.
	me, app string
	// roles are those that Discord made for the bot.
	roles map[string]bool
	places
	registering bool
}

func newListener(d *Discord, in chat.Inbox) *listener {
	return &listener{d: d, in: in, roles: map[string]bool{}, places: newPlaces(d)}
}

// mostUnderWay bounds what is under way of what people did, which is nothing if it is too
// much: who clicked then sees that it failed.
const mostUnderWay = 1000

// spawn does something besides the connection.
func (l *listener) spawn(ctx context.Context, do func()) {
	if l.under.Add(1) > mostUnderWay {
		l.under.Add(-1)
		return
	}
	l.work.Go(func() {
		defer l.under.Add(-1)
		defer l.survive(ctx)
		do()
	})
}

// survive ends a panic.
func (l *listener) survive(ctx context.Context) {
	if cause := recover(); cause != nil {
		l.d.cfg.Log.ErrorContext(ctx, "handling what Discord told panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}

// handle takes an event, in the connection's only goroutine: one that makes no sense
// changes nothing.
func (l *listener) handle(ctx context.Context, event string, data json.RawMessage) {
	defer l.survive(ctx)
	switch event {
	case "READY":
		l.ready(ctx, data)
	case "GUILD_CREATE":
		l.server(data)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
		if e, is := read[struct{ Role role }](data); is {
			l.role(e.Role)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		if c, is := read[channelData](data); is {
			l.places.learn(c)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		if c, is := read[channelData](data); is {
			l.places.forget(c.ID)
		}
	case "MESSAGE_CREATE":
		if m, is := read[messageData](data); is && m.isWritten() {
			l.message(ctx, m)
		}
	case "INTERACTION_CREATE":
		if i, is := read[interaction](data); is {
			l.spawn(ctx, func() { l.interaction(ctx, i) })
		}
	}
}

// read decodes what of an event is used here, and nothing else: what Discord adds or
// changes elsewhere in it must not cost a message.
func read[T any](data json.RawMessage) (value T, is bool) {
	return value, json.Unmarshal(data, &value) == nil
}

func (l *listener) ready(ctx context.Context, data json.RawMessage) {
	r, is := read[struct {
		SessionID string `json:"session_id"`
		URL       string `json:"resume_gateway_url"`
		User      struct{ ID string }
		App       struct{ ID string } `json:"application"`
	}](data)
	if !is {
		return
	}
	l.session.id, l.session.url = r.SessionID, r.URL
	l.me, l.app = r.User.ID, r.App.ID
	if !l.registering {
		l.registering = true
		l.work.Go(func() {
			defer l.survive(ctx)
			l.d.register(ctx, r.App.ID)
		})
	}
}

type role struct {
	ID   string
	Tags struct {
		Bot string `json:"bot_id"`
	}
}

func (l *listener) role(r role) {
	if r.Tags.Bot != "" && r.Tags.Bot == l.me {
		l.roles[r.ID] = true
	}
}

// server learns what Discord tells of a server when a session begins.
func (l *listener) server(data json.RawMessage) {
	s, is := read[struct {
		Roles             []role
		Channels, Threads []channelData
	}](data)
	if !is {
		return
	}
	for _, r := range s.Roles {
		l.role(r)
	}
	for _, c := range slices.Concat(s.Channels, s.Threads) {
		l.places.learn(c)
	}
}

type userData struct {
	ID, Username string
	GlobalName   string `json:"global_name"`
	Bot, System  bool
}

func (u userData) person() chat.Person {
	return chat.Person{ID: u.ID, Name: cmp.Or(u.GlobalName, u.Username)}
}

type messageData struct {
	ID        string
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id"`
	WebhookID string `json:"webhook_id"`
	Type      discordgo.MessageType
	Content   string
	Author    userData
	Mentions  []userData
	Roles     []string `json:"mention_roles"`
}

// isWritten says that a person wrote something.
func (m messageData) isWritten() bool {
	return m.Author.ID != "" && !m.Author.Bot && !m.Author.System && m.WebhookID == "" && m.Content != "" &&
		(m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply)
}

// message tells of one as soon as it is known what kind of place it is in.
func (l *listener) message(ctx context.Context, m messageData) {
	said := chat.Said{By: m.Author.person()}
	said.Message = m.ID
	said.Text, said.Mentioned = l.unmention(m)
	tell := func(w where) {
		said.Place, said.Kind = w.Place, w.kind
		l.in.Said(ctx, said)
	}
	if m.GuildID == "" {
		tell(where{chat.Place{Chat: m.ChannelID}, "dm"})
		return
	}
	if l.places.when(m.ChannelID, tell) {
		l.work.Go(func() {
			defer l.survive(ctx)
			l.places.ask(ctx, m.ChannelID)
		})
	}
}

// unmention is what was written without the mention of the bot, or of the role that it
// has, where it is first mentioned. What a reply mentions without words is no mention.
func (l *listener) unmention(m messageData) (text string, mentioned bool) {
	var marks []string
	for _, u := range m.Mentions {
		if u.ID == l.me {
			marks = append(marks, "<@"+l.me+">", "<@!"+l.me+">")
		}
	}
	for _, id := range m.Roles {
		if l.roles[id] {
			marks = append(marks, "<@&"+id+">")
		}
	}
	first, mark := len(m.Content), ""
	for _, s := range marks {
		if at := strings.Index(m.Content, s); at >= 0 && at < first {
			first, mark = at, s
		}
	}
	return strings.TrimSpace(m.Content[:first] + m.Content[first+len(mark):]), mark != ""
}
