package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

const (
	// maxCalls of a client run at once, maxWishes of a server.
	maxCalls  = 48
	maxWishes = 8
	// maxOutbox are lines that a server leaves unread.
	maxOutbox = 128
	// longestLine bounds a message of a client.
	longestLine = 4 << 20
	// writeTime is how long a client may take to read a message.
	writeTime = 30 * time.Second
	// endTime is how long the end of a session may take.
	endTime = 15 * time.Second
)

// session is one client's connection, with the server that it started.
type session struct {
	opening api.MCPOpening
	sidecar Sidecar
	trust   Trust
	peer    string
	id      string
	log     *slog.Logger
	conn    net.Conn
	writing sync.Mutex
	ctx     context.Context //nolint:containedctx // of all that the connection began
	cancel  context.CancelFunc
	// running are the goroutines that serve messages.
	running sync.WaitGroup
	places  chan struct{} // of calls of the client
	wishes  chan struct{} // of requests of the server
	outbox  chan []byte   // to the server
	ended   chan struct{} // closed when the server has ended

	mu    sync.Mutex
	calls map[string]context.CancelFunc // of the client, by their ids
	// atServer are requests to the server, atClient those to the client.
	atServer, atClient map[int64]*question
	last               int64
	noticeBytes        int          // bytes of notifications since the client's last request
	server             *serverState // nil until it has started
	words              string       // how the server ended
	hasStart           bool         // the client sent initialize
}

// question is a request that was sent on.
type question struct {
	answer chan message   // has room for the one answer
	token  jsontext.Value // by which its sender wants to hear of its progress; nil if it does not
}

// run serves the client until it goes away or the server ends.
func (s *session) run(from *bufio.Reader) error {
	defer s.finish()
	for {
		line, err := readLine(from)
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			s.takeFromClient(line)
		}
	}
}

var errLongLine = fmt.Errorf("a message has more than %d MiB", longestLine>>20)

// readLine reads one line of a bounded length.
func readLine(from *bufio.Reader) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if line = append(line, part...); len(line) > longestLine {
			return nil, errLongLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// finish ends the server and all calls.
func (s *session) finish() {
	s.cancel()
	s.running.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), endTime)
	defer cancel()
	s.mu.Lock()
	hasStart := s.hasStart
	s.mu.Unlock()
	if !hasStart {
		return
	}
	if _, err := s.sidecar.EndSession(ctx, s.id); err != nil {
		s.log.Warn("ending a session of MCP", "session", s.id, "error", err)
	}
}

func (s *session) state() *serverState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

// takeFromClient takes one message of the client.
func (s *session) takeFromClient(line []byte) {
	m, k, f := read(line)
	switch {
	case f != nil:
		s.tell(message{ID: nullID(m.ID), Error: f})
	case k == response:
		s.deliver(s.atClient, m)
	case k == notification:
		s.takeNotice(m)
	default:
		s.begin(m)
	}
}

// nullID is an id, or null where there is none.
func nullID(id jsontext.Value) jsontext.Value {
	if len(id) == 0 {
		return jsontext.Value("null")
	}
	return id
}

