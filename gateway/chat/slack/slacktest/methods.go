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
)

func (s *Server) authTest(asks) (answer, error) {
	return answer{"url": "https://tests.slack.com/", "team": "tests", "user": "bailiff", "team_id": Team, "user_id": Bot, "bot_id": "B01"},
		nil
}

// in is a channel that the app may write to.
func (s *Server) in(id string) (*channel, error) {
	c := s.channels[id]
	switch {
	case c == nil || c.isPrivate() && !slices.Contains(c.members, Bot):
		return nil, no{code: "channel_not_found"}
	case !slices.Contains(c.members, Bot):
		return nil, no{code: "not_in_channel"}
	case c.archived:
		return nil, no{code: "is_archived"}
	}
	return c, nil
}

// sees is a channel that the app may look at, by a scope such as history.
func (s *Server) sees(id, what string) (*channel, error) {
	c := s.channels[id]
	if c == nil || c.isPrivate() && !slices.Contains(c.members, Bot) {
		return nil, no{code: "channel_not_found"}
	}
	of := map[string]string{"im": "im", "mpim": "mpim", "group": "groups", "channel": "channels"}[c.kind()]
	return c, s.may(of + ":" + what)
}

func (s *Server) postMessage(a asks) (answer, error) {
	c, err := s.in(a.Get("channel"))
	if err != nil {
		return nil, err
	}
	m, err := readMessage(a)
	if err != nil {
		return nil, err
	}
	if m.Thread = a.Get("thread_ts"); c.find(m.Thread) == nil {
		m.Thread = "" // as Slack does where the thread's first message was deleted
	}
	if m.metadata, m.Key, err = readMetadata(a); err != nil {
		return nil, err
	}
	m.By = Bot
	shown := s.add(c, m)
	own := s.event(c, shown, Bot)
	go s.Deliver(own)
	said := map[string]any{"type": "message", "user": Bot, "bot_id": "B01", "ts": shown.ID, "text": a.Get("text")}
	if m.Thread != "" {
		said["thread_ts"] = m.Thread
	}
	return answer{"channel": c.id, "ts": shown.ID, "message": said}, nil
}

func (s *Server) update(a asks) (answer, error) {
	c, err := s.in(a.Get("channel"))
	if err != nil {
		return nil, err
	}
	m := c.find(a.Get("ts"))
	switch {
	case m == nil:
		return nil, no{code: "message_not_found"}
	case m.By != Bot:
		return nil, no{code: "cant_update_message"}
	}
	becomes, err := readMessage(a)
	if err != nil {
		return nil, err
	}
	m.Text, m.Buttons, m.blocks = becomes.Text, becomes.Buttons, becomes.blocks
	m.Edits++
	s.happened()
	return answer{"channel": c.id, "ts": m.ID, "text": a.Get("text"),
		"message": map[string]any{"type": "message", "user": Bot, "text": a.Get("text")}}, nil
}

func (s *Server) postEphemeral(a asks) (answer, error) {
	c, err := s.in(a.Get("channel"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.members, a.Get("user")) {
		return nil, no{code: "user_not_in_channel"}
	}
	m, err := readMessage(a)
	if err != nil {
		return nil, err
	}
	m.ID, m.Channel, m.Thread, m.By, m.To = s.stamp(), c.id, a.Get("thread_ts"), Bot, a.Get("user")
	s.private = append(s.private, m)
	s.happened()
	return answer{"message_ts": m.ID}, nil
}

func (s *Server) info(a asks) (answer, error) {
	c, err := s.sees(a.Get("channel"), "read")
	if err != nil {
		return nil, err
	}
	return answer{"channel": map[string]any{"id": c.id, "name": strings.ToLower(c.id), "is_channel": c.kind() == "channel",
		"is_private": c.isPrivate(), "is_im": c.kind() == "im",
		"is_mpim": c.kind() == "mpim", "is_archived": c.archived, "is_member": slices.Contains(c.members, Bot)}}, nil
}

// membersPage is small, so that whoever does not turn pages misses some.
const membersPage = 2

func (s *Server) members(a asks) (answer, error) {
	c, err := s.sees(a.Get("channel"), "read")
	if err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(a.Get("cursor"))
	to, next := min(from+membersPage, len(c.members)), ""
	if to < len(c.members) {
		next = strconv.Itoa(to)
	}
	return answer{"members": c.members[from:to], "response_metadata": map[string]any{"next_cursor": next}}, nil
}

func (s *Server) history(a asks) (answer, error) {
	c, err := s.sees(a.Get("channel"), "history")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.members, Bot) {
		return nil, no{code: "not_in_channel"}
	}
	var all []*Message
	for _, m := range slices.Backward(c.messages) {
		if m.Thread == "" {
			all = append(all, m)
		}
	}
	return s.page(a, all)
}

