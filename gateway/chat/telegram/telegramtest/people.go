package telegramtest

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Message is one that the bot shows.
type Message struct {
	ID, Thread string
	// ReplyTo is the id of the message that it is a reply to.
	ReplyTo  string
	Text     string
	Entities []Entity
	Buttons  []string
	// File is the name of what is attached, Content what it holds.
	File    string
	Content []byte
	// Asks says that it asks for a reply, AsksAll that it asks everybody who sees it.
	Asks, AsksAll bool
	// Previews says that a link in it would be looked up and shown.
	Previews bool
	// Edits is how often it was edited.
	Edits int
}

// Group makes a group with the bot in it and some people, or takes them into it again;
// they may write in any topic.
func (s *Server) Group(chat string, people ...string) {
	s.Lock()
	defer s.Unlock()
	r := s.room(s.id(chat), "supergroup")
	r.members[BotID], r.stopped = "member", nil
	for _, one := range people {
		r.members[s.id(one)] = "member"
	}
}

// Topic makes a topic of a group.
func (s *Server) Topic(chat, thread string) {
	s.Change(func() { s.room(s.id(chat), "supergroup").topics[int(s.id(thread))] = true })
}

// Privacy says whether the bot is told only what is meant for it, as it is at first.
func (s *Server) Privacy(on bool) { s.Change(func() { s.privacy = on }) }

// Remove takes a person out of a group; the bot too, by [BotID].
func (s *Server) Remove(chat, who string) {
	s.Lock()
	defer s.Unlock()
	r := s.room(s.id(chat), "supergroup")
	if r.members[s.id(who)] = "left"; s.id(who) == BotID {
		r.members[BotID] = "kicked"
		r.stopped = &refusal{code: 403, words: "Forbidden: bot was kicked from the supergroup chat"}
	}
}

// Block has a person block the bot, Mute a group let its admins alone write.
func (s *Server) Block(who string) {
	s.stop(who, "private", &refusal{code: 403, words: "Forbidden: bot was blocked by the user"})
}

// Mute has a group let its admins alone write.
func (s *Server) Mute(chat string) {
	s.stop(chat, "supergroup", bad("not enough rights to send text messages to the chat"))
}

func (s *Server) stop(chat, kind string, why *refusal) {
	s.Change(func() { s.room(s.id(chat), kind).stopped = why })
}

// Upgrade gives a group another id.
func (s *Server) Upgrade(chat, to string) {
	s.Change(func() { s.room(s.id(chat), "group").moved = s.id(to) })
}

// Delete removes a message.
func (s *Server) Delete(chat, message string) {
	s.Lock()
	defer s.Unlock()
	delete(s.room(s.id(chat), "supergroup").posts, int(s.id(message)))
	s.Wake()
}

// Write has a person write: to the bot alone, where the chat has the id of the person,
// or in a group. It is what they type: their client makes of it what clients do.
func (s *Server) Write(user, chat, thread, text string) (id string) {
	return s.write(user, chat, thread, text, "")
}

// Reply has a person answer a message, in the topic where that is.
func (s *Server) Reply(user, chat, message, text string) (id string) {
	return s.write(user, chat, "", text, message)
}

func (s *Server) write(user, chat, thread, text, reply string) string {
	s.Lock()
	defer s.Unlock()
	kind := "supergroup"
	if chat == user {
		kind = "private"
	}
	r := s.room(s.id(chat), kind)
	p := &post{from: s.id(user), date: time.Now().Unix()}
	r.members[p.from] = "member"
	if thread != "" {
		p.thread = int(s.id(thread))
		r.topics[p.thread] = true
	}
	if reply != "" {
		p.reply = int(s.id(reply))
		if to := r.posts[p.reply]; to != nil {
			p.thread = to.thread
		}
	}
	p.text, p.entities = typed(text)
	s.add(r, p)
	if kind == "private" || !s.privacy || r.meant(p) {
		s.queue("message", s.wire(r, p, true))
	}
	return strconv.Itoa(p.id)
}

// meant says whether the bot is told a message although its privacy mode is on.
func (r *room) meant(p *post) bool {
	if to := r.posts[p.reply]; to != nil && to.from == BotID {
		return true
	}
	return slices.ContainsFunc(p.entities, func(e Entity) bool {
		return e.Type == "bot_command" && !namesOther(e.In(p.text)) || e.Type == "mention" && e.In(p.text) == "@"+BotName
	})
}

