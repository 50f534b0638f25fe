// Package discordtest is a Discord for tests: its HTTP API and its gateway, version 10, on
// a socket of this machine, in which a test acts as people do and sees what they see.
//
// It is written from Discord's documentation, and refuses what Discord refuses, in
// Discord's codes: a token, a permission or a field that is missing, what is too long,
// intents that were not switched on. What a bot must not do (an unknown field, a
// message that could mention a person, an answer that comes after three seconds) fails
// the test.
//
// There is one server, [Guild], of which everybody who acts is a member, and in it
// [Channel]; [Server.AddChannel] makes more, [Server.DM] is the bot's with a person alone.
package discordtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// What there is at first.
const (
	Guild   = "700000000000000001"
	Channel = "700000000000000002"
	// Bot is the bot's user, Role the role that Discord made for it, application what it
	// belongs to.
	Bot         = "700000000000000003"
	Role        = "700000000000000004"
	application = "700000000000000005"
	owner       = "700000000000000006"
)

// Server is a Discord.
type Server struct {
	// Token is the bot's.
	Token string
	// Patience is how long Discord waits for the first answer to an interaction: three seconds, unless a test of many
	// at once, for which a busy machine is too slow, says more before the first.
	Patience time.Duration

	tb   testing.TB
	http *httptest.Server
	// Faults are of methods as in "POST /channels/{channel}/messages"; the gateway's
	// connection is "GET /gateway".
	chattest.Faults[Fault]
	chattest.Signal

	last     uint64 // the last id
	content  bool   // Message Content Intent is switched on
	channels map[string]*channel
	people   map[string]bool
	offered  []command
	offers   int
	nonces   map[string]*message
	acts     map[string]*act // by token

	gateway
}

// New starts a server that lasts as long as the test.
func New(tb testing.TB) *Server {
	s := &Server{
		Token: "MTAwMDAwMDAwMDAwMDAwMDAx.GtEsTt.0123456789abcdefghijklmnopqrstuvwxyz",
		tb:    tb, Patience: 3 * time.Second, last: 700000000000001000, content: true,
		channels: map[string]*channel{}, people: map[string]bool{owner: true}, nonces: map[string]*message{}, acts: map[string]*act{},
		gateway: gateway{sessions: map[string]*session{}, interval: 41250 * time.Millisecond},
	}
	s.channels[Channel] = &channel{id: Channel, kind: textChannel}
	s.http = chattest.Serve(tb, s.routes(), s.Drop)
	return s
}

// URL is the API's address.
func (s *Server) URL() string { return s.http.URL + "/api/v10" }

// Fault is what becomes of a request instead of an answer. The zero value is none.
type Fault struct {
	// Status is answered, without any effect; 429 with RetryAfter, and Global if it is of
	// the limit on everything.
	Status     int
	RetryAfter time.Duration
	Global     bool
	// Drop closes the connection, before the effect or, with After, after it.
	Drop, After bool
}

// SwitchOffContent has the application without Message Content Intent.
func (s *Server) SwitchOffContent() { s.Change(func() { s.content = false }) }

// Renew gives the bot another token, and returns it.
func (s *Server) Renew() string {
	s.Lock()
	defer s.Unlock()
	s.Token = fmt.Sprintf("renewed.%d.token", s.id())
	return s.Token
}

func (s *Server) id() uint64 { s.last++; return s.last }

func (s *Server) newID() string { return strconv.FormatUint(s.id(), 10) }

// wait returns when something is so, looked at with the lock held; otherwise the test fails.
func (s *Server) wait(what func() string, long time.Duration, is func() bool) bool {
	s.tb.Helper()
	so := s.AwaitFor(long, is)
	if !so {
		s.tb.Errorf("in %v it did not come to be: %s", long, what())
	}
	return so
}

// Kinds of channels.
const (
	textChannel   = 0
	dmChannel     = 1
	publicThread  = 11
	privateThread = 12
)

type channel struct {
	id, parent string
	kind       int
	name       string
	recipient  string
	messages   []*message
	overwrites []overwrite
}

type overwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"`
	Allow int64  `json:"allow,string"`
	Deny  int64  `json:"deny,string"`
}

func (c *channel) isThread() bool { return c.kind == publicThread || c.kind == privateThread }

func (c *channel) json() map[string]any {
	all := map[string]any{"id": c.id, "type": c.kind}
	if c.kind == dmChannel {
		all["recipients"] = []any{user(c.recipient)}
		return all
	}
	all["guild_id"], all["name"] = Guild, c.name
	if c.isThread() {
		all["parent_id"], all["thread_metadata"] = c.parent, map[string]any{"archived": false, "auto_archive_duration": 1440}
	} else {
		all["permission_overwrites"] = c.overwrites
	}
	return all
}

func user(id string) map[string]any {
	return map[string]any{"id": id, "username": "user" + id, "global_name": nil, "discriminator": "0", "bot": id == Bot}
}

// AddChannel makes another channel of the server's.
func (s *Server) AddChannel() string {
	s.Lock()
	defer s.Unlock()
	c := &channel{id: s.newID(), name: "more"}
	s.channels[c.id] = c
	s.tell("CHANNEL_CREATE", c.json(), intentGuilds)
	return c.id
}

// DM is the channel of the bot and a person alone.
func (s *Server) DM(with string) string {
	s.Lock()
	defer s.Unlock()
	for _, c := range s.channels {
		if c.kind == dmChannel && c.recipient == with {
			return c.id
		}
	}
	c := &channel{id: s.newID(), kind: dmChannel, recipient: with}
	s.channels[c.id] = c
	return c.id
}

// Join makes a person a member of the server.
func (s *Server) Join(who string) {
	s.Lock()
	defer s.Unlock()
	s.people[who] = true
}

// Forbid takes permissions from a person, such as [Bot], in a channel.
func (s *Server) Forbid(channel, who string, permissions int64) {
	s.Lock()
	defer s.Unlock()
	c := s.channels[channel]
	c.overwrites = append(c.overwrites, overwrite{ID: who, Type: 1, Deny: permissions})
}

// Permissions of members.
const (
	ViewChannel           int64 = 1 << 10
	SendMessages          int64 = 1 << 11
	AttachFiles           int64 = 1 << 15
	ReadMessageHistory    int64 = 1 << 16
	CreatePublicThreads   int64 = 1 << 35
	SendMessagesInThreads int64 = 1 << 38
)

const everybodyMay = ViewChannel | SendMessages | AttachFiles | ReadMessageHistory | CreatePublicThreads | SendMessagesInThreads

// may says whether the bot may do something; what it may not see it may not touch.
func (s *Server) may(c *channel, permissions int64) {
	if c.isThread() {
		c = s.channels[c.parent]
	}
	if c.kind == dmChannel {
		return
	}
	granted := everybodyMay
	for _, o := range c.overwrites {
		if o.ID == Bot {
			granted = granted&^o.Deny | o.Allow
		}
	}
	switch {
	case granted&ViewChannel == 0:
		panic(&refusal{http.StatusForbidden, 50001, "Missing Access"})
	case granted&permissions != permissions:
		panic(&refusal{http.StatusForbidden, 50013, "Missing Permissions"})
	}
}
