package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/settings"
)

// intents are the events that are wanted: what servers and their channels are, what is
// written in them and to the bot alone, and the words of it.
const intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages |
	discordgo.IntentMessageContent

// Kinds of frames.
const (
	opEvent     = 0
	opBeat      = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opBeaten    = 11
)

const (
	// helloTime is how long Discord may take to say hello, writeTime to take a frame.
	helloTime = 20 * time.Second
	writeTime = 10 * time.Second
	// frameBytes bounds a frame: a large server's channels and threads are one.
	frameBytes = 64 << 20
)

var (
	// errMoved: Discord wants the connection made anew, which it resumes.
	errMoved = errors.New("Discord asks to connect again")
	// errSession: what could be resumed is no more, or not for now.
	errSession = errors.New("the session at Discord has ended")
	errSilent  = errors.New("the gateway of Discord does not answer")
)

// frame is what goes over the connection, both ways.
type frame struct {
	Op    int             `json:"op"`
	Data  json.RawMessage `json:"d"`
	Seq   *int64          `json:"s,omitempty"`
	Event string          `json:"t,omitempty"`
}

// session is what a connection can be resumed by.
type session struct {
	id, url string
	seq     atomic.Int64
}

func (s *session) forget() {
	s.id, s.url = "", ""
	s.seq.Store(0)
}

// connect has one connection until it breaks, and says whether it stood.
func (l *listener) connect(ctx context.Context) (stood bool, err error) {
	token, err := l.d.cfg.Token()
	if err != nil {
		return false, err
	}
	c, err := l.dial(ctx)
	if err != nil {
		return false, err
	}
	defer c.ws.Close()
	defer context.AfterFunc(ctx, c.leave)()
	every, err := c.hello()
	if err == nil {
		beating, stop := context.WithCancel(ctx)
		defer stop()
		l.work.Go(func() { c.beat(beating, every, &l.session.seq) })
		if err = l.greet(c, token); err == nil {
			stood, err = l.listen(ctx, c)
		}
	}
	return stood, l.broken(err, c, token)
}

// dial goes to where the session is, or to where Discord sends a new one.
func (l *listener) dial(ctx context.Context) (*connection, error) {
	where := l.session.url
	if where == "" {
		var err error
		if where, err = l.d.gateway(ctx); err != nil {
			return nil, err
		}
	}
	address, err := gatewayAddress(where)
	if err != nil {
		return nil, err
	}
	dialer := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTime}
	ws, response, err := dialer.DialContext(ctx, address, http.Header{"User-Agent": {agent}})
	if err != nil {
		l.session.url = "" // whoever cannot resume there is to ask anew where to
		if response != nil {
			err = fmt.Errorf("it answered %d", response.StatusCode)
		}
		return nil, fmt.Errorf("connecting to Discord's gateway: %w", bailiff.ForeignError(err))
	}
	ws.SetReadLimit(frameBytes)
	return &connection{ws: ws}, nil
}

// gateway is where Discord wants a new session. Whoever begins more of them than it lets
// loses the token, so the rest is waited for.
func (d *Discord) gateway(ctx context.Context) (string, error) {
	var answer struct {
		URL   string `json:"url"`
		Limit *struct {
			Remaining int   `json:"remaining"`
			After     int64 `json:"reset_after"`
		} `json:"session_start_limit"`
	}
	if err := d.do(ctx, http.MethodGet, "/gateway/bot", nil, &answer); err != nil {
		return "", refusal(err, "", "")
	}
	if l := answer.Limit; l != nil && l.Remaining <= 0 && l.After > 0 {
		return "", &chat.Busy{After: time.Duration(min(l.After, busyMost.Milliseconds())) * time.Millisecond}
	}
	return answer.URL, nil
}

// gatewayAddress takes only those where nobody on the way hears the token.
func gatewayAddress(where string) (string, error) {
	address, err := url.Parse(where)
	if err != nil || address.Host == "" || address.Scheme != "wss" && (address.Scheme != "ws" || !settings.IsLoopback(address.Hostname())) {
		return "", errors.New("Discord names a gateway that is no wss:// address")
	}
	address.RawQuery = "v=10&encoding=json"
	if address.Path == "" {
		address.Path = "/"
	}
	return address.String(), nil
}

// greet begins a session, or resumes the one that there is.
func (l *listener) greet(c *connection, token bailiff.Secret) error {
	if l.session.id != "" {
		return c.write(opResume, map[string]any{"token": token.Reveal(), "session_id": l.session.id, "seq": l.session.seq.Load()})
	}
	return c.write(opIdentify, map[string]any{
		"token":      token.Reveal(),
		"intents":    intents,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "bailiff", "device": "bailiff"},
	})
}