// Click has a person click a button of a message, by its label.
func (s *Server) Click(user, chat, message, label string) {
	s.Lock()
	defer s.Unlock()
	r := s.room(s.id(chat), "supergroup")
	p := r.posts[int(s.id(message))]
	if p == nil {
		s.tb.Errorf("telegram: %s has no message %s to click on", chat, message)
		return
	}
	for _, row := range p.rows {
		for _, b := range row {
			if b.Text == label {
				s.click(s.id(user), r, p, b.Data)
				return
			}
		}
	}
	s.tb.Errorf("telegram: message %s has no button %q: %+v", message, label, p.rows)
}

// Press has a client of a person send all that a button could have sent.
func (s *Server) Press(user, chat, message, data string) {
	s.Lock()
	defer s.Unlock()
	r := s.room(s.id(chat), "supergroup")
	if p := r.posts[int(s.id(message))]; p != nil {
		s.click(s.id(user), r, p, data)
	}
}

func (s *Server) click(user int64, r *room, p *post, data string) {
	id := fmt.Sprintf("%d%06d", user, len(s.queries)+len(s.told)+int(s.next))
	s.queries[id] = &query{by: user}
	s.queue("callback_query", map[string]any{"id": id, "from": person(user), "message": s.wire(r, p, true), "chat_instance": "1",
		"data": data})
}

// Messages are the messages of the bot in a chat, in the order in which they came.
func (s *Server) Messages(chat string) []Message {
	s.Lock()
	defer s.Unlock()
	return s.shown(s.id(chat))
}

func (s *Server) shown(chat int64) (all []Message) {
	r := s.chats[chat]
	if r == nil {
		return nil
	}
	for id := 1; id <= r.last; id++ {
		if p := r.posts[id]; p != nil && p.from == BotID {
			all = append(all, p.message())
		}
	}
	return all
}

func (p *post) message() Message {
	m := Message{ID: strconv.Itoa(p.id), Text: p.text, Entities: p.entities, Asks: p.force, AsksAll: p.force && !p.selective,
		Edits: p.edits, Previews: p.preview}
	if p.thread != 0 {
		m.Thread = strconv.Itoa(p.thread)
	}
	if p.reply != 0 {
		m.ReplyTo = strconv.Itoa(p.reply)
	}
	for _, row := range p.rows {
		for _, b := range row {
			m.Buttons = append(m.Buttons, b.Text)
		}
	}
	if p.file != nil {
		m.File, m.Content = p.file.name, p.file.content
	}
	return m
}

// Told is what was told a person alone, in answer to their clicks.
func (s *Server) Told(user string) []string {
	s.Lock()
	defer s.Unlock()
	return slices.Clone(s.told[s.id(user)])
}

// Menu are the bot's commands as clients show them.
func (s *Server) Menu() []string {
	s.Lock()
	defer s.Unlock()
	return s.menu
}

// Await waits until what the bot shows in a chat is as it should be, and returns it.
func (s *Server) Await(chat string, is func([]Message) bool) []Message {
	s.tb.Helper()
	var last []Message
	s.Until(func() bool {
		last = s.Messages(chat)
		return is(last)
	})
	return last
}

// Until waits until something is true of the server, and ends the test if it does not
// become so.
func (s *Server) Until(is func() bool) {
	s.tb.Helper()
	if !s.AwaitSeen(s.tb, is) {
		s.tb.Fatalf("telegram: it did not come to what was waited for; shown are %s", s.everything())
	}
}

func (s *Server) everything() (all string) {
	s.Lock()
	defer s.Unlock()
	for id := range s.chats {
		all += fmt.Sprintf("\n%d: %+v", id, s.shown(id))
	}
	return all + fmt.Sprintf("\ntold %v", s.told)
}

// room is a chat, which is made if there is none; the lock is held.
func (s *Server) room(id int64, kind string) *room {
	if s.chats[id] == nil {
		if id > 0 {
			kind = "private"
		}
		s.chats[id] = &room{id: id, kind: kind, posts: map[int]*post{}, topics: map[int]bool{}, members: map[int64]string{BotID: "member"}}
	}
	return s.chats[id]
}

func (s *Server) id(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.tb.Errorf("telegram: %q is no id, want a number", text)
	}
	return id
}
