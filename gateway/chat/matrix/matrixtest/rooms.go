package matrixtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// eventBytes is how long an event may be.
const eventBytes = 65_536

type room struct {
	id string
	// state is what holds, by type and key.
	state map[[2]string]*event
}

// event is one of a room.
type event struct {
	at       int // its place among all
	room     string
	parsed   *held           // of what it holds, once that was looked at
	ID       string          `json:"event_id"`
	Type     string          `json:"type"`
	Sender   string          `json:"sender"`
	StateKey *string         `json:"state_key,omitempty"`
	Content  json.RawMessage `json:"content"`
	Sent     int64           `json:"origin_server_ts"`
	About    about           `json:"unsigned"`
}

type about struct {
	Before   json.RawMessage `json:"prev_content,omitempty"`
	Redacted json.RawMessage `json:"redacted_because,omitempty"`
}

// held is what of an event's content is looked at.
type held struct {
	Type       string `json:"msgtype"`
	Body       *string
	Formatted  string `json:"formatted_body"`
	URL        string
	Membership string
	Name       string `json:"displayname"`
	New        *held  `json:"m.new_content"`
	Mentions   *struct {
		Users []string `json:"user_ids"`
	} `json:"m.mentions"`
	Relates *struct {
		Type    string `json:"rel_type"`
		Event   string `json:"event_id"`
		Key     string
		InReply *struct {
			Event string `json:"event_id"`
		} `json:"m.in_reply_to"`
		Fallback bool `json:"is_falling_back"`
	} `json:"m.relates_to"`
}

func (e *event) held() held {
	if e.parsed == nil {
		e.parsed = new(held)
		_ = json.Unmarshal(e.Content, e.parsed)
	}
	return *e.parsed
}

func (r *room) membership(user string) string {
	if e := r.state[[2]string{"m.room.member", user}]; e != nil {
		return e.held().Membership
	}
	return ""
}

var endpoints = []endpoint{
	{"GET", "/_matrix/client/versions", true, versions},
	{"GET", "/_matrix/client/v3/account/whoami", false, whoami},
	{"POST", "/_matrix/client/v3/logout", false, logout},
	{"GET", "/_matrix/client/v3/profile/{user}/displayname", true, displayName},
	{"PUT", "/_matrix/client/v3/profile/{user}/displayname", false, setDisplayName},
	{"GET", "/_matrix/client/v3/sync", false, sync_},
	{"GET", "/_matrix/client/v3/joined_rooms", false, joinedRooms},
	{"POST", "/_matrix/client/v3/createRoom", false, createRoom},
	{"POST", "/_matrix/client/v3/rooms/{room}/join", false, join},
	{"POST", "/_matrix/client/v3/rooms/{room}/leave", false, leave},
	{"POST", "/_matrix/client/v3/rooms/{room}/invite", false, invite},
	{"PUT", "/_matrix/client/v3/rooms/{room}/send/{type}/{txn}", false, send},
	{"PUT", "/_matrix/client/v3/rooms/{room}/redact/{event}/{txn}", false, redact},
	{"GET", "/_matrix/client/v3/rooms/{room}/state/{type}/{key...}", false, state},
	{"PUT", "/_matrix/client/v3/rooms/{room}/state/{type}/{key...}", false, setState},
	{"GET", "/_matrix/client/v3/rooms/{room}/event/{event}", false, oneEvent},
	{"GET", "/_matrix/client/v3/rooms/{room}/messages", false, messages},
	{"GET", "/_matrix/client/v3/rooms/{room}/joined_members", false, joinedMembers},
	{"GET", "/_matrix/client/v3/user/{user}/account_data/{type}", false, data},
	{"PUT", "/_matrix/client/v3/user/{user}/account_data/{type}", false, setData},
	{"POST", "/_matrix/media/v3/upload", false, upload},
	{"GET", "/_matrix/client/v1/media/download/{host}/{file}", false, download},
}

func readAll(r *http.Request) []byte {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 50<<20))
	if err != nil {
		refuse(413, "M_TOO_LARGE", "The body is too large, or broke off")
	}
	return body
}

// object reads a body, which is to be a JSON object.
func (r *request) object(into any) {
	if !json.Valid(r.body) {
		refuse(400, "M_NOT_JSON", "Content not JSON.")
	}
	if err := json.Unmarshal(r.body, into); err != nil || !strings.HasPrefix(strings.TrimSpace(string(r.body)), "{") {
		refuse(400, "M_BAD_JSON", "Content must be a JSON object: %v", err)
	}
}

// in is the room of a request, if the person who asks is in it.
func (s *Server) in(r *request) *room {
	room := s.rooms[r.PathValue("room")]
	if room == nil || room.membership(r.as.id) != "join" {
		refuse(403, "M_FORBIDDEN", "User %s not in room %s", r.as.id, r.PathValue("room"))
	}
	return room
}

// add adds an event to a room; the lock is held.
func (s *Server) add(room *room, by, kind string, key *string, content any) *event {
	text, err := json.Marshal(content)
	if err != nil {
		s.tb.Fatal(err)
	}
	e := &event{at: len(s.events) + 1, room: room.id, Type: kind, Sender: by, StateKey: key, Content: text, Sent: time.Now().UnixMilli()}
	e.ID = fmt.Sprintf("$%06d", e.at)
	if key != nil {
		if before := room.state[[2]string{kind, *key}]; before != nil {
			e.About.Before = before.Content
		}
		room.state[[2]string{kind, *key}] = e
	}
	s.events = append(s.events, e)
	s.Wake()
	return e
}

func (s *Server) member(room *room, by, user, membership string, more map[string]any) {
	content := map[string]any{"membership": membership}
	for name, value := range more {
		content[name] = value
	}
	s.add(room, by, "m.room.member", &user, content)
}

func (s *Server) event(room *room, id string) *event {
	i := slices.IndexFunc(s.events, func(e *event) bool { return e.room == room.id && e.ID == id })
	if i < 0 {
		return nil
	}
	return s.events[i]
}
