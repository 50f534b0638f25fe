package telegramtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

func sendMessage(s *Server, c *call) any {
	r := s.writable(c)
	p := s.compose(c, r)
	s.words(c, p)
	s.add(r, p)
	return s.wire(r, p, true)
}

func sendDocument(s *Server, c *call) any {
	r := s.writable(c)
	p := s.compose(c, r)
	f, given := c.files["document"]
	switch {
	case !given:
		panic(bad("there is no document in the request"))
	case len(f.content) == 0:
		panic(bad("file must be non-empty"))
	}
	p.file = &f
	s.add(r, p)
	return s.wire(r, p, true)
}

func editMessageText(s *Server, c *call) any {
	r := s.writable(c)
	id, err := strconv.Atoi(c.values["message_id"])
	p := r.posts[id]
	switch {
	case err != nil:
		panic(bad("message identifier is not specified"))
	case p == nil:
		panic(bad("message to edit not found"))
	case p.from != BotID || p.file != nil:
		panic(bad("message can't be edited"))
	}
	next := *p
	c.markup(&next)
	s.words(c, &next)
	if reflect.DeepEqual(next, *p) {
		panic(bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and " +
			"reply markup of the message"))
	}
	next.edits++
	r.posts[id] = &next
	return s.wire(r, &next, true)
}

// query is a click that is not answered yet.
type query struct{ by int64 }

func answerCallbackQuery(s *Server, c *call) any {
	q := s.queries[c.values["callback_query_id"]]
	switch {
	case q == nil:
		panic(bad("query is too old and response timeout expired or query ID is invalid"))
	case unitsOf(c.values["text"]) > 200:
		panic(bad("MESSAGE_TOO_LONG"))
	}
	delete(s.queries, c.values["callback_query_id"])
	if text := c.values["text"]; text != "" {
		s.told[q.by] = append(s.told[q.by], text)
	}
	return true
}

func setMyCommands(s *Server, c *call) any {
	var commands []struct{ Command, Description string }
	if c.values["commands"] == "" {
		panic(bad("parameter \"commands\" is required"))
	}
	c.part("commands", &commands)
	var menu []string
	for _, one := range commands {
		switch {
		case !commandNames.MatchString(one.Command) || strings.ToLower(one.Command) != one.Command || len(one.Command) > 32:
			panic(bad("BOT_COMMAND_INVALID"))
		case one.Description == "" || utf8.RuneCountInString(one.Description) > 256:
			panic(bad("BOT_COMMAND_DESCRIPTION_INVALID"))
		}
		menu = append(menu, one.Command)
	}
	s.menu = menu
	return true
}

func getChat(s *Server, c *call) any {
	r := s.seen(c)
	info := r.wire()
	info["accent_color_id"], info["max_reaction_count"] = 0, 11
	info["accepted_gift_types"] = map[string]any{}
	if r.kind != "private" {
		may := r.stopped == nil || r.stopped.code != 400
		info["permissions"] = map[string]any{"can_send_messages": may, "can_send_documents": may}
	}
	return info
}

func getChatMember(s *Server, c *call) any {
	r := s.seen(c)
	id, err := strconv.ParseInt(c.values["user_id"], 10, 64)
	status := r.members[id]
	switch {
	case err != nil || id <= 0:
		panic(bad("invalid user_id specified"))
	case status == "" && !s.known(id):
		panic(bad("user not found"))
	case status == "":
		status = "left"
	}
	who := person(id)
	if id == BotID {
		who = bot()
	}
	return map[string]any{"status": status, "user": who}
}

func sendChatAction(s *Server, c *call) any {
	s.writable(c)
	if c.values["action"] != "typing" {
		panic(bad("wrong parameter action in request"))
	}
	return true
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
