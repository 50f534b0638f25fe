package matrixtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// send adds an event, once for each transaction of a token's.
func send(s *Server, r *request) any {
	txn := r.as.token + "\x00" + r.PathValue("room") + "\x00" + r.PathValue("type") + "\x00" + r.PathValue("txn")
	if id, known := s.txns[txn]; known {
		return map[string]any{"event_id": id}
	}
	room := s.in(r)
	content := map[string]any{}
	r.object(&content)
	s.judge(room, r)
	id := s.add(room, r.as.id, r.PathValue("type"), nil, content).ID
	s.txns[txn] = id
	return map[string]any{"event_id": id}
}

// judge says why an event may not be sent.
func (s *Server) judge(room *room, r *request) {
	var h held
	_ = json.Unmarshal(r.body, &h)
	switch {
	case r.as.soon == 0:
		panic(&refusal{429, "M_LIMIT_EXCEEDED", "Too Many Requests", 3 * time.Second})
	case len(r.body)+500 > eventBytes: // with what the homeserver adds
		refuse(413, "M_TOO_LARGE", "event too large")
	case r.PathValue("type") == "m.room.message" && (h.Type == "" || h.Body == nil):
		refuse(400, "M_BAD_JSON", "'msgtype' and 'body' are required properties")
	case h.Mentions != nil && h.Mentions.Users == nil && strings.Contains(string(r.body), `"user_ids":null`):
		refuse(400, "M_BAD_JSON", "\"user_ids\": None is not of type 'array'")
	case r.PathValue("type") == "m.reaction" && (h.Relates == nil || h.Relates.Type != "m.annotation" || h.Relates.Key == ""):
		refuse(400, "M_BAD_JSON", "A reaction annotates an event by a key")
	}
	s.judgeRelation(room, r, h)
	if r.as.soon > 0 {
		r.as.soon--
	}
}

func (s *Server) judgeRelation(room *room, r *request, h held) {
	if h.Relates == nil || h.Relates.Type == "" {
		return
	}
	to := s.event(room, h.Relates.Event)
	if to == nil {
		refuse(400, "M_UNKNOWN", "Can't send relation to unknown event")
	}
	if of := to.held().Relates; h.Relates.Type == "m.thread" && of != nil && of.Type != "" {
		refuse(400, "M_UNKNOWN", "Cannot start threads from an event with a relation")
	}
	for _, e := range s.events {
		had := e.held().Relates
		if h.Relates.Type == "m.annotation" && e.Sender == r.as.id && e.Type == r.PathValue("type") && had != nil && had.Event == to.ID &&
			had.Key == h.Relates.Key {
			refuse(400, "M_DUPLICATE_ANNOTATION", "Can't send same reaction twice")
		}
	}
}

func redact(s *Server, r *request) any {
	room := s.in(r)
	gone := s.event(room, r.PathValue("event"))
	if gone == nil {
		refuse(404, "M_NOT_FOUND", "Could not find event %s", r.PathValue("event"))
	}
	e := s.add(room, r.as.id, "m.room.redaction", nil, map[string]any{"redacts": gone.ID})
	gone.Content, gone.parsed = json.RawMessage("{}"), nil
	gone.About.Redacted, _ = json.Marshal(e)
	return map[string]any{"event_id": e.ID}
}

func oneEvent(s *Server, r *request) any {
	room := s.in(r)
	e := s.event(room, r.PathValue("event"))
	if e == nil {
		refuse(404, "M_NOT_FOUND", "Event not found.")
	}
	return e
}

// place is one among all events, as tokens name it.
func place(token string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(token, "s"))
	if err != nil || !strings.HasPrefix(token, "s") {
		refuse(400, "M_UNKNOWN", "Invalid stream token")
	}
	return n
}

func token(at int) string { return "s" + strconv.Itoa(at) }

type filter struct {
	Types *[]string `json:"types"`
	Limit int       `json:"limit"`
}

func (f filter) takes(e *event) bool { return f.Types == nil || slices.Contains(*f.Types, e.Type) }

