package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/socketmode"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	dialTime = 20 * time.Second
	// silence is how long a connection may be without a sign of life; a third of it after
	// the last, pings ask for one.
	silence = 45 * time.Second
	ackTime = 5 * time.Second
	// afterLeave is how long Slack may use a connection that it wants to be left.
	afterLeave    = 30 * time.Second
	envelopeBytes = 4 << 20
)

// link is one WebSocket of Socket Mode.
//
// The library has a client of its own for that, which decides by itself how long it waits
// between connections, and parses everything that others put into a message. Here only its
// words are used.
type link struct {
	*ear
	conn *websocket.Conn
	// ticket is the address, which lets in whoever knows it.
	ticket bailiff.Secret
}

// errLeave is that Slack wants this connection to be left for another.
var errLeave = errors.New("slack asks to connect anew")

// bySocket connects and stays until that breaks. It returns nil if Slack wants another
// connection, and goes on with this one beside it: what is under way comes there.
func (e *ear) bySocket(ctx context.Context) error {
	l, err := e.dial(ctx)
	if err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	stop := make(chan struct{})
	e.underWay.Go(func() { l.ping(stop) })
	end := func() { close(stop); release(); _ = l.conn.Close() }
	err = l.receive(ctx)
	if !errors.Is(err, errLeave) {
		end()
		return l.broken(err)
	}
	e.underWay.Go(func() {
		defer end()
		defer time.AfterFunc(afterLeave, func() { _ = l.conn.Close() }).Stop()
		for errors.Is(err, errLeave) {
			err = l.receive(ctx)
		}
	})
	return nil
}

// dial asks for an address and connects there.
func (e *ear) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if err := e.identify(ctx); err != nil {
		return nil, err
	}
	c, err := e.beginApp()
	if err != nil {
		return nil, err
	}
	_, address, err := c.StartSocketModeContext(ctx)
	if err != nil {
		return nil, c.fault("opening a connection to slack", err)
	}
	if !e.isSocket(address) {
		return nil, errAddress
	}
	l := &link{ear: e, ticket: bailiff.NewSecret(address)}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTime}
	conn, _, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		return nil, l.broken(err)
	}
	l.conn = conn
	conn.SetReadLimit(envelopeBytes)
	l.alive()
	conn.SetPongHandler(func(string) error { l.alive(); return nil })
	conn.SetPingHandler(func(data string) error {
		l.alive()
		_ = conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackTime))
		return nil
	})
	return l, nil
}

// errAddress does not repeat it: whoever knows it is let in.
var errAddress = errors.New("slack named no address to connect to")

// isSocket says whether an address is one of a WebSocket that nobody on the way hears, as
// far as the API's is.
func (s *Slack) isSocket(address string) bool {
	target, err := url.Parse(address)
	if err != nil || target.Host == "" {
		return false
	}
	return target.Scheme == "wss" || target.Scheme == "ws" && strings.HasPrefix(s.cfg.URL, "http://")
}

// broken words why there is no connection.
func (l *link) broken(err error) error {
	var no *chat.Refused
	var silent net.Error
	switch {
	case errors.As(err, &no):
		return err
	case errors.As(err, &silent) && silent.Timeout():
		return errors.New("slack's connection fell silent")
	}
	return fmt.Errorf("slack's connection broke: %w", bailiff.ForeignError(err, l.ticket))
}

func (l *link) alive() { _ = l.conn.SetReadDeadline(time.Now().Add(l.silence)) }

// ping asks for a sign of life.
func (l *link) ping(stop <-chan struct{}) {
	tick := time.NewTicker(l.silence / 3)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			_ = l.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(ackTime))
		}
	}
}

// receive takes envelopes until the connection ends or is to be left.
func (l *link) receive(ctx context.Context) error {
	for {
		_, text, err := l.conn.ReadMessage()
		if err != nil {
			return err
		}
		l.alive()
		var envelope socketmode.Request
		if json.Unmarshal(text, &envelope) != nil {
			continue
		}
		if err := l.open(ctx, envelope); err != nil {
			return err
		}
	}
}

// open acknowledges an envelope and hands on what is in it.
func (l *link) open(ctx context.Context, envelope socketmode.Request) error {
	if envelope.EnvelopeID != "" {
		if err := l.acknowledge(envelope.EnvelopeID); err != nil {
			return err
		}
	}
	switch envelope.Type {
	case socketmode.RequestTypeHello:
		l.in.Connected(nil)
	case socketmode.RequestTypeDisconnect:
		return leave(envelope.Reason)
	case socketmode.RequestTypeEventsAPI:
		l.delivered(ctx, envelope.Payload)
	case socketmode.RequestTypeInteractive:
		l.interacted(ctx, envelope.Payload)
	case socketmode.RequestTypeSlashCommands:
		var c command
		if json.Unmarshal(envelope.Payload, &c) == nil {
			l.commanded(ctx, c)
		}
	}
	return nil
}

// leave is what follows from a reason of Slack's to end a connection.
func leave(reason string) error {
	switch reason {
	case "link_disabled":
		return &chat.Refused{Reason: "Socket Mode is off: turn it on under Socket Mode in the app's settings"}
	case "too_many_websockets":
		return errors.New("slack has ten connections of this app already: another sidecar uses the same app token")
	}
	return errLeave
}

func (l *link) acknowledge(id string) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(ackTime)); err != nil {
		return err
	}
	return l.conn.WriteJSON(socketmode.Response{EnvelopeID: id})
}
