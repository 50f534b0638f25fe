package slacktest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// trigger lets the app open one form, for three seconds.
type trigger struct {
	user  string
	made  time.Time
	spent bool
}

const triggerTime = 3 * time.Second

// form is what a person is asked.
type form struct {
	id, callback, metadata, block, action, label string
}

var (
	address   = regexp.MustCompile(`https?://[^\s<>|]+`)
	sanitized = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// Write is a person's message, as it is typed: @bailiff names the bot. It returns its id.
func (s *Server) Write(user, channel, thread, text string) (id string) {
	s.tb.Helper()
	s.Lock()
	c := s.channels[channel]
	if c == nil || !slices.Contains(c.members, user) {
		s.Unlock()
		s.tb.Fatalf("%s is not in %s", user, channel)
	}
	m := s.add(c, Message{By: user, Thread: thread, Text: text})
	event := s.event(c, m, user)
	mentions := s.mentions
	s.Unlock()
	event["text"] = written(text)
	if slices.Contains(c.members, Bot) {
		s.Deliver(event)
	}
	if mentions && strings.Contains(text, "@bailiff") && c.kind() != "im" {
		named := map[string]any{"type": "app_mention"}
		for _, key := range []string{"user", "text", "ts", "thread_ts", "channel", "event_ts"} {
			if value, has := event[key]; has {
				named[key] = value
			}
		}
		s.Deliver(named)
	}
	return m.ID
}

// written is what Slack makes of what was typed.
func written(text string) string {
	text = address.ReplaceAllString(sanitized.Replace(text), "<$0>")
	return strings.ReplaceAll(text, "@bailiff", "<@"+Bot+">")
}

// event tells of a message.
func (s *Server) event(c *channel, m *Message, user string) map[string]any {
	event := map[string]any{"type": "message", "user": user, "text": sanitized.Replace(m.Text), "ts": m.ID, "channel": c.id,
		"channel_type": c.kind(), "event_ts": m.ID, "team": Team}
	if m.Thread != "" {
		event["thread_ts"] = m.Thread
	}
	if user == Bot {
		event["bot_id"] = "B01"
	}
	return event
}

// Deliver sends an event of any kind.
func (s *Server) Deliver(event map[string]any) { s.deliver(Team, Bot, event) }

// Foreign sends an event of another workspace, in which the app is installed too.
func (s *Server) Foreign(team string, event map[string]any) { s.deliver(team, "U0ELSEWHERE", event) }

func (s *Server) deliver(team, bot string, event map[string]any) {
	s.Lock()
	s.count++
	id := fmt.Sprintf("Ev%08d", s.count)
	s.Unlock()
	s.send(parcel{kind: "events_api", body: map[string]any{"type": "event_callback", "token": "unused", "team_id": team,
		"api_app_id": "A01", "event": event, "event_id": id,
		"event_time": time.Now().Unix(), "authorizations": []any{map[string]any{"enterprise_id": nil, "team_id": team, "user_id": bot,
			"is_bot": true}}}})
}

// Click is a person's click on a button, by its label.
func (s *Server) Click(user, channel, message, label string) {
	s.tb.Helper()
	s.Lock()
	m := s.channels[channel].find(message)
	at := -1
	if m != nil {
		at = slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Label == label })
	}
	if at < 0 {
		s.Unlock()
		s.tb.Fatalf("message %s in %s has no button %q", message, channel, label)
	}
	b := m.Buttons[at]
	shown := map[string]any{"type": "message", "user": Bot, "bot_id": "B01", "ts": m.ID, "text": m.Text, "blocks": m.blocks}
	if m.Thread != "" {
		shown["thread_ts"] = m.Thread
	}
	s.Unlock()
	s.Press(user, channel, shown, b.id, b.value)
}

