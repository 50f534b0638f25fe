package discordtest

import (
	"net/http"
	"strings"
	"time"
)

// begin tells the bot of what somebody did.
func (s *Server) begin(kind int, who string, c *channel, data, shown map[string]any) *act {
	a := &act{id: s.newID(), token: "aW50ZXJhY3Rpb246" + s.newID(), who: who, kind: kind, at: time.Now()}
	s.acts[a.token] = a
	told := map[string]any{
		"id": a.id, "application_id": application, "type": kind, "data": data, "channel_id": c.id, "token": a.token,
		"version": 1, "app_permissions": "0", "locale": "en-US",
		"channel": map[string]any{"id": c.id, "type": c.kind, "parent_id": c.parent, "name": c.name},
	}
	if shown != nil {
		told["message"] = shown
	}
	if c.kind == dmChannel {
		told["user"] = user(who)
	} else {
		told["guild_id"], told["member"] = Guild, map[string]any{"user": user(who), "roles": []string{}, "permissions": "0"}
	}
	s.tell("INTERACTION_CREATE", told, 0)
	return a
}

func (s *Server) answered(a *act) {
	s.tb.Helper()
	s.wait(func() string { return "the bot answers within Discord's three seconds" }, answerTime, func() bool { return a.answer != 0 })
}

func (s *Server) first(a *act) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(a.told) == 0 {
		return ""
	}
	return a.told[0]
}

func (s *Server) postCallback(r *http.Request, body []byte) (any, *refusal) {
	a := s.acts[r.PathValue("token")]
	switch {
	case a == nil || a.id != r.PathValue("id") || time.Since(a.at) > answerTime:
		return nil, unknownInteraction
	case a.answer != 0:
		return nil, alreadyAnswered
	}
	var kind struct {
		Type int `json:"type"`
		Data any `json:"data"`
	}
	if no := s.decode(r, body, &kind); no != nil {
		return nil, no
	}
	var no *refusal
	switch kind.Type {
	case answersForm:
		no = s.showForm(r, body, a)
	case answersMessage, answersMessageLater:
		no = s.answerAlone(r, body, a, kind.Type)
	case answersNothing:
		if a.kind == commandChosen {
			no = invalid("type: not for a command")
		}
	default:
		no = invalid("type: %d", kind.Type)
	}
	if no == nil {
		a.answer = kind.Type
	}
	return nil, no
}

func (s *Server) showForm(r *http.Request, body []byte, a *act) *refusal {
	var in struct {
		Type int  `json:"type"`
		Data form `json:"data"`
	}
	if no := s.decode(r, body, &in); no != nil {
		return no
	}
	f := in.Data
	if a.kind == formSubmitted || f.CustomID == "" || characters(f.CustomID) > 100 || f.Title == "" || characters(f.Title) > 45 ||
		len(f.Components) != 1 || len(f.Components[0].Components) != 1 {
		return invalid("data: a custom_id, a title up to 45, and a field")
	}
	if field := f.Components[0].Components[0]; field.Type != 4 || field.CustomID == "" || field.Label == "" ||
		characters(field.Label) > 45 ||
		characters(field.Placeholder) > 100 || field.Style != 1 && field.Style != 2 || field.MaxLength < 1 || field.MaxLength > 4000 {
		return invalid("data.components: not a text input")
	}
	a.form = &f
	return nil
}

func (s *Server) answerAlone(r *http.Request, body []byte, a *act, kind int) *refusal {
	var in struct {
		Type int     `json:"type"`
		Data written `json:"data"`
	}
	if no := s.decode(r, body, &in); no != nil {
		return no
	}
	if in.Data.Flags&ephemeral == 0 {
		s.tb.Errorf("an answer that everybody sees: %s", body)
	}
	if kind == answersMessageLater {
		a.open = true
		return nil
	}
	return s.hear(a, in.Data)
}

// hear has somebody told something alone.
func (s *Server) hear(a *act, in written) *refusal {
	if no := s.judge(in, nil); no != nil {
		return no
	}
	a.told = append(a.told, Plain(strings.TrimSpace(*in.Content)))
	return nil
}

// late is the interaction that is answered once more.
func (s *Server) late(r *http.Request) (*act, *refusal) {
	a := s.acts[r.PathValue("token")]
	if a == nil || a.answer == 0 || r.PathValue("application") != application || time.Since(a.at) > followupTime {
		return nil, unknownWebhook
	}
	return a, nil
}

func (s *Server) postFollowup(r *http.Request, body []byte) (any, *refusal) {
	a, no := s.late(r)
	if no != nil {
		return nil, no
	}
	var in written
	if no := s.decode(r, body, &in); no != nil {
		return nil, no
	}
	if in.Flags&ephemeral == 0 {
		s.tb.Errorf("an answer that everybody sees: %s", body)
	}
	if a.open {
		s.tb.Errorf("another answer than the one that is to come: %s", body)
	}
	return map[string]any{"id": s.newID()}, s.hear(a, in)
}

func (s *Server) patchOriginal(r *http.Request, body []byte) (any, *refusal) {
	a, no := s.late(r)
	if no != nil {
		return nil, no
	}
	if !a.open && len(a.told) == 0 {
		return nil, unknownMessage
	}
	var in written
	if no := s.decode(r, body, &in); no != nil {
		return nil, no
	}
	if in.Flags&ephemeral != 0 {
		return nil, invalid("flags: cannot be set")
	}
	a.open, a.told = false, nil
	return map[string]any{"id": s.newID()}, s.hear(a, in)
}

func (s *Server) deleteOriginal(r *http.Request, _ []byte) (any, *refusal) {
	a, no := s.late(r)
	if no != nil {
		return nil, no
	}
	if !a.open && len(a.told) == 0 {
		return nil, unknownMessage
	}
	a.open, a.told = false, nil
	return nil, nil
}
