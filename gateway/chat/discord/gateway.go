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
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/gateway/chat"
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
	// errReconnect: Discord asks for another connection, which resumes the session.
	errReconnect = errors.New("Discord asks to connect again")
	// errInvalidSession: the session cannot be resumed, or not now.
	errInvalidSession = errors.New("the session at Discord has ended")
	errSilent         = errors.New("the gateway of Discord does not answer")
)

// frame is a message of the gateway, either way.
type frame struct {
	Op    int             `json:"op"`
	Data  json.RawMessage `json:"d"`
	Seq   *int64          `json:"s,omitempty"`
	Event string          `json:"t,omitempty"`
}

// session holds what a connection is resumed by.
type session struct {
	id, url string
	seq     atomic.Int64
}

func (s *session) forget() {
	s.id, s.url = "", ""
	s.seq.Store(0)
}

// connect runs one connection until it breaks, and says whether it was established.
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
		l.work.Go(func() { c.heartbeat(beating, every, &l.session.seq) })
		if err = l.identify(c, token); err == nil {
			stood, err = l.listen(ctx, c)
		}
	}
	return stood, l.connectionError(err, c, token)
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
		l.session.url = "" // if it cannot resume there, it asks for the address again
		if response != nil {
			err = fmt.Errorf("it answered %d", response.StatusCode)
		}
		return nil, fmt.Errorf("connecting to Discord's gateway: %w", bailiff.ForeignError(err))
	}
	ws.SetReadLimit(frameBytes)
	return &connection{ws: ws}, nil
}

// gateway is where Discord wants a new session. A bot that begins more of them than it may
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

// gatewayAddress refuses addresses that would send the token unencrypted.
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

// identify begins a session, or resumes the one that there is.
func (l *listener) identify(c *connection, token bailiff.Secret) error {
	if l.session.id != "" {
		return c.write(opResume, map[string]any{"token": token.Reveal(), "session_id": l.session.id, "seq": l.session.seq.Load()})
	}
	return c.write(opIdentify, map[string]any{
		"token":      token.Reveal(),
		"intents":    intents,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "bailiff", "device": "bailiff"},
	})
}

// listen takes events until the connection breaks.
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
			return stood, errReconnect
		case opInvalid:
			if string(f.Data) != "true" {
				l.session.forget()
			}
			return stood, errInvalidSession
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

// fatalCloseCodes are the codes after which trying again is of no use.
var fatalCloseCodes = map[int]string{
	closeBadToken: badToken,
	closeShardingRequired: "Discord wants a bot in so many servers to share them among several connections, which bailiff does not do: " +
		"let it leave some",
	closeBadVersion: "Discord no longer speaks version 10 of its gateway: update bailiff",
	closeBadIntents: "Discord knows other intents than bailiff asks for: update bailiff",
	closeNoSuchIntents: "Discord does not tell the bot what messages say: switch on Message Content Intent " +
		"on the page Bot of the application in Discord's developer portal",
}

// connectionError says why a connection is no more, and whether to resume it.
func (l *listener) connectionError(err error, c *connection, token bailiff.Secret) error {
	var closed *websocket.CloseError
	switch {
	case c.silent.Load():
		return errSilent
	case errors.As(err, &closed):
		if reason, hopeless := fatalCloseCodes[closed.Code]; hopeless {
			return &chat.Refused{Reason: reason}
		}
		switch closed.Code {
		case closeNotAuthenticated, closeBadSequence, closeSessionTimeout:
			l.session.forget()
		}
		return fmt.Errorf("Discord has closed the connection (code %d)", closed.Code)
	case errors.Is(err, errReconnect) || errors.Is(err, errInvalidSession):
		c.close(websocket.CloseServiceRestart) // not 1000, after which nothing is resumed
		return err
	}
	return fmt.Errorf("listening to Discord's gateway: %w", bailiff.ForeignError(err, token))
}

// connection is one WebSocket.
type connection struct {
	ws *websocket.Conn
	// writing is held while a frame is written.
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

// heartbeat sends heartbeats, the first after a part of the interval, so that not all do at
// once. A heartbeat that is not answered before the next is due ends the connection.
func (c *connection) heartbeat(ctx context.Context, every time.Duration, seq *atomic.Int64) {
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

// read returns the next frame; one that cannot be read counts as an unknown event.
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

// leave ends the session as well.
func (c *connection) leave() {
	c.close(websocket.CloseNormalClosure)
	c.ws.Close()
}

func (c *connection) close(code int) {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
}
