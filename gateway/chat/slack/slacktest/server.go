// Package slacktest is a Slack for tests: a workspace in memory that speaks the Web API,
// Socket Mode and the calls by HTTP of the real one, in which a test acts for people.
//
// It is as strict as Slack where that says how strict it is: tokens, scopes, members of
// channels, arguments, the limits of blocks and views, triggers that end. It refuses
// besides what bailiff never sends, so that a text cannot come to be markup unseen.
package slacktest

import (
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// What the app is known by.
const (
	Token         = "xoxb-1-bot-token-for-tests"
	AppToken      = "xapp-1-app-token-for-tests"
	SigningSecret = "signing-secret-for-tests"
	// Bot is the app's user, whom people write as @bailiff.
	Bot = "UBAILIFF"
	// Team is the workspace.
	Team = "T01"
)

// Scopes are what the app is allowed, unless a test says otherwise by [Server.Allow].
var Scopes = []string{"chat:write", "commands", "files:write", "channels:history", "groups:history", "im:history", "mpim:history",
	"channels:read", "groups:read"}

// Message is one that people see.
type Message struct {
	ID, Channel, Thread string
	// By is the user whose it is, To the only one who sees it; empty means everybody.
	By, To string
	// Text is what is shown, a block in lines of its own.
	Text    string
	Buttons []Button
	Files   []File
	// Edits is how often it became another.
	Edits int
	// Key is in its metadata.
	Key string

	metadata any
	blocks   any
}

// Button is one below a message.
type Button struct{ Label, Style, id, value string }

// File is one that goes with a message.
type File struct{ ID, Name, Content string }

// channel is a conversation.
type channel struct {
	id       string
	members  []string
	archived bool
	messages []*Message
}

func (c *channel) isPrivate() bool { return strings.HasPrefix(c.id, "G") }

// kind is what Slack calls a conversation's in events.
func (c *channel) kind() string {
	switch {
	case strings.HasPrefix(c.id, "D"):
		return "im"
	case strings.HasPrefix(c.id, "GM"):
		return "mpim"
	case c.isPrivate():
		return "group"
	}
	return "channel"
}

// Server is the workspace.
type Server struct {
	tb   testing.TB
	http *httptest.Server

	// Faults are of methods, and of "upload", "link", "response_url", "events_api",
	// "interactive" and "slash_commands".
	chattest.Faults[Fault]
	chattest.Signal

	count    int
	scopes   []string
	mentions bool
	channels map[string]*channel
	private  []Message // seen by one person
	files    map[string]*upload
	triggers map[string]trigger
	forms    map[string]form

	post *post // where calls by HTTP go
	line *line // Socket Mode
}

// New opens a workspace, which ends with the test.
func New(tb testing.TB) *Server {
	s := &Server{tb: tb, scopes: Scopes, channels: map[string]*channel{}, files: map[string]*upload{},
		triggers: map[string]trigger{}, forms: map[string]form{}}
	s.line = newLine(s)
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveMethod)
	mux.HandleFunc("/upload/{id}", s.serveUpload)
	mux.HandleFunc("/respond/{user}/{channel}", s.serveResponse)
	mux.HandleFunc("/link", s.line.serve)
	s.http = chattest.Serve(tb, mux, s.line.close)
	return s
}

// URL is the API's address.
func (s *Server) URL() string { return s.http.URL + "/api/" }

// Channel makes a conversation with members, among whom the bot is only if named: C… is a
// public channel, G… a private one, GM… one of several people, D… a direct message.
func (s *Server) Channel(id string, members ...string) {
	s.Change(func() { s.channels[id] = &channel{id: id, members: members} })
}

// Archive closes a channel for good.
func (s *Server) Archive(id string) { s.Change(func() { s.channels[id].archived = true }) }

// Delete removes a message.
func (s *Server) Delete(id, message string) {
	s.Lock()
	defer s.Unlock()
	c := s.channels[id]
	c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool { return m.ID == message })
}

// Allow sets the app's scopes.
func (s *Server) Allow(scopes ...string) { s.Change(func() { s.scopes = scopes }) }

// Mentions subscribes the app to app_mention, so that what names it is delivered in two
// ways.
func (s *Server) Mentions() { s.Change(func() { s.mentions = true }) }

// Fault is what goes wrong with one call, or one delivery; the zero value is nothing.
type Fault struct {
	// Status is an HTTP status to answer by; RetryAfter goes with 429.
	Status     int
	RetryAfter int
	// Error is a no of Slack's.
	Error string
	// Drop ends the connection without an answer, Garbled answers something else.
	Drop, Garbled bool
	// Done says that what was asked is done all the same.
	Done bool
	// Twice delivers twice. It is for "events_api", "interactive" and "slash_commands".
	Twice bool
}

// FailNowAndThen has one of so many calls fail by one of the faults, and returns how often
// that was.
func (s *Server) FailNowAndThen(oneOf int, by ...Fault) (faults func() int) {
	dice, n := rand.New(rand.NewSource(1)), new(atomic.Int32)
	s.Fail(func(string) Fault { // one at a time
		if dice.Intn(oneOf) > 0 {
			return Fault{}
		}
		n.Add(1)
		return by[dice.Intn(len(by))]
	})
	return func() int { return int(n.Load()) }
}

// Messages is what everybody in a channel sees, in its threads too, in order.
func (s *Server) Messages(id string) (all []Message) {
	s.Lock()
	defer s.Unlock()
	if c := s.channels[id]; c != nil {
		for _, m := range c.messages {
			all = append(all, *m)
		}
	}
	return all
}

// Told is what was told to one person alone.
func (s *Server) Told(user string) (all []string) {
	for _, m := range s.Whispers(user) {
		all = append(all, m.Text)
	}
	return all
}

// Whispers are the messages by which a person was told something alone.
func (s *Server) Whispers(user string) (all []Message) {
	s.Lock()
	defer s.Unlock()
	for _, m := range s.private {
		if m.To == user {
			all = append(all, m)
		}
	}
	return all
}

// Await waits until something is so.
func (s *Server) Await(what string, so func() bool) {
	s.tb.Helper()
	s.tb.Logf("waiting until %s", what)
	s.Until(so)
}

// Until waits until something is so, which is looked at whenever anything happened.
func (s *Server) Until(so func() bool) {
	s.tb.Helper()
	if !s.AwaitSeen(s.tb, so) {
		s.tb.Fatalf("it did not come to what was waited for:\n%s", s.story())
	}
}

// story is all that is shown.
func (s *Server) story() string {
	s.Lock()
	defer s.Unlock()
	var b strings.Builder
	for id, c := range s.channels {
		for _, m := range c.messages {
			fmt.Fprintf(&b, "%s %s %s: %q %v\n", id, m.ID, m.By, m.Text, m.Buttons)
		}
	}
	for _, m := range s.private {
		fmt.Fprintf(&b, "%s to %s alone: %q\n", m.Channel, m.To, m.Text)
	}
	return b.String()
}

// stamp is the id of a new message: a time, and what makes it the only one. The lock is
// held.
func (s *Server) stamp() string {
	s.count++
	return fmt.Sprintf("%d.%06d", time.Now().Unix(), s.count)
}

func (s *Server) add(c *channel, m Message) *Message {
	m.ID, m.Channel = s.stamp(), c.id
	c.messages = append(c.messages, &m)
	s.Wake()
	return &m
}

func (c *channel) find(id string) *Message {
	if i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.ID == id }); i >= 0 {
		return c.messages[i]
	}
	return nil
}