// messages is a page of a room's events, towards its beginning.
func messages(s *Server, r *request) any {
	room := s.in(r)
	query := r.URL.Query()
	var wanted filter
	from, to := len(s.events), 0
	if query.Has("from") {
		from = place(query.Get("from"))
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	switch {
	case query.Get("dir") != "b":
		refuse(400, "M_MISSING_PARAM", "Query parameter 'dir' must be b here")
	case err != nil || limit < 1:
		refuse(400, "M_INVALID_PARAM", "Query parameter 'limit' must be an integer")
	case json.Unmarshal([]byte(query.Get("filter")), &wanted) != nil:
		refuse(400, "M_BAD_JSON", "filter is no JSON")
	}
	if query.Has("to") {
		to = place(query.Get("to"))
	}
	return s.before(room, from, to, limit, wanted)
}

func (s *Server) before(room *room, from, to, limit int, wanted filter) any {
	chunk, at := []*event{}, from
	for ; at > to && len(chunk) < limit; at-- {
		if e := s.events[at-1]; e.room == room.id && wanted.takes(e) {
			chunk = append(chunk, e)
		}
	}
	page := map[string]any{"chunk": chunk, "start": token(from)}
	if at > to {
		page["end"] = token(at)
	}
	return page
}

// sync_ is what is new, waited for.
func sync_(s *Server, r *request) any {
	query := r.URL.Query()
	since := 0
	if query.Has("since") {
		since = place(query.Get("since"))
	}
	if since > len(s.events) {
		refuse(400, "M_UNKNOWN", "Invalid stream token")
	}
	var wanted struct {
		Room struct {
			Timeline filter `json:"timeline"`
		} `json:"room"`
	}
	if text := query.Get("filter"); text != "" && json.Unmarshal([]byte(text), &wanted) != nil {
		refuse(400, "M_BAD_JSON", "filter is no JSON")
	}
	wait, _ := strconv.Atoi(query.Get("timeout"))
	late := time.After(time.Duration(wait) * time.Millisecond)
	for {
		news, any := s.news(r.as, since, wanted.Room.Timeline)
		if any || since == 0 || s.rest(r, late) {
			return news
		}
		if s.users[r.as.token] == nil {
			refuse(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
		}
	}
}

// rest waits for something new without the lock; true says that there was nothing in
// time.
func (s *Server) rest(r *request, late <-chan time.Time) bool {
	changed := s.Changes()
	s.Unlock()
	defer s.Lock()
	select {
	case <-changed:
		return false
	case <-late:
	case <-r.Context().Done():
	case <-s.end.Done():
	}
	return true
}

// news is what is new to a person since a place.
func (s *Server) news(as *user, since int, wanted filter) (news any, is bool) {
	joined, invited := map[string]any{}, map[string]any{}
	for id, room := range s.rooms {
		mine := room.state[[2]string{"m.room.member", as.id}]
		if mine == nil {
			continue
		}
		switch mine.held().Membership {
		case "join":
			if part := s.part(room, as, since, mine.at, wanted); part != nil {
				joined[id] = part
			}
		case "invite":
			if mine.at > since {
				invited[id] = map[string]any{"invite_state": map[string]any{"events": []*event{mine}}}
			}
		}
	}
	next := map[string]any{"next_batch": token(len(s.events)), "rooms": map[string]any{"join": joined, "invite": invited}}
	return next, len(joined)+len(invited) > 0
}

// part is what is new in a room: the last events, and whether there are more. To a person
// who has just come everything in it is new.
func (s *Server) part(room *room, as *user, since, arrived int, wanted filter) any {
	if before := s.events[arrived-1].About.Before; arrived > since && membershipOf(before) != "join" {
		since = 0
	}
	var all []*event
	for _, e := range s.events[since:] {
		if e.room == room.id && wanted.takes(e) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	limit := wanted.Limit
	if limit == 0 {
		limit = 10
	}
	kept := all[max(0, len(all)-limit):]
	return map[string]any{"timeline": map[string]any{"events": kept, "limited": len(kept) < len(all), "prev_batch": token(kept[0].at - 1)}}
}

func membershipOf(content json.RawMessage) string {
	var h held
	_ = json.Unmarshal(content, &h)
	return h.Membership
}
