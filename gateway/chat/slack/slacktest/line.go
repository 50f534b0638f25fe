package slacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// ackTime is how long an envelope may go unacknowledged; Slack's is three seconds, after
// which it delivers an event again.
const ackTime = 3 * time.Second

// line is Socket Mode: connections of the app, each with envelopes.
type line struct {
	s       *Server
	lock    sync.Mutex
	count   int
	tickets map[string]bool
	sockets []*socket
	queue   []*envelope // in order, until they are acknowledged
	pings   atomic.Int64
	ended   bool
}

type envelope struct {
	id, kind string
	payload  json.RawMessage
	attempt  int
	on       *socket // where it went last
	due      *time.Timer
}

// socket is one connection.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	muted atomic.Bool
}

func newLine(s *Server) *line { return &line{s: s, tickets: map[string]bool{}} }

// address is where the app may connect, once.
func (l *line) address() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.count++
	ticket := fmt.Sprintf("ticket-%d-%d", l.count, time.Now().UnixNano())
	l.tickets[ticket] = true
	return "ws" + strings.TrimPrefix(l.s.http.URL, "http") + "/link?ticket=" + ticket
}

func (l *line) serve(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	l.lock.Lock()
	known := l.tickets[ticket]
	delete(l.tickets, ticket)
	l.lock.Unlock()
	if f := l.s.Next("link"); !known || f.broken() {
		http.Error(w, "no such ticket", http.StatusForbidden)
		return
	}
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	k := &socket{conn: conn}
	conn.SetPingHandler(func(data string) error {
		if k.muted.Load() {
			return nil
		}
		l.pings.Add(1)
		l.s.Change(func() {})
		return conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackTime))
	})
	l.lock.Lock()
	l.sockets = append(l.sockets, k)
	number := len(l.sockets)
	l.lock.Unlock()
	k.say(map[string]any{"type": "hello", "num_connections": number, "connection_info": map[string]any{"app_id": "A01"},
		"debug_info": map[string]any{"host": "tests", "build_number": 1, "approximate_connection_time": 18060}})
	l.flush()
	l.listen(k)
}

func (k *socket) say(what any) bool {
	k.write.Lock()
	defer k.write.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(ackTime))
	return k.conn.WriteJSON(what) == nil
}

// listen takes acknowledgements until the connection ends; what it owes then goes
// elsewhere.
func (l *line) listen(k *socket) {
	for {
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if k.conn.ReadJSON(&ack) != nil {
			break
		}
		l.acknowledged(ack.ID)
	}
	_ = k.conn.Close()
	l.lock.Lock()
	l.sockets = slices.DeleteFunc(l.sockets, func(other *socket) bool { return other == k })
	for _, e := range l.queue {
		if e.on == k {
			e.on = nil
		}
	}
	l.lock.Unlock()
	l.s.Change(func() {})
	l.flush()
}

func (l *line) acknowledged(id string) {
	l.lock.Lock()
	l.queue = slices.DeleteFunc(l.queue, func(e *envelope) bool {
		if e.id == id && e.due != nil {
			e.due.Stop()
		}
		return e.id == id
	})
	l.lock.Unlock()
	l.s.Change(func() {})
}

// send queues an envelope.
func (l *line) send(kind string, payload []byte) {
	l.lock.Lock()
	l.count++
	l.queue = append(l.queue, &envelope{id: fmt.Sprintf("env-%06d", l.count), kind: kind, payload: payload})
	l.lock.Unlock()
	l.flush()
}

// flush sends what is nowhere yet, by the newest connection.
func (l *line) flush() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.sockets) == 0 || l.ended {
		return
	}
	k := l.sockets[len(l.sockets)-1]
	for _, e := range l.queue {
		if e.on != nil {
			continue
		}
		what := map[string]any{"envelope_id": e.id, "type": e.kind, "payload": e.payload,
			"accepts_response_payload": e.kind != "events_api"}
		if e.kind == "events_api" {
			what["retry_attempt"], what["retry_reason"] = e.attempt, map[bool]string{true: "timeout"}[e.attempt > 0]
		}
		if !k.say(what) {
			return
		}
		e.on, e.attempt = k, e.attempt+1
		e.due = time.AfterFunc(ackTime, func() { l.late(e) })
	}
}

// late sends again what was not acknowledged.
func (l *line) late(e *envelope) {
	l.lock.Lock()
	e.on = nil
	l.lock.Unlock()
	l.flush()
}

// ConnectionCount is how many connections there are by Socket Mode.
func (s *Server) ConnectionCount() int {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	return len(s.line.sockets)
}

// UnacknowledgedCount is how many envelopes were not acknowledged.
func (s *Server) UnacknowledgedCount() int {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	return len(s.line.queue)
}

// Disconnect asks the app to connect anew, for a reason such as "warning", "refresh_requested"
// or "link_disabled".
func (s *Server) Disconnect(reason string) {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	for _, k := range s.line.sockets {
		k.say(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "tests"}})
	}
}

// Drop ends all connections without a word.
func (s *Server) Drop() {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	for _, k := range s.line.sockets {
		_ = k.conn.NetConn().Close()
	}
}

// Pings are how many were answered.
func (s *Server) Pings() int { return int(s.line.pings.Load()) }

// Mute has Slack answer nothing any more by the connections that there are, not even pings,
// without ending them.
func (s *Server) Mute() {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	for _, k := range s.line.sockets {
		k.muted.Store(true)
	}
}

// Say sends any text to the app, such as one that is no envelope.
func (s *Server) Say(text string) {
	s.line.lock.Lock()
	defer s.line.lock.Unlock()
	for _, k := range s.line.sockets {
		k.write.Lock()
		_ = k.conn.WriteMessage(websocket.TextMessage, []byte(text))
		k.write.Unlock()
	}
}

func (l *line) close() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.ended = true
	for _, e := range l.queue {
		if e.due != nil {
			e.due.Stop()
		}
	}
	for _, k := range l.sockets {
		_ = k.conn.Close()
	}
}
