package telegramtest

import (
	"fmt"
	"maps"
	"reflect"
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
	do    func(*Server, *call) (any, *refusal)
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

func getMe(s *Server, _ *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	me := bot()
	me["can_join_groups"], me["can_read_all_group_messages"], me["supports_inline_queries"] = true, !s.privacy, false
	return me, nil
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

// writable finds the chat of a call into which the bot may write; s.mu is held.
func (s *Server) writable(c *call) (*room, *refusal) {
	r, no := s.seen(c)
	switch {
	case no != nil:
		return nil, no
	case r.moved != 0:
		return nil, &refusal{code: 400, words: "Bad Request: group chat was upgraded to a supergroup chat", migrate: r.moved}
	case r.stopped != nil:
		return nil, r.stopped
	}
	return r, nil
}

// seen finds the chat of a call; s.mu is held.
func (s *Server) seen(c *call) (*room, *refusal) {
	if c.values["chat_id"] == "" {
		return nil, bad("chat_id is empty")
	}
	id, err := strconv.ParseInt(c.values["chat_id"], 10, 64)
	r := s.chats[id]
	switch {
	case err == nil && r != nil:
		return r, nil
	case err == nil && s.known(id):
		return nil, &refusal{code: 403, words: "Forbidden: bot can't initiate conversation with a user"}
	}
	return nil, bad("chat not found")
}

// known says whether somebody is in any chat.
func (s *Server) known(person int64) bool {
	for _, r := range s.chats {
		if _, member := r.members[person]; member {
			return true
		}
	}
	return false
}

func (s *Server) compose(c *call, r *room) (*post, *refusal) {
	p := &post{from: BotID, date: time.Now().Unix()}
	if text := c.values["message_thread_id"]; text != "" {
		p.thread, _ = strconv.Atoi(text)
		if !r.topics[p.thread] {
			return nil, bad("message thread not found")
		}
	}
	var reply struct {
		ID      int  `json:"message_id"`
		Without bool `json:"allow_sending_without_reply"`
	}
	if no := c.part("reply_parameters", &reply); no != nil {
		return nil, no
	}
	if p.reply = reply.ID; reply.ID != 0 && r.posts[reply.ID] == nil {
		if p.reply = 0; !reply.Without {
			return nil, bad("message to be replied not found")
		}
	}
	return p, c.markup(p)
}

var commandNames = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

type button struct {
	Text  string
	Data  string
	Style string
}

// markup reads what stands below a message.
func (c *call) markup(p *post) *refusal {
	p.rows, p.force, p.selective = nil, false, false
	var m struct {
		Rows  [][]map[string]any `json:"inline_keyboard"`
		Force bool               `json:"force_reply"`
		Some  bool               `json:"selective"`
		Hint  string             `json:"input_field_placeholder"`
	}
	if no := c.part("reply_markup", &m); no != nil {
		return no
	}
	p.selective = m.Some
	if p.force = m.Force; utf8.RuneCountInString(m.Hint) > 64 {
		return bad("the input field placeholder is too long")
	}
	for _, row := range m.Rows {
		var buttons []button
		for _, fields := range row {
			b, no := readButton(fields)
			if no != nil {
				return no
			}
			buttons = append(buttons, b)
		}
		p.rows = append(p.rows, buttons)
	}
	return nil
}

func readButton(fields map[string]any) (b button, no *refusal) {
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
		return b, bad("text buttons are not allowed to be empty in the inline keyboard")
	case !slices.Equal(kinds, []string{"callback_data"}):
		return b, bad("can't parse inline keyboard button: exactly one kind of button is to be used, not %v",
			slices.Sorted(maps.Keys(fields)))
	case len(b.Data) < 1 || len(b.Data) > 64:
		return b, bad("BUTTON_DATA_INVALID")
	case !slices.Contains([]string{"", "danger", "success", "primary"}, b.Style):
		return b, bad("can't parse inline keyboard button: invalid button style specified")
	}
	return b, nil
}

// words reads the text of a message.
func (s *Server) words(c *call, p *post) *refusal {
	if !utf8.ValidString(c.values["text"]) {
		return bad("strings must be encoded in UTF-8")
	}
	var entities []Entity
	if no := c.part("entities", &entities); no != nil {
		return no
	}
	text, entities, no := formatted(c.values["text"], entities)
	if no != nil {
		return no
	}
	switch n := unitsOf(text); {
	case n == 0:
		return bad("message text is empty")
	case n > 4096:
		return bad("message is too long")
	}
	p.text, p.entities = text, entities
	var preview struct {
		Disabled bool `json:"is_disabled"`
	}
	no = c.part("link_preview_options", &preview)
	p.preview = !preview.Disabled
	return no
}

func (s *Server) add(r *room, p *post) {
	r.last++
	p.id = r.last
	r.posts[p.id] = p
	s.touch()
}

func sendMessage(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, no := s.writable(c)
	if no != nil {
		return nil, no
	}
	p, no := s.compose(c, r)
	if no == nil {
		no = s.words(c, p)
	}
	if no != nil {
		return nil, no
	}
	s.add(r, p)
	return s.wire(r, p, true), nil
}

func sendDocument(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, no := s.writable(c)
	if no != nil {
		return nil, no
	}
	p, no := s.compose(c, r)
	if no != nil {
		return nil, no
	}
	f, given := c.files["document"]
	switch {
	case !given:
		return nil, bad("there is no document in the request")
	case len(f.content) == 0:
		return nil, bad("file must be non-empty")
	}
	p.file = &f
	s.add(r, p)
	return s.wire(r, p, true), nil
}

func editMessageText(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, no := s.writable(c)
	if no != nil {
		return nil, no
	}
	id, err := strconv.Atoi(c.values["message_id"])
	p := r.posts[id]
	switch {
	case err != nil:
		return nil, bad("message identifier is not specified")
	case p == nil:
		return nil, bad("message to edit not found")
	case p.from != BotID || p.file != nil:
		return nil, bad("message can't be edited")
	}
	next := *p
	if no = c.markup(&next); no == nil {
		no = s.words(c, &next)
	}
	if no != nil {
		return nil, no
	}
	if reflect.DeepEqual(next, *p) {
		return nil,
			bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and " +
				"reply markup of the message")
	}
	next.edits++
	r.posts[id] = &next
	s.touch()
	return s.wire(r, &next, true), nil
}

