package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

func (s *Server) authTest(asks) answer {
	return answer{"url": "https://tests.slack.com/", "team": "tests", "user": "bailiff", "team_id": Team, "user_id": Bot, "bot_id": "B01"}
}

// in is a channel that the app may write to.
func (s *Server) in(id string) *channel {
	c := s.channels[id]
	switch {
	case c == nil || c.isPrivate() && !slices.Contains(c.members, Bot):
		refuse("channel_not_found")
	case !slices.Contains(c.members, Bot):
		refuse("not_in_channel")
	case c.archived:
		refuse("is_archived")
	}
	return c
}

// sees is a channel that the app may look at, by a scope such as history.
func (s *Server) sees(id, what string) *channel {
	c := s.channels[id]
	if c == nil || c.isPrivate() && !slices.Contains(c.members, Bot) {
		refuse("channel_not_found")
	}
	of := map[string]string{"im": "im", "mpim": "mpim", "group": "groups", "channel": "channels"}[c.kind()]
	s.may(of + ":" + what)
	return c
}

func (s *Server) postMessage(a asks) answer {
	c := s.in(a.Get("channel"))
	m := readMessage(a)
	if m.Thread = a.Get("thread_ts"); c.find(m.Thread) == nil {
		m.Thread = "" // as Slack does where the thread's first message was deleted
	}
	m.metadata, m.Key = readMetadata(a)
	m.By = Bot
	shown := s.add(c, m)
	own := s.event(c, shown, Bot)
	go s.Deliver(own)
	said := map[string]any{"type": "message", "user": Bot, "bot_id": "B01", "ts": shown.ID, "text": a.Get("text")}
	if m.Thread != "" {
		said["thread_ts"] = m.Thread
	}
	return answer{"channel": c.id, "ts": shown.ID, "message": said}
}

func (s *Server) update(a asks) answer {
	c := s.in(a.Get("channel"))
	m := c.find(a.Get("ts"))
	switch {
	case m == nil:
		refuse("message_not_found")
	case m.By != Bot:
		refuse("cant_update_message")
	}
	becomes := readMessage(a)
	m.Text, m.Buttons, m.blocks = becomes.Text, becomes.Buttons, becomes.blocks
	m.Edits++
	s.Wake()
	return answer{"channel": c.id, "ts": m.ID, "text": a.Get("text"),
		"message": map[string]any{"type": "message", "user": Bot, "text": a.Get("text")}}
}

func (s *Server) postEphemeral(a asks) answer {
	c := s.in(a.Get("channel"))
	if !slices.Contains(c.members, a.Get("user")) {
		refuse("user_not_in_channel")
	}
	m := readMessage(a)
	m.ID, m.Channel, m.Thread, m.By, m.To = s.stamp(), c.id, a.Get("thread_ts"), Bot, a.Get("user")
	s.private = append(s.private, m)
	s.Wake()
	return answer{"message_ts": m.ID}
}

func (s *Server) info(a asks) answer {
	c := s.sees(a.Get("channel"), "read")
	return answer{"channel": map[string]any{"id": c.id, "name": strings.ToLower(c.id), "is_channel": c.kind() == "channel",
		"is_private": c.isPrivate(), "is_im": c.kind() == "im",
		"is_mpim": c.kind() == "mpim", "is_archived": c.archived, "is_member": slices.Contains(c.members, Bot)}}
}

// membersPage is small, so that a client that does not turn pages misses some.
const membersPage = 2

func (s *Server) members(a asks) answer {
	c := s.sees(a.Get("channel"), "read")
	members, next := page(a, c.members, membersPage)
	return answer{"members": members, "response_metadata": map[string]any{"next_cursor": next}}
}

func (s *Server) history(a asks) answer {
	c := s.sees(a.Get("channel"), "history")
	if !slices.Contains(c.members, Bot) {
		refuse("not_in_channel")
	}
	var all []*Message
	for _, m := range slices.Backward(c.messages) {
		if m.Thread == "" {
			all = append(all, m)
		}
	}
	return s.messages(a, all)
}

func (s *Server) replies(a asks) answer {
	c := s.sees(a.Get("channel"), "history")
	root := c.find(a.Get("ts"))
	if root == nil {
		refuse("thread_not_found")
	}
	all := []*Message{root}
	for _, m := range c.messages {
		if m.Thread == root.ID && m.ID >= a.Get("oldest") {
			all = append(all, m)
		}
	}
	return s.messages(a, all)
}

