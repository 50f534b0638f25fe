package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// listener is the state of one Run.
type listener struct {
	d       *Discord
	in      chat.Inbox
	session session
	// work is done beside the connection.
	work *chat.Background

	// me is the bot's user, app its application.
	me, app string
	// roles are those that Discord made for the bot.
	roles map[string]bool
	channels
	registering bool
}

func newListener(d *Discord, in chat.Inbox) *listener {
	return &listener{d: d, in: in, work: chat.NewBackground(maxInFlight, d.cfg.Log, handlingPanicked), roles: map[string]bool{},
		channels: newChannels(d)}
}

// maxInFlight interactions are handled at once. One beyond that is dropped: Discord shows
// the person that it failed.
const maxInFlight = 1000

// handlingPanicked names in the log what panicked.
const handlingPanicked = "handling what Discord told panicked"

// handle takes an event, in the connection's only goroutine. An event that cannot be read
// changes nothing.
func (l *listener) handle(ctx context.Context, event string, data json.RawMessage) {
	defer chat.LogPanic(l.d.cfg.Log, handlingPanicked)
	switch event {
	case "READY":
		l.onReady(ctx, data)
	case "GUILD_CREATE":
		l.onGuild(data)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
		if e, is := read[struct{ Role role }](data); is {
			l.role(e.Role)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		if c, is := read[channelData](data); is {
			l.channels.put(c)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		if c, is := read[channelData](data); is {
			l.channels.remove(c.ID)
		}
	case "MESSAGE_CREATE":
		if m, is := read[messageData](data); is && m.isWritten() {
			l.onMessage(ctx, m)
		}
	case "INTERACTION_CREATE":
		if i, is := read[interaction](data); is {
			l.work.TrySpawn(func() { l.onInteraction(ctx, i) })
		}
	}
}

// read decodes the fields of an event that are used: what Discord changes in others must not
// cost a message.
func read[T any](data json.RawMessage) (value T, is bool) {
	return value, json.Unmarshal(data, &value) == nil
}

func (l *listener) onReady(ctx context.Context, data json.RawMessage) {
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
			defer chat.LogPanic(l.d.cfg.Log, handlingPanicked)
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

// onGuild takes in a server's roles and channels when a session begins.
func (l *listener) onGuild(data json.RawMessage) {
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
		l.channels.put(c)
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

// isWritten says whether a person wrote the message.
func (m messageData) isWritten() bool {
	return m.Author.ID != "" && !m.Author.Bot && !m.Author.System && m.WebhookID == "" && m.Content != "" &&
		(m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply)
}

// onMessage hands on a message as soon as the kind of its channel is known.
func (l *listener) onMessage(ctx context.Context, m messageData) {
	said := chat.Said{By: m.Author.person()}
	said.Message = m.ID
	said.Text, said.Mentioned = l.unmention(m)
	tell := func(w channelPlace) {
		said.Place, said.Kind = w.Place, w.kind
		l.in.Said(ctx, said)
	}
	if m.GuildID == "" {
		tell(channelPlace{chat.Place{Chat: m.ChannelID}, "dm"})
		return
	}
	if l.channels.withPlace(m.ChannelID, tell) {
		l.work.Go(func() {
			defer chat.LogPanic(l.d.cfg.Log, handlingPanicked)
			l.channels.ask(ctx, m.ChannelID)
		})
	}
}

// unmention removes the first mention of the bot or of its role from a text. The mention
// that a reply makes by itself does not count.
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