// query is a click that is not answered yet.
type query struct{ by int64 }

func answerCallbackQuery(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queries[c.values["callback_query_id"]]
	switch {
	case q == nil:
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	case unitsOf(c.values["text"]) > 200:
		return nil, bad("MESSAGE_TOO_LONG")
	}
	delete(s.queries, c.values["callback_query_id"])
	if text := c.values["text"]; text != "" {
		s.told[q.by] = append(s.told[q.by], text)
	}
	s.touch()
	return true, nil
}

func setMyCommands(s *Server, c *call) (any, *refusal) {
	var commands []struct{ Command, Description string }
	if c.values["commands"] == "" {
		return nil, bad("parameter \"commands\" is required")
	}
	if no := c.part("commands", &commands); no != nil {
		return nil, no
	}
	var menu []string
	for _, one := range commands {
		switch {
		case !commandNames.MatchString(one.Command) || strings.ToLower(one.Command) != one.Command || len(one.Command) > 32:
			return nil, bad("BOT_COMMAND_INVALID")
		case one.Description == "" || utf8.RuneCountInString(one.Description) > 256:
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
		menu = append(menu, one.Command)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menu = menu
	return true, nil
}

func getChat(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, no := s.seen(c)
	if no != nil {
		return nil, no
	}
	info := r.wire()
	info["accent_color_id"], info["max_reaction_count"] = 0, 11
	info["accepted_gift_types"] = map[string]any{}
	if r.kind != "private" {
		may := r.stopped == nil || r.stopped.code != 400
		info["permissions"] = map[string]any{"can_send_messages": may, "can_send_documents": may}
	}
	return info, nil
}

func getChatMember(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, no := s.seen(c)
	if no != nil {
		return nil, no
	}
	id, err := strconv.ParseInt(c.values["user_id"], 10, 64)
	status := r.members[id]
	switch {
	case err != nil || id <= 0:
		return nil, bad("invalid user_id specified")
	case status == "" && !s.known(id):
		return nil, bad("user not found")
	case status == "":
		status = "left"
	}
	who := person(id)
	if id == BotID {
		who = bot()
	}
	return map[string]any{"status": status, "user": who}, nil
}

func sendChatAction(s *Server, c *call) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, no := s.writable(c); no != nil {
		return nil, no
	}
	if c.values["action"] != "typing" {
		return nil, bad("wrong parameter action in request")
	}
	return true, nil
}

// wire is a message as the service tells it; what it is a reply to goes along once.
func (s *Server) wire(r *room, p *post, deep bool) map[string]any {
	m := map[string]any{"message_id": p.id, "date": p.date, "chat": r.wire(), "from": person(p.from)}
	if p.from == BotID {
		m["from"] = bot()
	}
	if p.thread != 0 {
		m["message_thread_id"], m["is_topic_message"] = p.thread, true
	}
	if p.text != "" {
		m["text"] = p.text
	}
	if len(p.entities) > 0 {
		m["entities"] = p.entities
	}
	if p.file != nil {
		m["document"] = map[string]any{"file_id": fmt.Sprintf("file%d", p.id), "file_unique_id": fmt.Sprintf("u%d", p.id),
			"file_name": p.file.name}
	}
	if len(p.rows) > 0 {
		m["reply_markup"] = p.keyboard()
	}
	if deep && p.reply != 0 && r.posts[p.reply] != nil {
		m["reply_to_message"] = s.wire(r, r.posts[p.reply], false)
	}
	return m
}

func (p *post) keyboard() map[string]any {
	var rows [][]map[string]any
	for _, row := range p.rows {
		var buttons []map[string]any
		for _, b := range row {
			buttons = append(buttons, map[string]any{"text": b.Text, "callback_data": b.Data})
		}
		rows = append(rows, buttons)
	}
	return map[string]any{"inline_keyboard": rows}
}

func (r *room) wire() map[string]any {
	c := map[string]any{"id": r.id, "type": r.kind}
	if r.kind == "private" {
		c["first_name"] = fmt.Sprintf("Person %d", r.id)
		return c
	}
	c["title"] = "a group"
	if len(r.topics) > 0 {
		c["is_forum"] = true
	}
	return c
}

func person(id int64) map[string]any {
	return map[string]any{"id": id, "is_bot": false, "first_name": fmt.Sprintf("Person %d", id)}
}