// page is the part of a list that a call asks for, and the cursor of the next one.
func page[T any](a asks, all []T, limit int) (part []T, next string) {
	from, _ := strconv.Atoi(a.Get("cursor"))
	to := min(from+limit, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[min(from, to):to], next
}

// messages is a part of a history, with metadata if that may be seen at all: whether an app may
// see its own without a scope Slack does not say.
func (s *Server) messages(a asks, all []*Message) answer {
	limit, err := strconv.Atoi(a.Get("limit"))
	if err != nil || limit < 1 || limit > 999 {
		refuse("invalid_limit")
	}
	part, next := page(a, all, limit)
	messages := []any{}
	asked := a.Get("include_all_metadata") == "true" || a.Get("include_all_metadata") == "1"
	for _, m := range part {
		messages = append(messages, m.stored(asked && s.allows("metadata.message:read")))
	}
	return answer{"messages": messages, "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}}
}

func (m *Message) stored(withMetadata bool) map[string]any {
	said := map[string]any{"type": "message", "user": m.By, "ts": m.ID, "text": m.Text, "blocks": m.blocks}
	if m.By == Bot {
		said["bot_id"] = "B01"
	}
	if withMetadata && m.metadata != nil {
		said["metadata"] = m.metadata
	}
	files := []any{}
	for _, f := range m.Files {
		files = append(files, map[string]any{"id": f.ID, "name": f.Name, "mode": "snippet"})
	}
	if len(files) > 0 {
		said["files"] = files
	}
	return said
}

func (s *Server) uploadURL(a asks) answer {
	length, err := strconv.Atoi(a.Get("length"))
	if err != nil || length < 1 || a.Get("filename") == "" {
		refuse("invalid_arguments")
	}
	s.count++
	id := fmt.Sprintf("F%08d", s.count)
	s.files[id] = &upload{name: a.Get("filename"), length: length}
	return answer{"upload_url": s.http.URL + "/upload/" + id, "file_id": id}
}

// serveUpload takes a file's content.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	f := s.Next("upload")
	if f.broken() {
		f.answer(w)
		return
	}
	part, _, err := r.FormFile("file")
	if err != nil {
		http.Error(w, "no file", http.StatusBadRequest)
		return
	}
	content, err := io.ReadAll(part)
	s.Lock()
	defer s.Unlock()
	u := s.files[r.PathValue("id")]
	if err != nil || u == nil || len(content) != u.length || u.sent {
		http.Error(w, "not what was announced", http.StatusBadRequest)
		return
	}
	u.content, u.sent = string(content), true
	_, _ = fmt.Fprintf(w, "OK - %d", len(content))
}

func (s *Server) completeUpload(a asks) answer {
	var files []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(a.Get("files")), &files); err != nil || len(files) == 0 {
		refuse("invalid_arguments")
	}
	c := s.in(a.Get("channel_id"))
	if thread := a.Get("thread_ts"); thread != "" && c.find(thread) == nil {
		refuse("invalid_thread_ts")
	}
	m := Message{By: Bot, Thread: a.Get("thread_ts"), Text: a.Get("initial_comment")}
	for _, f := range files {
		u := s.files[f.ID]
		if u == nil || !u.sent || u.shared {
			refuse("file_not_found")
		}
		u.shared = true
		m.Files = append(m.Files, File{f.ID, u.name, u.content})
	}
	shown := s.add(c, m)
	own := s.event(c, shown, Bot)
	own["subtype"] = "file_share"
	go s.Deliver(own)
	return answer{"files": files}
}

func (s *Server) openView(a asks) answer {
	f, id := readView(a.raw)
	t, known := s.triggers[id]
	switch {
	case !known:
		refuse("invalid_trigger_id")
	case t.spent:
		refuse("exchanged_trigger_id")
	case time.Since(t.made) > triggerTime:
		refuse("expired_trigger_id")
	}
	t.spent = true
	s.triggers[id] = t
	s.count++
	f.id = fmt.Sprintf("V%08d", s.count)
	s.forms[t.user] = f
	s.Wake()
	return answer{"view": map[string]any{"id": f.id, "type": "modal"}}
}

// serveResponse takes what is said to the person who gave a command.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	if f := s.Next("response_url"); f.broken() {
		f.answer(w)
		return
	}
	var said struct {
		Text         string          `json:"text"`
		Blocks       json.RawMessage `json:"blocks"`
		ResponseType string          `json:"response_type"`
	}
	if err := json.NewDecoder(r.Body).Decode(&said); err != nil || said.ResponseType != "ephemeral" || r.Header.Get("Authorization") != "" {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	read, refusal := chattest.Answer[no](func() any {
		return readMessage(asks{Values: url.Values{"text": {said.Text}, "blocks": {string(said.Blocks)}, "parse": {"none"},
			"mrkdwn": {"false"}, "unfurl_links": {"false"}, "unfurl_media": {"false"}}})
	})
	if refusal != nil {
		http.Error(w, refusal.code, http.StatusBadRequest)
		return
	}
	m := read.(Message)
	s.Lock()
	defer s.Unlock()
	m.ID, m.Channel, m.By, m.To = s.stamp(), r.PathValue("channel"), Bot, r.PathValue("user")
	s.private = append(s.private, m)
	s.Wake()
	_, _ = io.WriteString(w, "ok")
}
