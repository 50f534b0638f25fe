package discordtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// Intents that a bot may have; those of members and presences are not switched on.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
	allIntents           = 1<<26 - 1
	switchedOff          = 1<<1 | 1<<8
)

// gateway is the part of the server that tells events.
type gateway struct {
	sessions  map[string]*session
	lines     []*line
	interval  time.Duration
	mute      bool
	refuse    int // the code by which whoever identifies is refused
	beats     int
	began     int // sessions
	resumed   int
	startsMax int // how many sessions may begin; 0 is any
	// resetAfter is when they may again.
	resetAfter time.Duration
}

// session is what outlives a connection.
type session struct {
	id      string
	intents int
	told    []told
	line    *line // nil while there is none
}

type told struct {
	seq   int64
	event string
	data  any
}

// line is a connection.
type line struct {
	ws      *websocket.Conn
	writing sync.Mutex
	session *session
}

func (l *line) say(op int, data any, event string, seq int64) {
	frame := map[string]any{"op": op, "d": data, "s": nil, "t": nil}
	if op == 0 {
		frame["s"], frame["t"] = seq, event
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_ = l.ws.SetWriteDeadline(time.Now().Add(60 * time.Second))
	_ = l.ws.WriteJSON(frame)
}

func (l *line) raw(text string) {
	l.writing.Lock()
	defer l.writing.Unlock()
	_ = l.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

func (l *line) close(code int, why string) {
	_ = l.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
	l.ws.Close()
}

func (s *Server) left() int {
	if s.startsMax == 0 {
		return 1000
	}
	return max(0, s.startsMax-s.began)
}

// LimitStarts lets so many sessions begin, and none more before the time is over.
func (s *Server) LimitStarts(most int, after time.Duration) {
	s.Change(func() { s.startsMax, s.resetAfter = most, after })
}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	fault, interval := s.Next("GET /gateway"), time.Duration(0)
	s.Read(func() { interval = s.interval })
	switch {
	case fault.Drop:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		s.sayFault(w, fault)
		return
	}
	up := websocket.Upgrader{}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	l := &line{ws: ws}
	if q := r.URL.Query(); q.Get("v") != "10" || q.Get("encoding") != "json" {
		l.close(4012, "Invalid API version.")
		return
	}
	s.Lock()
	s.lines = append(s.lines, l)
	s.Unlock()
	l.say(10, map[string]any{"heartbeat_interval": interval.Milliseconds()}, "", 0)
	s.converse(l, interval)
}

type heard struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

func (s *Server) converse(l *line, interval time.Duration) {
	defer s.hangUp(l)
	for {
		_ = l.ws.SetReadDeadline(time.Now().Add(3 * interval))
		var f heard
		if err := l.ws.ReadJSON(&f); err != nil {
			if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
				s.end(l)
			}
			return
		}
		switch f.Op {
		case 1:
			if s.beat() {
				l.say(11, nil, "", 0)
			}
		case 2:
			if code := s.identify(l, f.Data); code != 0 {
				l.close(code, "")
				return
			}
		case 6:
			if code := s.resume(l, f.Data); code != 0 {
				l.close(code, "")
				return
			}
		default:
			s.tb.Errorf("the bot sends op %d", f.Op)
			l.close(4001, "Unknown opcode.")
			return
		}
	}
}

// beat notes a heartbeat and says whether it is answered.
func (s *Server) beat() bool {
	s.Lock()
	defer s.Unlock()
	s.beats++
	s.Wake()
	return !s.mute
}

// AwaitBeats waits for so many heartbeats, and returns how many there were.
func (s *Server) AwaitBeats(n int) (beats int) {
	s.tb.Helper()
	s.wait(func() string { return strconv.Itoa(n) + " heartbeats" }, chattest.Patience(s.tb), func() bool {
		beats = s.beats
		return beats >= n
	})
	return beats
}

func (s *Server) hangUp(l *line) {
	s.Lock()
	defer s.Unlock()
	if l.session != nil && l.session.line == l {
		l.session.line = nil
	}
	s.Wake()
}