func (s *Server) replies(a asks) (answer, error) {
	c, err := s.sees(a.Get("channel"), "history")
	if err != nil {
		return nil, err
	}
	root := c.find(a.Get("ts"))
	if root == nil {
		return nil, no{code: "thread_not_found"}
	}
	all := []*Message{root}
	for _, m := range c.messages {
		if m.Thread == root.ID && m.ID >= a.Get("oldest") {
			all = append(all, m)
		}
	}
	return s.page(a, all)
}

// page is a part of a history, with metadata if that may be seen at all: whether an app may
// see its own without a scope Slack does not say.
func (s *Server) page(a asks, all []*Message) (answer, error) {
	limit, err := strconv.Atoi(a.Get("limit"))
	if err != nil || limit < 1 || limit > 999 {
		return nil, no{code: "invalid_limit"}
	}
	from, _ := strconv.Atoi(a.Get("cursor"))
	to, next := min(from+limit, len(all)), ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	messages := []any{}
	asked := a.Get("include_all_metadata") == "true" || a.Get("include_all_metadata") == "1"
	for _, m := range all[min(from, to):to] {
		messages = append(messages, m.stored(asked && s.may("metadata.message:read") == nil))
	}
	return answer{"messages": messages, "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}}, nil
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

func (s *Server) uploadURL(a asks) (answer, error) {
	length, err := strconv.Atoi(a.Get("length"))
	if err != nil || length < 1 || a.Get("filename") == "" {
		return nil, no{code: "invalid_arguments"}
	}
	s.count++
	id := fmt.Sprintf("F%08d", s.count)
	s.files[id] = &upload{name: a.Get("filename"), length: length}
	return answer{"upload_url": s.http.URL + "/upload/" + id, "file_id": id}, nil
}

// serveUpload takes a file's content.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	f := s.fault("upload")
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
	s.lock.Lock()
	defer s.lock.Unlock()
	u := s.files[r.PathValue("id")]
	if err != nil || u == nil || len(content) != u.length || u.sent {
		http.Error(w, "not what was announced", http.StatusBadRequest)
		return
	}
	u.content, u.sent = string(content), true
	_, _ = fmt.Fprintf(w, "OK - %d", len(content))
}

func (s *Server) completeUpload(a asks) (answer, error) {
	var files []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(a.Get("files")), &files); err != nil || len(files) == 0 {
		return nil, no{code: "invalid_arguments"}
	}
	c, err := s.in(a.Get("channel_id"))
	if err != nil {
		return nil, err
	}
	if thread := a.Get("thread_ts"); thread != "" && c.find(thread) == nil {
		return nil, no{code: "invalid_thread_ts"}
	}
	m := Message{By: Bot, Thread: a.Get("thread_ts"), Text: a.Get("initial_comment")}
	for _, f := range files {
		u := s.files[f.ID]
		if u == nil || !u.sent || u.shared {
			return nil, no{code: "file_not_found"}
		}
		u.shared = true
		m.Files = append(m.Files, File{f.ID, u.name, u.content})
	}
	shown := s.add(c, m)
	own := s.event(c, shown, Bot)
	own["subtype"] = "file_share"
	go s.Deliver(own)
	return answer{"files": files}, nil
}

func (s *Server) openView(a asks) (answer, error) {
	f, id, err := readView(a.raw)
	if err != nil {
		return nil, err
	}
	t, known := s.triggers[id]
	switch {
	case !known:
		return nil, no{code: "invalid_trigger_id"}
	case t.spent:
		return nil, no{code: "exchanged_trigger_id"}
	case time.Since(t.made) > triggerTime:
		return nil, no{code: "expired_trigger_id"}
	}
	t.spent = true
	s.triggers[id] = t
	s.count++
	f.id = fmt.Sprintf("V%08d", s.count)
	s.forms[t.user] = f
	s.happened()
	return answer{"view": map[string]any{"id": f.id, "type": "modal"}}, nil
}

// serveResponse takes what is said to whoever gave a command.
func (s *Server) serveResponse(w http.ResponseWriter, r *http.Request) {
	if f := s.fault("response_url"); f.broken() {
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
	m, err := readMessage(asks{Values: url.Values{"text": {said.Text}, "blocks": {string(said.Blocks)}, "parse": {"none"},
		"mrkdwn": {"false"}, "unfurl_links": {"false"}, "unfurl_media": {"false"}}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	m.ID, m.Channel, m.By, m.To = s.stamp(), r.PathValue("channel"), Bot, r.PathValue("user")
	s.private = append(s.private, m)
	s.happened()
	_, _ = io.WriteString(w, "ok")
}
