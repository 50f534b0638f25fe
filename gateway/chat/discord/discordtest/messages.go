package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// Message is one of the bot's, as people see it.
type Message struct {
	ID string
	// Text is what they read, Source what the bot wrote so that they do.
	Text, Source string
	// Buttons are their labels.
	Buttons []string
	// File goes along with it; nil if none does.
	File *File
	// Edits counts how often it was replaced.
	Edits int
}

// File is one that goes along with a message.
type File struct{ Name, Content string }

type message struct {
	id, author, content string
	at                  time.Time
	flags               int
	rows                []component
	file                *File
	edits               int
}

type component struct {
	Type        int         `json:"type"`
	Components  []component `json:"components,omitempty"`
	Style       int         `json:"style,omitempty"`
	Label       string      `json:"label,omitempty"`
	CustomID    string      `json:"custom_id,omitempty"`
	Disabled    bool        `json:"disabled,omitempty"`
	Placeholder string      `json:"placeholder,omitempty"`
	Required    *bool       `json:"required,omitempty"`
	MaxLength   int         `json:"max_length,omitempty"`
	Value       string      `json:"value,omitempty"`
}

func (c *channel) message(id string) *message {
	for _, m := range c.messages {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (m *message) seen() Message {
	seen := Message{ID: m.id, Text: Plain(m.content), Source: m.content, File: m.file, Edits: m.edits}
	for _, row := range m.rows {
		for _, b := range row.Components {
			seen.Buttons = append(seen.Buttons, b.Label)
		}
	}
	return seen
}

func (m *message) json(in *channel) map[string]any {
	all := map[string]any{
		"id": m.id, "channel_id": in.id, "author": user(m.author), "content": m.content, "type": 0, "flags": m.flags,
		"timestamp": m.at.Format(time.RFC3339), "edited_timestamp": nil, "tts": false, "pinned": false, "mention_everyone": false,
		"mentions": mentions(m.content), "mention_roles": mentionRoles(m.content), "attachments": []any{}, "embeds": []any{},
		"components": m.rows,
	}
	if m.rows == nil {
		all["components"] = []any{}
	}
	return all
}

func mentions(content string) []any {
	all := []any{}
	if strings.Contains(content, "<@"+Bot+">") || strings.Contains(content, "<@!"+Bot+">") {
		all = append(all, user(Bot))
	}
	return all
}

func mentionRoles(content string) []string {
	if strings.Contains(content, "<@&"+Role+">") {
		return []string{Role}
	}
	return []string{}
}

// written is a message as a bot gives it.
type written struct {
	Content         *string      `json:"content"`
	Components      *[]component `json:"components"`
	AllowedMentions *struct {
		Parse       []string `json:"parse"`
		RepliedUser bool     `json:"replied_user"`
	} `json:"allowed_mentions"`
	Flags        int    `json:"flags"`
	Nonce        string `json:"nonce"`
	EnforceNonce bool   `json:"enforce_nonce"`
	Attachments  []struct {
		ID       int    `json:"id"`
		Filename string `json:"filename"`
	} `json:"attachments"`
}

const (
	suppressEmbeds = 1 << 2
	ephemeral      = 1 << 6
)

// judge says what Discord would refuse, and fails the test for what a bot must not do.
func (s *Server) judge(in written, file *File) {
	content := ""
	if in.Content != nil {
		content = strings.TrimSpace(*in.Content)
	}
	switch {
	case characters(content) > 2000:
		panic(invalid("content: Must be 2000 or fewer in length."))
	case content == "" && file == nil:
		panic(emptyMessage)
	case len(in.Nonce) > 25:
		panic(invalid("nonce: Must be 25 or fewer in length."))
	case in.Flags&^(suppressEmbeds|ephemeral) != 0:
		panic(invalid("flags: unknown"))
	}
	if in.AllowedMentions == nil || in.AllowedMentions.Parse == nil || len(in.AllowedMentions.Parse) > 0 || in.AllowedMentions.RepliedUser {
		s.tb.Errorf("a message may mention somebody: %q", content)
	}
	if in.Flags&suppressEmbeds == 0 {
		s.tb.Errorf("a message's links would be unfurled: %q", content)
	}
	if in.Components != nil {
		judgeRows(*in.Components)
	}
}

func judgeRows(all []component) {
	if len(all) > 5 {
		panic(invalid("components: Must be 5 or fewer in length."))
	}
	known := map[string]bool{}
	for _, row := range all {
		if row.Type != 1 || len(row.Components) < 1 || len(row.Components) > 5 {
			panic(invalid("components: rows of 1 to 5"))
		}
		for _, b := range row.Components {
			switch {
			case b.Type != 2 || b.Style < 1 || b.Style > 4:
				panic(invalid("components: not a button"))
			case b.Label == "" || characters(b.Label) > 80:
				panic(invalid("components.label: Must be between 1 and 80 in length."))
			case b.CustomID == "" || characters(b.CustomID) > 100:
				panic(invalid("components.custom_id: Must be between 1 and 100 in length."))
			case known[b.CustomID]:
				panic(invalid("components: Component custom id cannot be duplicated"))
			}
			known[b.CustomID] = true
		}
	}
}

func (s *Server) postMessage(r *http.Request, body []byte) any {
	c := s.channel(r)
	in, file := s.payload(r, body)
	s.mayPost(c, file)
	s.judge(in, file)
	if m := s.nonces[in.Nonce]; m != nil && in.EnforceNonce && time.Since(m.at) < nonceTime {
		return m.json(c)
	}
	m := &message{id: s.newID(), author: Bot, at: time.Now(), content: strings.TrimSpace(*in.Content), flags: in.Flags, file: file}
	if in.Components != nil {
		m.rows = *in.Components
	}
	if in.Nonce != "" {
		s.nonces[in.Nonce] = m
	}
	s.put(c, m)
	return m.json(c)
}

func (s *Server) mayPost(c *channel, file *File) {
	needs := SendMessages
	if c.isThread() {
		needs = SendMessagesInThreads
	}
	if file != nil {
		needs |= AttachFiles
	}
	s.may(c, needs)
}

// put shows a message and tells of it.
func (s *Server) put(c *channel, m *message) {
	c.messages = append(c.messages, m)
	told := m.json(c)
	needs := intentDirectMessages
	if c.kind != dmChannel {
		told["guild_id"], needs = Guild, intentGuildMessages
		told["member"] = map[string]any{"roles": []string{}}
	}
	s.tell("MESSAGE_CREATE", told, needs)
}

func (s *Server) patchMessage(r *http.Request, body []byte) any {
	c := s.channel(r)
	m := c.message(r.PathValue("message"))
	switch {
	case m == nil:
		panic(unknownMessage)
	case m.author != Bot:
		panic(notAnothers)
	}
	in := read[written](s, r, body)
	s.judge(in, m.file)
	m.edits++
	if in.Content != nil {
		m.content = strings.TrimSpace(*in.Content)
	}
	if in.Components != nil {
		m.rows = *in.Components
	}
	s.tell("MESSAGE_UPDATE", m.json(c), intentGuildMessages)
	return m.json(c)
}

// Delete takes a message away, as its channel's moderators may.
func (s *Server) Delete(channel, id string) {
	s.Lock()
	defer s.Unlock()
	c := s.channels[channel]
	c.messages = slices.DeleteFunc(c.messages, func(m *message) bool { return m.id == id })
	s.Wake()
}

// Shown are the bot's messages in a channel or thread, the oldest first.
func (s *Server) Shown(channel string) []Message {
	s.Lock()
	defer s.Unlock()
	return s.shown(channel)
}

func (s *Server) shown(channel string) (all []Message) {
	c := s.channels[channel]
	if c == nil {
		return nil
	}
	for _, m := range c.messages {
		if m.author == Bot {
			all = append(all, m.seen())
		}
	}
	return all
}

// Await waits until what is shown in a channel or thread is as it should be, and returns
// it; a test in which it does not come to be has failed.
func (s *Server) Await(channel string, is func([]Message) bool) (all []Message) {
	s.tb.Helper()
	what := func() string {
		text, _ := json.MarshalIndent(s.Shown(channel), "", "  ")
		return "in channel " + channel + " is shown " + string(text)
	}
	s.wait(what, chattest.Patience(s.tb), func() bool {
		all = s.shown(channel)
		return is(all)
	})
	return all
}

// Title is a thread's.
func (s *Server) Title(thread string) string {
	s.Lock()
	defer s.Unlock()
	return s.channels[thread].name
}