// end is of a session that the bot itself has closed.
func (s *Server) end(l *line) {
	s.Lock()
	defer s.Unlock()
	if l.session != nil {
		delete(s.sessions, l.session.id)
	}
	s.Wake()
}

// Forget ends all sessions without a word.
func (s *Server) Forget() { s.Change(func() { clear(s.sessions) }) }

// AwaitSessions waits until there are so many.
func (s *Server) AwaitSessions(n int) {
	s.tb.Helper()
	s.wait(func() string { return strconv.Itoa(n) + " sessions" }, chattest.Patience(s.tb), func() bool { return len(s.sessions) == n })
}

// Refuse has the gateway refuse every client that begins a session, by a code.
func (s *Server) Refuse(code int) { s.Change(func() { s.refuse = code }) }

func (s *Server) identify(l *line, data json.RawMessage) (code int) {
	var in struct {
		Token      string            `json:"token"`
		Intents    *int              `json:"intents"`
		Properties map[string]string `json:"properties"`
	}
	if json.Unmarshal(data, &in) != nil || in.Intents == nil || in.Properties == nil {
		return 4002
	}
	s.Lock()
	defer s.Unlock()
	switch {
	case s.refuse != 0:
		return s.refuse
	case l.session != nil:
		return 4005
	case in.Token != s.Token:
		return 4004
	case *in.Intents&^allIntents != 0:
		return 4013
	case *in.Intents&switchedOff != 0 || *in.Intents&intentContent != 0 && !s.content:
		return 4014
	case s.left() == 0:
		s.tb.Error("the bot begins more sessions than it may: Discord takes its token away")
		return 4004
	}
	l.session = &session{id: "s" + s.newID(), intents: *in.Intents, line: l}
	s.sessions[l.session.id] = l.session
	s.began++
	s.ready(l.session)
	s.Wake()
	return 0
}

func (s *Server) ready(to *session) {
	s.give(to, "READY", map[string]any{
		"v": 10, "user": user(Bot), "guilds": []any{map[string]any{"id": Guild, "unavailable": true}}, "session_id": to.id,
		"resume_gateway_url": "ws" + s.http.URL[len("http"):], "application": map[string]any{"id": application, "flags": s.flags()},
	})
	var channels, threads []any
	for _, c := range s.channels {
		switch {
		case c.isThread():
			threads = append(threads, c.json())
		case c.kind != dmChannel:
			channels = append(channels, c.json())
		}
	}
	if to.intents&intentGuilds != 0 {
		s.give(to, "GUILD_CREATE", map[string]any{"id": Guild, "name": "Guild", "roles": s.roles(), "channels": channels,
			"threads": threads})
	}
}

func (s *Server) resume(l *line, data json.RawMessage) (code int) {
	var in struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       *int64 `json:"seq"`
	}
	if json.Unmarshal(data, &in) != nil || in.Seq == nil {
		return 4002
	}
	s.Lock()
	defer s.Unlock()
	old := s.sessions[in.SessionID]
	switch {
	case in.Token != s.Token:
		return 4004
	case old == nil:
		l.say(9, false, "", 0)
		return 0
	case *in.Seq > int64(len(old.told)):
		return 4007
	}
	l.session, old.line = old, l
	for _, t := range old.told[*in.Seq:] {
		l.say(0, t.data, t.event, t.seq)
	}
	s.resumed++
	s.give(old, "RESUMED", map[string]any{})
	s.Wake()
	return 0
}

// give tells one session of an event.
func (s *Server) give(to *session, event string, data any) {
	t := told{int64(len(to.told) + 1), event, data}
	to.told = append(to.told, t)
	if to.line != nil {
		to.line.say(0, data, event, t.seq)
	}
}

// tell tells every session that asked for such events.
func (s *Server) tell(event string, data map[string]any, intent int) {
	for _, to := range s.sessions {
		if to.intents&intent != intent {
			continue
		}
		given := data
		if event == "MESSAGE_CREATE" && to.intents&intentContent == 0 && intent != intentDirectMessages {
			given = map[string]any{}
			for k, v := range data {
				given[k] = v
			}
			given["content"] = ""
		}
		s.give(to, event, given)
	}
}
