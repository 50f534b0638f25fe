package telegramtest

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// method is one of the Bot API's: what it takes, and what it does.
type method struct {
	takes []string
	// do is called with the server's lock held; a refusal is a panic.
	do func(*Server, *call) any
}

// posting is what every method takes that posts.
var posting = []string{"business_connection_id", "chat_id", "message_thread_id", "disable_notification", "protect_content",
	"reply_parameters", "reply_markup"}

var methods = map[string]method{
	"getMe":      {nil, getMe},
	"getUpdates": {[]string{"offset", "limit", "timeout", "allowed_updates"}, getUpdates},
	"setWebhook": {[]string{"url", "ip_address", "max_connections", "allowed_updates", "drop_pending_updates", "secret_token"},
		setWebhook},
	"deleteWebhook":       {[]string{"drop_pending_updates"}, deleteWebhook},
	"getWebhookInfo":      {nil, getWebhookInfo},
	"sendMessage":         {append([]string{"text", "entities", "link_preview_options"}, posting...), sendMessage},
	"sendDocument":        {append([]string{"document", "caption", "disable_content_type_detection"}, posting...), sendDocument},
	"editMessageText":     {[]string{"chat_id", "message_id", "text", "entities", "link_preview_options", "reply_markup"}, editMessageText},
	"answerCallbackQuery": {[]string{"callback_query_id", "text", "show_alert", "url", "cache_time"}, answerCallbackQuery},
	"setMyCommands":       {[]string{"commands", "scope", "language_code"}, setMyCommands},
	"getChat":             {[]string{"chat_id"}, getChat},
	"getChatMember":       {[]string{"chat_id", "user_id"}, getChatMember},
	"sendChatAction":      {[]string{"chat_id", "message_thread_id", "action"}, sendChatAction},
}

func getMe(s *Server, _ *call) any {
	me := bot()
	me["can_join_groups"], me["can_read_all_group_messages"], me["supports_inline_queries"] = true, !s.privacy, false
	return me
}

func bot() map[string]any {
	return map[string]any{"id": BotID, "is_bot": true, "first_name": "bailiff", "username": BotName}
}

// post is a message in a chat.
type post struct {
	id, thread, reply int
	from              int64
	date              int64
	text              string
	entities          []Entity
	rows              [][]button
	force, selective  bool
	file              *file
	edits             int
	preview           bool
}

// room is a chat.
type room struct {
	id      int64
	kind    string
	posts   map[int]*post
	last    int
	topics  map[int]bool
	members map[int64]string // by their status
	// stopped is why the bot may not write; moved is where the group has gone.
	stopped *refusal
	moved   int64
}

// writable finds the chat of a call into which the bot may write. The lock is held.
func (s *Server) writable(c *call) *room {
	r := s.seen(c)
	switch {
	case r.moved != 0:
		panic(&refusal{code: 400, words: "Bad Request: group chat was upgraded to a supergroup chat", migrate: r.moved})
	case r.stopped != nil:
		panic(r.stopped)
	}
	return r
}

// seen finds the chat of a call. The lock is held.
func (s *Server) seen(c *call) *room {
	if c.values["chat_id"] == "" {
		panic(bad("chat_id is empty"))
	}
	id, err := strconv.ParseInt(c.values["chat_id"], 10, 64)
	r := s.chats[id]
	switch {
	case err == nil && r != nil:
		return r
	case err == nil && s.known(id):
		panic(&refusal{code: 403, words: "Forbidden: bot can't initiate conversation with a user"})
	}
	panic(bad("chat not found"))
}

// known says whether a person is in any chat.
func (s *Server) known(person int64) bool {
	for _, r := range s.chats {
		if _, member := r.members[person]; member {
			return true
		}
	}
	return false
}

func (s *Server) compose(c *call, r *room) *post {
	p := &post{from: BotID, date: time.Now().Unix()}
	if text := c.values["message_thread_id"]; text != "" {
		p.thread, _ = strconv.Atoi(text)
		if !r.topics[p.thread] {
			panic(bad("message thread not found"))
		}
	}
	var reply struct {
		ID      int  `json:"message_id"`
		Without bool `json:"allow_sending_without_reply"`
	}
	c.part("reply_parameters", &reply)
	if p.reply = reply.ID; reply.ID != 0 && r.posts[reply.ID] == nil {
		if p.reply = 0; !reply.Without {
			panic(bad("message to be replied not found"))
		}
	}
	c.markup(p)
	return p
}

var commandNames = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

type button struct {
	Text  string
	Data  string
	Style string
}

// markup reads what stands below a message.
func (c *call) markup(p *post) {
	p.rows, p.force, p.selective = nil, false, false
	var m struct {
		Rows  [][]map[string]any `json:"inline_keyboard"`
		Force bool               `json:"force_reply"`
		Some  bool               `json:"selective"`
		Hint  string             `json:"input_field_placeholder"`
	}
	c.part("reply_markup", &m)
	p.selective = m.Some
	if p.force = m.Force; utf8.RuneCountInString(m.Hint) > 64 {
		panic(bad("the input field placeholder is too long"))
	}
	for _, row := range m.Rows {
		var buttons []button
		for _, fields := range row {
			buttons = append(buttons, readButton(fields))
		}
		p.rows = append(p.rows, buttons)
	}
}

func readButton(fields map[string]any) (b button) {
	b.Text, _ = fields["text"].(string)
	b.Data, _ = fields["callback_data"].(string)
	b.Style, _ = fields["style"].(string)
	var kinds []string
	for name := range fields {
		if name != "text" && name != "style" && name != "icon_custom_emoji_id" {
			kinds = append(kinds, name)
		}
	}
	switch {
	case strings.TrimSpace(b.Text) == "":
		panic(bad("text buttons are not allowed to be empty in the inline keyboard"))
	case !slices.Equal(kinds, []string{"callback_data"}):
		panic(bad("can't parse inline keyboard button: exactly one kind of button is to be used, not %v",
			slices.Sorted(maps.Keys(fields))))
	case len(b.Data) < 1 || len(b.Data) > 64:
		panic(bad("BUTTON_DATA_INVALID"))
	case !slices.Contains([]string{"", "danger", "success", "primary"}, b.Style):
		panic(bad("can't parse inline keyboard button: invalid button style specified"))
	}
	return b
}

// words reads the text of a message.
func (s *Server) words(c *call, p *post) {
	if !utf8.ValidString(c.values["text"]) {
		panic(bad("strings must be encoded in UTF-8"))
	}
	var entities []Entity
	c.part("entities", &entities)
	text, entities := formatted(c.values["text"], entities)
	switch n := unitsOf(text); {
	case n == 0:
		panic(bad("message text is empty"))
	case n > 4096:
		panic(bad("message is too long"))
	}
	p.text, p.entities = text, entities
	var preview struct {
		Disabled bool `json:"is_disabled"`
	}
	c.part("link_preview_options", &preview)
	p.preview = !preview.Disabled
}

func (s *Server) add(r *room, p *post) {
	r.last++
	p.id = r.last
	r.posts[p.id] = p
	s.Wake()
}