// begin has a request of the client answered.
func (s *session) begin(m message) {
	select {
	case s.places <- struct{}{}:
	default:
		s.tell(message{ID: m.ID, Error: faultOf(codeRefused, "%d calls run at once, as many as may.", maxCalls)})
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	key := string(m.ID)
	s.mu.Lock()
	s.noticeBytes = 0
	_, taken := s.calls[key]
	if !taken {
		s.calls[key] = cancel
	}
	s.mu.Unlock()
	if taken {
		cancel()
		<-s.places
		s.tell(message{ID: nullID(nil), Error: faultOf(codeInvalid, "The id %s is that of a request that runs still.", key)})
		return
	}
	s.running.Go(func() {
		result, f := s.answer(ctx, m)
		cancelled := ctx.Err() != nil
		cancel()
		s.mu.Lock()
		delete(s.calls, key)
		s.mu.Unlock()
		switch {
		case cancelled: // the client wants no answer
			<-s.places
		case f != nil:
			s.reply(message{ID: m.ID, Error: f})
		default:
			s.reply(message{ID: m.ID, Result: result})
		}
	})
}

// takeNotice takes a notification of the client. Those of methods that want an answer do
// nothing: nothing is called by one.
func (s *session) takeNotice(m message) {
	switch m.Method {
	case "notifications/cancelled":
		var what struct {
			ID jsontext.Value `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &what) != nil {
			return
		}
		s.mu.Lock()
		cancel := s.calls[string(what.ID)]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case "notifications/roots/list_changed":
		if st := s.state(); st != nil && hasBeginning(st.offer, "roots/list") {
			s.offer(message{Method: m.Method})
		}
	}
}

// reply writes an answer to the client, and gives up its request's place: before the client can have read the answer, and while
// it holds the lock for which hangUp waits.
func (s *session) reply(m message) {
	s.writing.Lock()
	defer s.writing.Unlock()
	<-s.places
	s.write(m)
}

// tell writes one message to the client.
func (s *session) tell(m message) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.write(m)
}

// write writes one message under the lock. A client that does not read it loses its connection.
func (s *session) write(m message) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTime)) // a broken connection fails the write
	if _, err := s.conn.Write(append(m.line(), '\n')); err != nil {
		s.cancel()
	}
}

// say has the server read one message, or gives up when ctx ends.
func (s *session) say(ctx context.Context, m message) {
	select {
	case s.outbox <- m.line():
	case <-ctx.Done():
	case <-s.ended:
	}
}

// offer has the server read one message, which is dropped if it reads nothing: the goroutine
// that reads a connection does not wait for it.
func (s *session) offer(m message) {
	select {
	case s.outbox <- m.line():
	default:
	}
}

// deliver gives an answer to the request that it answers; one that nothing asked for is dropped.
func (s *session) deliver(to map[int64]*question, m message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	s.mu.Lock()
	p := to[id]
	if err == nil {
		delete(to, id)
	}
	s.mu.Unlock()
	if err != nil || p == nil {
		s.log.Debug("an answer in the protocol of MCP that answers nothing was dropped", "session", s.id)
		return
	}
	p.answer <- m
}

// put notes a request under an id of the proxy's own.
func (s *session) put(in map[int64]*question, token jsontext.Value) (id int64, p *question, drop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id, p = s.last, &question{make(chan message, 1), token}
	in[id] = p
	return id, p, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(in, id)
	}
}

func ofNumber(id int64) jsontext.Value { return strconv.AppendInt(nil, id, 10) }

// ask asks the server, and tells it when the answer is not wanted any more.
func (s *session) ask(ctx context.Context, method string, params map[string]any, token jsontext.Value) (jsontext.Value, *fault) {
	id, p, drop := s.put(s.atServer, token)
	defer drop()
	if params == nil {
		params = map[string]any{}
	}
	if len(token) > 0 {
		params["_meta"] = map[string]any{"progressToken": id}
	}
	s.say(ctx, message{ID: ofNumber(id), Method: method, Params: jsonOf(params)})
	select {
	case m := <-p.answer:
		return m.Result, m.Error.cut()
	case <-s.ended:
		return nil, &fault{Code: codeInternal, Message: s.lastWords()}
	case <-ctx.Done():
		later, cancel := context.WithTimeout(s.ctx, time.Second)
		defer cancel()
		s.say(later, message{Method: "notifications/cancelled", Params: jsonOf(map[string]any{"requestId": id})})
		return nil, &fault{Code: codeRefused, Message: "The call was given up."}
	}
}

// askClient asks the client for the server.
func (s *session) askClient(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, *fault) {
	id, p, drop := s.put(s.atClient, nil)
	defer drop()
	s.tell(message{ID: ofNumber(id), Method: method, Params: params})
	select {
	case m := <-p.answer:
		return m.Result, m.Error.cut()
	case <-ctx.Done():
		s.tell(message{Method: "notifications/cancelled", Params: jsonOf(map[string]any{"requestId": id})})
		return nil, &fault{Code: codeRefused, Message: "The client did not answer in time."}
	}
}

// request is one of the session that the sidecar is to judge.
func (s *session) request(args bailiff.Args) bailiff.Request {
	of := s.opening.Session
	of.ID, of.ChatID = s.id, gateway.MCPChat(s.opening.Server)
	args.Server = s.opening.Server
	return bailiff.Request{Tool: bailiff.MCP, Args: args, Session: of, Backend: s.opening.Backend, WaitSeconds: *s.opening.WaitSeconds,
		Peer: s.peer}
}
