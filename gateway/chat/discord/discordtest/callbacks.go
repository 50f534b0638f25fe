package discordtest

import (
	"net/http"
	"strings"
	"time"
)

// begin tells the bot of what a person did.
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
	s.wait(func() string { return "the bot answers as long as Discord waits" }, s.Patience, func() bool { return a.answer != 0 })
}

func (s *Server) first(a *act) string {
	s.Lock()
	defer s.Unlock()
	if len(a.told) == 0 {
		return ""
	}
	return a.told[0]
}

func (s *Server) postCallback(r *http.Request, body []byte) any {
	a := s.acts[r.PathValue("token")]
	switch {
	case a == nil || a.id != r.PathValue("id") || time.Since(a.at) > s.Patience:
		panic(unknownInteraction)
	case a.answer != 0:
		panic(alreadyAnswered)
	}
	kind := read[response[any]](s, r, body).Type
	switch {
	case kind == answersForm:
		a.show(read[response[form]](s, r, body).Data)
	case kind == answersMessage || kind == answersMessageLater:
		s.answerAlone(a, kind, read[response[written]](s, r, body).Data, body)
	case kind != answersNothing || a.kind == commandChosen:
		panic(invalid("type: %d", kind))
	}
	a.answer = kind
	return nil
}

// response is the first answer to an interaction.
type response[T any] struct {
	Type int `json:"type"`
	Data T   `json:"data"`
}

func (a *act) show(f form) {
	if a.kind == formSubmitted || f.CustomID == "" || characters(f.CustomID) > 100 || f.Title == "" || characters(f.Title) > 45 ||
		len(f.Components) != 1 || len(f.Components[0].Components) != 1 {
		panic(invalid("data: a custom_id, a title up to 45, and a field"))
	}
	if field := f.Components[0].Components[0]; field.Type != 4 || field.CustomID == "" || field.Label == "" ||
		characters(field.Label) > 45 ||
		characters(field.Placeholder) > 100 || field.Style != 1 && field.Style != 2 || field.MaxLength < 1 || field.MaxLength > 4000 {
		panic(invalid("data.components: not a text input"))
	}
	a.form = &f
}

func (s *Server) answerAlone(a *act, kind int, in written, body []byte) {
	s.mustBeAlone(in, body)
	if kind == answersMessageLater {
		a.open = true
		return
	}
	s.hear(a, in)
}

func (s *Server) mustBeAlone(in written, body []byte) {
	if in.Flags&ephemeral == 0 {
		s.tb.Errorf("an answer that everybody sees: %s", body)
	}
}

// hear tells one person something that others do not see.
func (s *Server) hear(a *act, in written) {
	s.judge(in, nil)
	a.told = append(a.told, Plain(strings.TrimSpace(*in.Content)))
}

// late is the interaction that is answered once more.
func (s *Server) late(r *http.Request) *act {
	a := s.acts[r.PathValue("token")]
	if a == nil || a.answer == 0 || r.PathValue("application") != application || time.Since(a.at) > followupTime {
		panic(unknownWebhook)
	}
	return a
}

// original is the answer that is there already, or said to come.
func (s *Server) original(r *http.Request) *act {
	a := s.late(r)
	if !a.open && len(a.told) == 0 {
		panic(unknownMessage)
	}
	return a
}

func (s *Server) postFollowup(r *http.Request, body []byte) any {
	a := s.late(r)
	in := read[written](s, r, body)
	s.mustBeAlone(in, body)
	if a.open {
		s.tb.Errorf("another answer than the one that is to come: %s", body)
	}
	s.hear(a, in)
	return map[string]any{"id": s.newID()}
}

func (s *Server) patchOriginal(r *http.Request, body []byte) any {
	a := s.original(r)
	in := read[written](s, r, body)
	if in.Flags&ephemeral != 0 {
		panic(invalid("flags: cannot be set"))
	}
	a.open, a.told = false, nil
	s.hear(a, in)
	return map[string]any{"id": s.newID()}
}

func (s *Server) deleteOriginal(r *http.Request, _ []byte) any {
	a := s.original(r)
	a.open, a.told = false, nil
	return nil
}
