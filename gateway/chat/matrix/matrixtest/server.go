// Package matrixtest is a homeserver for tests, as strict as Matrix's client-server API
// (v3) says: who does not log in, asks by another method, leaves out a field or is not in
// a room hears what a homeserver says then. It knows what bailiff and people's clients
// use of it.
//
// A [Person] acts as people's clients do, here or at a real homeserver. [Faults] fail a
// part of the requests, of whichever of both.
package matrixtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Host is the name of the homeserver.
const Host = "example.test"

// Bot is bailiff's account, and Token its access token.
const (
	Bot   = "@bailiff:" + Host
	Token = "syt_of_bailiff"
)

// Server is a homeserver.
type Server struct {
	tb     testing.TB
	http   *httptest.Server
	faults Faults

	mu       sync.Mutex
	changed  chan struct{} // closed by what is new
	end      context.Context
	users    map[string]*user // by their tokens
	rooms    map[string]*room
	events   []*event // of all rooms, in their order
	files    map[string][]byte
	versions []string
	calls    map[string]int
	txns     map[string]string
}

type user struct {
	id, token, name string
	data            map[string]json.RawMessage
	// soon are how many more events it may send; below zero any number.
	soon int
}

// New starts a homeserver, which ends with the test. It has bailiff's account.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{
		tb: tb, changed: make(chan struct{}), users: map[string]*user{}, rooms: map[string]*room{}, files: map[string][]byte{},
		versions: []string{"r0.6.1", "v1.1", "v1.4", "v1.11"}, calls: map[string]int{}, txns: map[string]string{},
	}
	ctx, stop := context.WithCancel(context.Background())
	s.end = ctx
	s.http = httptest.NewServer(s.faults.Around(http.HandlerFunc(s.serve)))
	tb.Cleanup(func() {
		stop()
		s.http.CloseClientConnections()
		s.http.Close()
	})
	s.join(Bot, Token)
	return s
}

// URL is the homeserver's address.
func (s *Server) URL() string { return s.http.URL }

// Fail has requests fail as how says of what each asks for: "sync", "send", "upload",
// "event", "messages", "createRoom" and the like. Nil lets all pass.
func (s *Server) Fail(how func(method string) Fault) { s.faults.Fail(how) }

// Calls are how many requests there were for something, those included that failed
// before they had an effect.
func (s *Server) Calls(method string) int { return s.faults.Calls(method) }

// Faults are those by which its requests fail.
func (s *Server) Faults() *Faults { return &s.faults }

// Speaks says which versions of the API the homeserver names.
func (s *Server) Speaks(versions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions = versions
}

// Limit lets an account send so many more events, and then none.
func (s *Server) Limit(id string, events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID(id).soon = events
}

// Person is somebody's client; they get an account with the first use of their name.
func (s *Server) Person(name string) *Person {
	id, token := "@"+name+":"+Host, "syt_of_"+name
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[token] == nil {
		s.join(id, token)
	}
	return &Person{ID: id, URL: s.URL(), Token: token, tb: s.tb}
}

func (s *Server) join(id, token string) {
	local, _, _ := strings.Cut(id[1:], ":")
	s.users[token] = &user{id: id, token: token, name: local, data: map[string]json.RawMessage{}, soon: -1}
}

func (s *Server) byID(id string) *user {
	for _, u := range s.users {
		if u.id == id {
			return u
		}
	}
	s.tb.Fatalf("the homeserver has no account %s", id)
	return nil
}

// wake lets those go on who wait for what is new; s.mu is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// request is one that is being answered.
type request struct {
	*http.Request
	as   *user
	args map[string]string
	body []byte
}

// refusal is an answer that says no.
type refusal struct {
	status     int
	code, text string
	after      time.Duration
}

func no(status int, code, text string, args ...any) *refusal {
	return &refusal{status: status, code: code, text: fmt.Sprintf(text, args...)}
}

func (r *refusal) write(w http.ResponseWriter) {
	body := map[string]any{"errcode": r.code, "error": r.text}
	if r.status == http.StatusTooManyRequests {
		body["retry_after_ms"] = r.after.Milliseconds()
	}
	write(w, r.status, body)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	e, args, no := find(r)
	if no != nil {
		no.write(w)
		return
	}
	answer, no := s.answer(r, e, args)
	if no != nil {
		no.write(w)
		return
	}
	if text, is := answer.([]byte); is {
		_, _ = w.Write(text)
		return
	}
	write(w, http.StatusOK, answer)
}

func (s *Server) answer(r *http.Request, e endpoint, args map[string]string) (any, *refusal) {
	body, no := readAll(r)
	if no != nil {
		return nil, no
	}
	ask := &request{Request: r, args: args, body: body}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.open {
		if no := s.login(ask); no != nil {
			return nil, no
		}
	}
	return e.do(s, ask)
}

// login finds out whose request it is.
func (s *Server) login(r *request) *refusal {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !is {
		return no(401, "M_MISSING_TOKEN", "Missing access token")
	}
	if r.as = s.users[token]; r.as == nil {
		return no(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
	}
	return nil
}

// endpoint is one call of the API. Words of its path in braces may be anything.
type endpoint struct {
	method, path string
	// open says that it can be asked without logging in.
	open bool
	do   func(*Server, *request) (any, *refusal)
}

// find finds what a request asks for.
func find(r *http.Request) (endpoint, map[string]string, *refusal) {
	status, text := 404, "Unrecognized request"
	for _, e := range endpoints {
		args, is := match(e.path, r.URL.EscapedPath())
		switch {
		case is && e.method == r.Method:
			return e, args, nil
		case is:
			status, text = 405, "Unrecognized request: another method is wanted"
		}
	}
	return endpoint{}, nil, no(status, "M_UNRECOGNIZED", "%s", text)
}

func match(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	args := map[string]string{}
	if len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		word, err := url.PathUnescape(have[i])
		if name, is := strings.CutPrefix(part, "{"); is && err == nil {
			args[strings.TrimSuffix(name, "}")] = word
		} else if part != word {
			return nil, false
		}
	}
	return args, true
}
