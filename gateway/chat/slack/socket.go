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
	// silence is how long a connection may be silent; it is pinged after a third of that.
	silence = 45 * time.Second
	ackTime = 5 * time.Second
	// drainTime is how long Slack may still use a connection after it asked for another.
	drainTime     = 30 * time.Second
	envelopeBytes = 4 << 20
)

// connection is one WebSocket of Socket Mode.
//
// The library has a client of its own, which decides by itself how long it waits between
// connections and parses all of a message. Only its types are used here.
type connection struct {
	*receiver
	conn *websocket.Conn
	// address is the WebSocket's address, which is a credential.
	address bailiff.Secret
}

// errReconnect says that Slack asks for another connection.
var errReconnect = errors.New("slack asks to connect anew")

// receiveBySocket receives by one connection until it breaks. It returns nil if Slack asks
// for another, and keeps receiving by this one for drainTime.
func (r *receiver) receiveBySocket(ctx context.Context) error {
	l, err := r.dial(ctx)
	if err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	stop := make(chan struct{})
	r.inFlight.Go(func() { l.ping(stop) })
	end := func() { close(stop); release(); _ = l.conn.Close() }
	err = l.receive(ctx)
	if !errors.Is(err, errReconnect) {
		end()
		return l.connectionError(err)
	}
	r.inFlight.Go(func() {
		defer end()
		defer time.AfterFunc(drainTime, func() { _ = l.conn.Close() }).Stop()
		for errors.Is(err, errReconnect) {
			err = l.receive(ctx)
		}
	})
	return nil
}

// dial asks for an address and connects there.
func (r *receiver) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if err := r.identify(ctx); err != nil {
		return nil, err
	}
	c, err := r.beginApp()
	if err != nil {
		return nil, err
	}
	_, address, err := c.StartSocketModeContext(ctx)
	if err != nil {
		return nil, c.fault("opening a connection to slack", err)
	}
	if !r.isSocket(address) {
		return nil, errAddress
	}
	l := &connection{receiver: r, address: bailiff.NewSecret(address)}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTime}
	conn, _, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		return nil, l.connectionError(err)
	}
	l.conn = conn
	conn.SetReadLimit(envelopeBytes)
	l.extendDeadline()
	conn.SetPongHandler(func(string) error { l.extendDeadline(); return nil })
	conn.SetPingHandler(func(data string) error {
		l.extendDeadline()
		_ = conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackTime))
		return nil
	})
	return l, nil
}

// errAddress leaves the address out, since it is a credential.
var errAddress = errors.New("slack named no address to connect to")

// isSocket says whether an address is a WebSocket's, encrypted if the API's address is.
func (s *Slack) isSocket(address string) bool {
	target, err := url.Parse(address)
	if err != nil || target.Host == "" {
		return false
	}
	return target.Scheme == "wss" || target.Scheme == "ws" && strings.HasPrefix(s.cfg.URL, "http://")
}

// connectionError says why there is no connection.
func (l *connection) connectionError(err error) error {
	var no *chat.Refused
	var silent net.Error
	switch {
	case errors.As(err, &no):
		return err
	case errors.As(err, &silent) && silent.Timeout():
		return errors.New("slack's connection fell silent")
	}
	return fmt.Errorf("slack's connection broke: %w", bailiff.ForeignError(err, l.address))
}

func (l *connection) extendDeadline() { _ = l.conn.SetReadDeadline(time.Now().Add(l.silence)) }

// ping pings until stop.
func (l *connection) ping(stop <-chan struct{}) {
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

// receive takes envelopes until the connection ends or Slack asks for another.
func (l *connection) receive(ctx context.Context) error {
	for {
		_, text, err := l.conn.ReadMessage()
		if err != nil {
			return err
		}
		l.extendDeadline()
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
func (l *connection) open(ctx context.Context, envelope socketmode.Request) error {
	if envelope.EnvelopeID != "" {
		if err := l.acknowledge(envelope.EnvelopeID); err != nil {
			return err
		}
	}
	switch envelope.Type {
	case socketmode.RequestTypeHello:
		l.in.Connected(nil)
	case socketmode.RequestTypeDisconnect:
		return reconnect(envelope.Reason)
	case socketmode.RequestTypeEventsAPI:
		l.onEvent(ctx, envelope.Payload)
	case socketmode.RequestTypeInteractive:
		l.onInteraction(ctx, envelope.Payload)
	case socketmode.RequestTypeSlashCommands:
		var c slashCommand
		if json.Unmarshal(envelope.Payload, &c) == nil {
			l.onCommand(ctx, c)
		}
	}
	return nil
}

// reconnect is the error for Slack's reason to end a connection.
func reconnect(reason string) error {
	switch reason {
	case "link_disabled":
		return &chat.Refused{Reason: "Socket Mode is off: turn it on under Socket Mode in the app's settings"}
	case "too_many_websockets":
		return errors.New("slack has ten connections of this app already: another sidecar uses the same app token")
	}
	return errReconnect
}

func (l *connection) acknowledge(id string) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(ackTime)); err != nil {
		return err
	}
	return l.conn.WriteJSON(socketmode.Response{EnvelopeID: id})
}
