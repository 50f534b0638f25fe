package discordtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// MentionBot and MentionRole are what people's clients write where they name the bot.
const (
	MentionBot  = "<@" + Bot + ">"
	MentionRole = "<@&" + Role + ">"
)

// Write has a person write in a channel, or in a thread of it, and returns the message's
// id. A bot that has no session hears of it as little as at Discord ([Server.AwaitSessions]).
func (s *Server) Write(who, channel, thread, text string) (id string) {
	s.Lock()
	defer s.Unlock()
	s.people[who] = true
	in := s.in(channel, thread)
	m := &message{id: s.newID(), author: who, at: time.Now(), content: text}
	s.put(in, m)
	s.Wake()
	return m.id
}

func (s *Server) in(channel, thread string) *channel {
	if thread != "" {
		channel = thread
	}
	c := s.channels[channel]
	if c == nil || thread != "" && c.parent == "" {
		s.tb.Fatalf("there is no channel %s", channel)
	}
	return c
}

// OpenThread has a person make a thread of a message, and returns its id, which is the
// message's.
func (s *Server) OpenThread(channel, message, title string) string {
	s.Lock()
	defer s.Unlock()
	return s.makeThread(s.channels[channel], message, title).id
}

// Tell has the gateway tell something that no person does, such as what another bot wrote.
func (s *Server) Tell(event string, data map[string]any) { s.Change(func() { s.tell(event, data, 0) }) }

// act is an interaction.
type act struct {
	id, token, who string
	kind           int
	at             time.Time
	answer         int // the first answer's type, 0 before
	form           *form
	told           []string
	open           bool // an answer is to come
}

type form struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []component `json:"components"`
}

// Kinds of interactions and of their answers.
const (
	commandChosen = 2
	buttonClicked = 3
	formSubmitted = 5

	answersMessage      = 4
	answersMessageLater = 5
	answersNothing      = 6
	answersForm         = 9
)

// followupTime is how long an interaction can be answered once more.
const followupTime = 15 * time.Minute

// Click has a person click a button of a message once the bot is there, fill in the form that
// it may open, and returns what they are told at once; empty if that is nothing, or to
// come ([Server.Told]).
func (s *Server) Click(who, channel, message, label string, reason ...string) string {
	s.tb.Helper()
	s.wait(func() string { return "the bot is there" }, chattest.Patience(s.tb), func() bool { return len(s.sessions) > 0 })
	s.Lock()
	s.people[who] = true
	c := s.channels[channel]
	m := c.message(message)
	b := m.button(label)
	if b == nil {
		s.Unlock()
		s.tb.Fatalf("message %s has no button %q", message, label)
		return ""
	}
	shown := m.json(c)
	a := s.begin(buttonClicked, who, c, map[string]any{"component_type": 2, "custom_id": b.CustomID}, shown)
	s.Unlock()
	s.answered(a)
	if a.form == nil {
		return s.first(a)
	}
	return s.fill(a, c, shown, strings.Join(reason, " "))
}

// Forge has a person click a button that the message does not have, as only a person with a
// client of their own can.
func (s *Server) Forge(who, channel, message, customID string) string {
	s.tb.Helper()
	s.Lock()
	s.people[who] = true
	c := s.channels[channel]
	a := s.begin(buttonClicked, who, c, map[string]any{"component_type": 2, "custom_id": customID}, c.message(message).json(c))
	s.Unlock()
	s.answered(a)
	return s.first(a)
}

func (s *Server) fill(a *act, c *channel, shown map[string]any, reason string) string {
	s.tb.Helper()
	s.Lock()
	field := a.form.Components[0].Components[0]
	if characters(reason) > field.MaxLength {
		s.tb.Errorf("the form takes %d characters", field.MaxLength)
	}
	row := component{Type: 1, Components: []component{{Type: 4, CustomID: field.CustomID, Value: reason}}}
	data := map[string]any{"custom_id": a.form.CustomID, "components": []component{row}}
	filled := s.begin(formSubmitted, a.who, c, data, shown)
	s.Unlock()
	s.answered(filled)
	return s.first(filled)
}

// Form is the title and the label of the last form that a person was shown.
func (s *Server) Form(who string) (title, label string) {
	s.Lock()
	defer s.Unlock()
	var last time.Time
	for _, a := range s.acts {
		if a.who == who && a.form != nil && !a.at.Before(last) {
			last, title, label = a.at, a.form.Title, a.form.Components[0].Components[0].Label
		}
	}
	return title, label
}

// Command has a person choose a command of the bot's, and returns what they are told at
// once.
func (s *Server) Command(who, channel, thread, text string) string {
	s.tb.Helper()
	name, rest, _ := strings.Cut(text, " ")
	offers := func() bool {
		for _, c := range s.offered {
			if c.Name == name {
				return true
			}
		}
		return false
	}
	if !s.wait(func() string { return "the bot offers /" + name }, chattest.Patience(s.tb), offers) {
		return ""
	}
	s.Lock()
	s.people[who] = true
	chosen := map[string]any{"id": application, "name": name, "type": 1}
	if rest != "" {
		chosen["options"] = []map[string]any{{"name": "what", "type": 3, "value": rest}}
	}
	a := s.begin(commandChosen, who, s.in(channel, thread), chosen, nil)
	s.Unlock()
	s.answered(a)
	return s.first(a)
}

// Offered counts how often the bot said which commands it has.
func (s *Server) Offered() int {
	s.Lock()
	defer s.Unlock()
	return s.offers
}

// Told is all that a person was told alone, in the order of what they did.
func (s *Server) Told(who string) (all []string) {
	s.Lock()
	defer s.Unlock()
	return s.told(who)
}

func (s *Server) told(who string) (all []string) {
	for _, a := range slices.SortedFunc(maps.Values(s.acts), func(a, b *act) int { return strings.Compare(a.id, b.id) }) {
		if a.who == who {
			all = append(all, a.told...)
		}
	}
	return all
}

// AwaitTold waits until what a person was told alone is as it should be.
func (s *Server) AwaitTold(who string, is func([]string) bool) (all []string) {
	s.tb.Helper()
	s.wait(func() string { return who + " is told " + strings.Join(s.Told(who), " | ") }, chattest.Patience(s.tb), func() bool {
		all = s.told(who)
		return is(all)
	})
	return all
}

func (m *message) button(label string) *component {
	if m == nil {
		return nil
	}
	for _, row := range m.rows {
		for i := range row.Components {
			if row.Components[i].Label == label {
				return &row.Components[i]
			}
		}
	}
	return nil
}