// listen takes what Discord tells until the connection breaks.
func (l *listener) listen(ctx context.Context, c *connection) (stood bool, err error) {
	for {
		f, err := c.read()
		if err != nil {
			return stood, err
		}
		switch f.Op {
		case opBeat:
			err = c.write(opBeat, seen(&l.session.seq))
		case opBeaten:
			c.beaten.Store(true)
		case opReconnect:
			return stood, errMoved
		case opInvalid:
			if string(f.Data) != "true" {
				l.session.forget()
			}
			return stood, errSession
		case opEvent:
			stood = l.event(ctx, f) || stood
		}
		if err != nil {
			return stood, err
		}
	}
}

// event takes one, and says whether the connection stands by it.
func (l *listener) event(ctx context.Context, f frame) (stands bool) {
	l.handle(ctx, f.Event, f.Data)
	if f.Seq != nil {
		l.session.seq.Store(*f.Seq)
	}
	if stands = f.Event == "READY" || f.Event == "RESUMED"; stands {
		l.in.Connected(nil)
	}
	return stands
}

// Codes by which Discord closes a connection.
const (
	closeNotAuthenticated = 4003
	closeBadToken         = 4004
	closeBadSequence      = 4007
	closeSessionTimeout   = 4009
	closeShardingRequired = 4011
	closeBadVersion       = 4012
	closeBadIntents       = 4013
	closeNoSuchIntents    = 4014
)

// never are the codes after which trying again is of no use.
var never = map[int]string{
	closeBadToken:         badToken,
	closeShardingRequired: "Discord wants a bot in so many servers to share them among several connections, which bailiff does not do: let it leave some",
	closeBadVersion:       "Discord no longer speaks version 10 of its gateway: update bailiff",
	closeBadIntents:       "Discord knows other intents than bailiff asks for: update bailiff",
	closeNoSuchIntents: "Discord does not tell the bot what messages say: switch on Message Content Intent " +
		"on the page Bot of the application in Discord's developer portal",
}

// broken says why a connection is no more, and whether to resume it.
func (l *listener) broken(err error, c *connection, token bailiff.Secret) error {
	var closed *websocket.CloseError
	switch {
	case c.silent.Load():
		return errSilent
	case errors.As(err, &closed):
		if reason, hopeless := never[closed.Code]; hopeless {
			return &chat.Refused{Reason: reason}
		}
		switch closed.Code {
		case closeNotAuthenticated, closeBadSequence, closeSessionTimeout:
			l.session.forget()
		}
		return fmt.Errorf("Discord has closed the connection (code %d)", closed.Code)
	case errors.Is(err, errMoved) || errors.Is(err, errSession):
		c.close(websocket.CloseServiceRestart) // not 1000, after which nothing is resumed
		return err
	}
	return fmt.Errorf("listening to Discord's gateway: %w", bailiff.ForeignError(err, token))
}

// connection is one WebSocket.
type connection struct {
	ws *websocket.Conn
	// writing is held by who writes.
	writing sync.Mutex
	// beaten says that Discord has answered the last heartbeat, silent that it did not.
	beaten, silent atomic.Bool
}

// hello is what Discord says first: how often it wants a heartbeat.
func (c *connection) hello() (every time.Duration, err error) {
	_ = c.ws.SetReadDeadline(time.Now().Add(helloTime))
	f, err := c.read()
	if err != nil {
		return 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Interval <= 0 {
		return 0, errors.New("it does not say hello")
	}
	return time.Duration(hello.Interval) * time.Millisecond, c.ws.SetReadDeadline(time.Time{})
}

// beat sends heartbeats, the first after a part of the interval, so that not all do at
// once. Where one was not answered before the next is due, nobody is there.
func (c *connection) beat(ctx context.Context, every time.Duration, seq *atomic.Int64) {
	c.beaten.Store(true)
	for wait := rand.N(every); sleep(ctx, wait); wait = every {
		if !c.beaten.Swap(false) {
			c.silent.Store(true)
			c.ws.Close()
			return
		}
		if c.write(opBeat, seen(seq)) != nil {
			c.ws.Close()
			return
		}
	}
}

// seen is what a heartbeat says: the last event, nil before any.
func seen(seq *atomic.Int64) any {
	if n := seq.Load(); n > 0 {
		return n
	}
	return nil
}

// read is the next frame; one that is none is an event that nobody knows.
func (c *connection) read() (f frame, err error) {
	_, text, err := c.ws.ReadMessage()
	if err != nil {
		return frame{}, err
	}
	if json.Unmarshal(text, &f) != nil {
		return frame{}, nil
	}
	return f, nil
}

func (c *connection) write(op int, data any) error {
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeTime))
	return c.ws.WriteMessage(websocket.TextMessage, text)
}

// leave ends the session too.
func (c *connection) leave() {
	c.close(websocket.CloseNormalClosure)
	c.ws.Close()
}

func (c *connection) close(code int) {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
}
