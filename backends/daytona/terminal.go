package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// A terminal takes messages of 64 KiB at most, and sends shorter ones.
const (
	messageBytes = 32 << 10
	mostBytes    = 1 << 20
)

// terminal is a byte stream to a terminal in a machine. It is read by one at a
// time, and written to by one.
type terminal struct {
	socket *websocket.Conn
	ctx    context.Context // ends with Close, and fails what still reads or writes
	end    context.CancelFunc
	unread []byte
}

// connect takes a terminal that was opened, and wants a sign of life so often. A ctx
// that ends cuts the connecting only.
func (t tools) connect(ctx context.Context, id string, life time.Duration) (*terminal, error) {
	address := t.base + "/process/pty/" + url.PathEscape(id) + "/connect"
	var socket *websocket.Conn
	err := t.Upgrade(func(by *http.Client, header http.Header) (response *http.Response, err error) {
		socket, response, err = websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: by, HTTPHeader: header})
		return response, err
	})
	if err != nil {
		return nil, fmt.Errorf("connecting the terminal: %w", err)
	}
	socket.SetReadLimit(mostBytes)
	c := &terminal{socket: socket}
	c.ctx, c.end = context.WithCancel(context.Background())
	go c.watch(life)
	return c, nil
}

// watch finds out when the other end is gone, which a connection
// does not tell by itself.
func (c *terminal) watch(life time.Duration) {
	backends.Every(life, c.ctx.Done(), func() {
		ctx, cancel := context.WithTimeout(c.ctx, life)
		defer cancel()
		if c.socket.Ping(ctx) != nil {
			c.Close()
		}
	})
}

func (c *terminal) Read(p []byte) (int, error) {
	for len(c.unread) == 0 {
		kind, message, err := c.socket.Read(c.ctx)
		if err != nil {
			return 0, parting(err)
		}
		if kind == websocket.MessageBinary {
			c.unread = message
			continue
		}
		if c.unread, err = spoken(message); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// spoken is a message of text: either Daytona's word about the terminal, or what
// it wrote.
func spoken(message []byte) (written []byte, err error) {
	var about struct {
		Type, Status, Error string
	}
	if json.Unmarshal(message, &about) != nil || about.Type != "control" {
		return message, nil
	}
	if about.Status == "error" {
		return nil, fmt.Errorf("the terminal at Daytona failed: %s", bailiff.Foreign(about.Error))
	}
	return nil, nil
}

// parting says why the terminal is gone.
func parting(err error) error {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return fmt.Errorf("the terminal at Daytona was closed (%d): %s", closed.Code, bailiff.Foreign(closed.Reason))
	}
	return fmt.Errorf("the terminal at Daytona was cut: %w", err)
}

func (c *terminal) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		n := min(len(p), messageBytes)
		if err := c.socket.Write(c.ctx, websocket.MessageBinary, p[:n]); err != nil {
			return written, parting(err)
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}

// Close ends the connection, not the terminal.
func (c *terminal) Close() error {
	c.end()
	_ = c.socket.CloseNow()
	return nil
}
