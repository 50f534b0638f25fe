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
)

// upload is a file on its way.
type upload struct {
	name, content string
	length        int
	sent, shared  bool
}

// no is an answer that refuses.
type no struct{ code, needed string }

func (n no) Error() string { return n.code }

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
	f := s.fault(method)
	if f.broken() && !f.Done {
		f.answer(w)
		return
	}
	say, err := s.do(method, r, body)
	if f.broken() {
		f.answer(w)
		return
	}
	if err != nil {
		var refusal no
		if n, is := err.(no); is {
			refusal = n
		}
		say = answer{"error": refusal.code}
		if refusal.needed != "" {
			say["needed"], say["provided"] = refusal.needed, strings.Join(s.allowed(), ",")
		}
	}
	say["ok"] = err == nil
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.allowed(), ","))
	_ = json.NewEncoder(w).Encode(say)
}

func (s *Server) allowed() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
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
func (s *Server) do(method string, r *http.Request, body []byte) (answer, error) {
	if r.Method != http.MethodPost {
		return nil, no{code: "invalid_request_method"}
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	a := asks{Values: url.Values{}}
	switch kind {
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, no{code: "invalid_form_data"}
		}
		a.Values = values
	case "application/json":
		a.raw = body
	default:
		return nil, no{code: "invalid_post_type"}
	}
	token := a.Get("token")
	if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is {
		token = bearer
	}
	if method == "apps.connections.open" {
		return s.open(token, a.Get("token") != "")
	}
	if err := isBot(token); err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	known, is := methods[method]
	if !is {
		return nil, no{code: "unknown_method"}
	}
	if err := s.may(known.scope); err != nil {
		return nil, err
	}
	return known.do(s, a)
}

func isBot(token string) error {
	switch {
	case token == "":
		return no{code: "not_authed"}
	case strings.HasPrefix(token, "xapp-"):
		return no{code: "not_allowed_token_type"}
	case token != Token:
		return no{code: "invalid_auth"}
	}
	return nil
}

// may says whether the app has a scope. The lock is held.
func (s *Server) may(scope string) error {
	if scope == "" || slices.Contains(s.scopes, scope) {
		return nil
	}
	return no{"missing_scope", scope}
}

type method struct {
	scope string
	do    func(*Server, asks) (answer, error)
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

func (s *Server) open(token string, asArgument bool) (answer, error) {
	switch {
	case token == "":
		return nil, no{code: "not_authed"}
	case strings.HasPrefix(token, "xoxb-"):
		return nil, no{code: "not_allowed_token_type"}
	case token != AppToken || asArgument:
		return nil, no{code: "invalid_auth"}
	}
	return answer{"url": s.line.address()}, nil
}
