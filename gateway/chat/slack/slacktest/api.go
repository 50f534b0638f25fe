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

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// upload is a file on its way.
type upload struct {
	name, content string
	length        int
	sent, shared  bool
}

// no is an answer that refuses.
type no struct{ code, needed string }

func refuse(code string) { panic(&no{code: code}) }

type answer = map[string]any

// asks is one call.
type asks struct {
	url.Values
	raw []byte // of a call in JSON
}

// serveMethod answers as Slack's Web API.
func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	f := s.Next(method)
	if f.broken() && !f.Done {
		f.answer(w)
		return
	}
	done, refusal := chattest.Answer[no](func() any { return s.do(method, r, body) })
	if f.broken() {
		f.answer(w)
		return
	}
	say, _ := done.(answer)
	if refusal != nil {
		if say = (answer{"error": refusal.code}); refusal.needed != "" {
			say["needed"], say["provided"] = refusal.needed, strings.Join(s.allowed(), ",")
		}
	}
	say["ok"] = refusal == nil
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.allowed(), ","))
	_ = json.NewEncoder(w).Encode(say)
}

func (s *Server) allowed() []string {
	s.Lock()
	defer s.Unlock()
	return slices.Clone(s.scopes)
}

func (f Fault) broken() bool { return f.Status != 0 || f.Error != "" || f.Drop || f.Garbled }

func (f Fault) answer(w http.ResponseWriter) {
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Garbled:
		_, _ = io.WriteString(w, "<html>be right back</html>")
	case f.Error != "":
		_, _ = fmt.Fprintf(w, `{"ok":false,"error":%q}`, f.Error)
	default:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, "<html>no</html>")
	}
}

// do checks who calls, and does what is asked.
func (s *Server) do(method string, r *http.Request, body []byte) answer {
	if r.Method != http.MethodPost {
		refuse("invalid_request_method")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	a := asks{Values: url.Values{}}
	switch kind {
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			refuse("invalid_form_data")
		}
		a.Values = values
	case "application/json":
		a.raw = body
	default:
		refuse("invalid_post_type")
	}
	token := a.Get("token")
	if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
		token = bearer
	}
	if method == "apps.connections.open" {
		isToken(token, "xoxb-", AppToken)
		if a.Get("token") != "" {
			refuse("invalid_auth")
		}
		return answer{"url": s.line.address()}
	}
	isToken(token, "xapp-", Token)
	s.Lock()
	defer s.Unlock()
	known, is := methods[method]
	if !is {
		refuse("unknown_method")
	}
	s.may(known.scope)
	return known.do(s, a)
}

// isToken refuses any token but one, those of the other kind by their beginning.
func isToken(token, other, want string) {
	switch {
	case token == "":
		refuse("not_authed")
	case strings.HasPrefix(token, other):
		refuse("not_allowed_token_type")
	case token != want:
		refuse("invalid_auth")
	}
}

// may says whether the app has a scope. The lock is held.
func (s *Server) may(scope string) {
	if !s.allows(scope) {
		panic(&no{"missing_scope", scope})
	}
}

func (s *Server) allows(scope string) bool { return scope == "" || slices.Contains(s.scopes, scope) }

type method struct {
	scope string
	do    func(*Server, asks) answer
}

var methods = map[string]method{
	"auth.test":                    {"", (*Server).authTest},
	"chat.postMessage":             {"chat:write", (*Server).postMessage},
	"chat.update":                  {"chat:write", (*Server).update},
	"chat.postEphemeral":           {"chat:write", (*Server).postEphemeral},
	"conversations.info":           {"", (*Server).info},
	"conversations.members":        {"", (*Server).members},
	"conversations.history":        {"", (*Server).history},
	"conversations.replies":        {"", (*Server).replies},
	"files.getUploadURLExternal":   {"files:write", (*Server).uploadURL},
	"files.completeUploadExternal": {"files:write", (*Server).completeUpload},
	"views.open":                   {"", (*Server).openView},
}
