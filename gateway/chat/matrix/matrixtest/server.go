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
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// Host is the name of the homeserver.
const Host = "example.test"

// Bot is bailiff's account, and Token its access token.
const (
	Bot   = "@bailiff:" + Host
	Token = "syt_of_the_account_bailiff"
)

// Server is a homeserver.
type Server struct {
	tb   testing.TB
	http *httptest.Server
	// Faults are by what a request asks for: "sync", "send", "upload", "event", "messages",
	// "createRoom" and the like.
	Faults
	chattest.Signal

	end      context.Context
	users    map[string]*user // by their tokens
	rooms    map[string]*room
	events   []*event // of all rooms, in their order
	files    map[string][]byte
	versions []string
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
		tb: tb, users: map[string]*user{}, rooms: map[string]*room{}, files: map[string][]byte{},
		versions: []string{"r0.6.1", "v1.1", "v1.4", "v1.11"}, txns: map[string]string{},
	}
	ctx, stop := context.WithCancel(context.Background())
	s.end = ctx
	s.http = chattest.Serve(tb, s.Around(s.routes()), stop)
	s.join(Bot, Token)
	return s
}

// URL is the homeserver's address.
func (s *Server) URL() string { return s.http.URL }

// Speaks says which versions of the API the homeserver names.
func (s *Server) Speaks(versions ...string) { s.Change(func() { s.versions = versions }) }

// Limit lets an account send so many more events, and then none.
func (s *Server) Limit(id string, events int) { s.Change(func() { s.byID(id).soon = events }) }

// Person is a person's client; they get an account with the first use of their name.
func (s *Server) Person(name string) *Person {
	id, token := "@"+name+":"+Host, "syt_of_the_account_"+name
	s.Lock()
	defer s.Unlock()
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
	return nil
}

// request is one that is being answered.
type request struct {
	*http.Request
	as   *user
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

func refuse(status int, code, text string, args ...any) { panic(no(status, code, text, args...)) }

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

// routes are the endpoints, and what a homeserver says elsewhere.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, e := range endpoints {
		mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		other := r.Clone(r.Context())
		for _, other.Method = range []string{"GET", "POST", "PUT"} {
			if _, pattern := mux.Handler(other); pattern != "/" {
				no(405, "M_UNRECOGNIZED", "Unrecognized request: another method is wanted").write(w)
				return
			}
		}
		no(404, "M_UNRECOGNIZED", "Unrecognized request").write(w)
	})
	return mux
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	answer, no := chattest.Answer[refusal](func() any { return s.answer(r, e) })
	text, isFile := answer.([]byte)
	switch {
	case no != nil:
		no.write(w)
	case isFile:
		_, _ = w.Write(text)
	default:
		write(w, http.StatusOK, answer)
	}
}

func (s *Server) answer(r *http.Request, e endpoint) any {
	ask := &request{Request: r, body: readAll(r)}
	s.Lock()
	defer s.Unlock()
	if !e.open {
		s.login(ask)
	}
	return e.do(s, ask)
}

// login finds out whose request it is.
func (s *Server) login(r *request) {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !is {
		refuse(401, "M_MISSING_TOKEN", "Missing access token")
	}
	if r.as = s.users[token]; r.as == nil {
		refuse(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
	}
}

// endpoint is one call of the API. A refusal is a panic.
type endpoint struct {
	method, path string
	// open says that it can be asked without logging in.
	open bool
	do   func(*Server, *request) any
}
