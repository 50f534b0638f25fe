package telegramtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