// Press is a click on a button that the test made up.
func (s *Server) Press(user, channel string, message map[string]any, id, value string) {
	s.send(parcel{kind: "interactive", body: map[string]any{
		"type": "block_actions", "api_app_id": "A01", "token": "unused", "team": map[string]any{"id": Team, "domain": "tests"},
		"user":       map[string]any{"id": user, "username": strings.ToLower(user), "name": strings.ToLower(user), "team_id": Team},
		"channel":    map[string]any{"id": channel, "name": "tests"},
		"container":  map[string]any{"type": "message", "message_ts": message["ts"], "channel_id": channel, "is_ephemeral": false},
		"trigger_id": s.trigger(user), "message": message, "response_url": s.http.URL + "/respond/" + user + "/" + channel,
		"actions": []any{map[string]any{"type": "button", "block_id": "b1", "action_id": id, "value": value, "action_ts": "1",
			"text": map[string]any{"type": "plain_text", "text": "x"}}}}})
}

func (s *Server) trigger(user string) string {
	s.Lock()
	defer s.Unlock()
	s.count++
	id := fmt.Sprintf("%d.%d.abcdef", s.count, time.Now().UnixNano())
	s.triggers[id] = trigger{user: user, made: time.Now()}
	return id
}

// Question is what a person reads in the form that is open before them; empty if there is
// none.
func (s *Server) Question(user string) string {
	s.Lock()
	defer s.Unlock()
	return s.forms[user].label
}

// Answer is what a person writes where they are asked for a line.
func (s *Server) Answer(user, line string) {
	s.tb.Helper()
	s.Lock()
	f, open := s.forms[user]
	delete(s.forms, user)
	s.Unlock()
	if !open {
		s.tb.Fatalf("%s is asked nothing", user)
	}
	var value any = line
	if line == "" {
		value = nil // as Slack says it of what was left empty
	}
	s.send(parcel{kind: "interactive", body: map[string]any{
		"type": "view_submission", "api_app_id": "A01", "token": "unused", "team": map[string]any{"id": Team},
		"trigger_id": s.trigger(user), "response_urls": []any{},
		"user": map[string]any{"id": user, "username": strings.ToLower(user), "name": strings.ToLower(user), "team_id": Team},
		"view": map[string]any{"id": f.id, "type": "modal", "callback_id": f.callback, "private_metadata": f.metadata,
			"state": map[string]any{"values": map[string]any{f.block: map[string]any{f.action: map[string]any{"type": "plain_text_input",
				"value": value}}}}}}})
}

// Command is a person's slash command, as in Command("U1", "C1", "/bailiff status"). The
// app need not be in the channel.
func (s *Server) Command(user, channel, text string) {
	word, rest, _ := strings.Cut(text, " ")
	name := "tests"
	if strings.HasPrefix(channel, "D") {
		name = "directmessage"
	}
	s.send(parcel{kind: "slash_commands", body: map[string]any{
		"token": "unused", "team_id": Team, "team_domain": "tests", "channel_id": channel, "channel_name": name, "user_id": user,
		"user_name": strings.ToLower(user),
		"command":   word, "text": rest, "api_app_id": "A01", "is_enterprise_install": "false",
		"response_url": s.http.URL + "/respond/" + user + "/" + channel, "trigger_id": s.trigger(user)}})
}

// parcel is what Slack delivers, by the way that is open.
type parcel struct {
	kind string
	body map[string]any
}

func (s *Server) send(p parcel) {
	text, err := json.Marshal(p.body)
	if err != nil {
		s.tb.Fatal(err)
	}
	f := s.Next(p.kind)
	for range map[bool]int{false: 1, true: 2}[f.Twice] {
		if s.post != nil {
			s.post.send(p.kind, p.body, text)
		} else {
			s.line.send(p.kind, text)
		}
	}
}

// Forge is a message of a user's that has a message's key of bailiff's in its metadata.
func (s *Server) Forge(user, channel, key string) {
	s.Lock()
	defer s.Unlock()
	s.add(s.channels[channel], Message{By: user, Text: "forged", Key: key,
		metadata: map[string]any{"event_type": "bailiff_message", "event_payload": map[string]any{"key": key}}})
}
