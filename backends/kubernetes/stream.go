package kubernetes

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
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// The channels of an exec, the first byte of each message.
const (
	toInput = iota
	ofOutput
	ofErrors
	ofStatus
)

const (
	subprotocol  = "v5.channel.k8s.io"
	messageBytes = 32 << 10
	mostBytes    = 1 << 20
	life         = 20 * time.Second
)

// stream is the input and output of a program in a pod. It is read by one at a time, and written to by one.
type stream struct {
	socket *websocket.Conn
	ctx    context.Context // ends with Close, and fails what still reads or writes
	end    context.CancelFunc
	words  interface{ Write(p []byte) (int, error) }
	unread []byte
}

// enter comes to the door of a pod.
func (b *Backend) enter(ctx context.Context, name string, words interface{ Write(p []byte) (int, error) }) (*stream, error) {
	query := url.Values{"container": {doorkeeper}, "command": {program, wire.Enter},
		"stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"}}
	socket, answer, err := websocket.Dial(ctx, b.address("pods/"+url.PathEscape(name)+"/exec", query),
		&websocket.DialOptions{HTTPClient: b.upgrade, Subprotocols: []string{subprotocol}})
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols && answer.Body != nil {
			return nil, refusalOf(answer)
		}
		return nil, fmt.Errorf("%w: coming to the door: %w", backends.ErrUnavailable, bailiff.ForeignError(err))
	}
	if socket.Subprotocol() != subprotocol {
		socket.CloseNow()
		return nil, fmt.Errorf("%w: the cluster does not speak %s: it is too old", backends.ErrUnsupported, subprotocol)
	}
	socket.SetReadLimit(mostBytes)
	s := &stream{socket: socket, words: words}
	s.ctx, s.end = context.WithCancel(context.Background())
	go backends.Every(life, s.ctx.Done(), s.check)
	return s, nil
}

// check finds out when the other end is gone.
func (s *stream) check() {
	ctx, cancel := context.WithTimeout(s.ctx, life)
	defer cancel()
	if s.socket.Ping(ctx) != nil {
		s.Close()
	}
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.unread) == 0 {
		_, message, err := s.socket.Read(s.ctx)
		switch {
		case err != nil:
			return 0, fmt.Errorf("the stream of the pod was cut: %w", bailiff.ForeignError(err))
		case len(message) < 2:
		case message[0] == ofOutput:
			s.unread = message[1:]
		case message[0] == ofErrors:
			_, _ = s.words.Write(message[1:])
		case message[0] == ofStatus:
			return 0, ending(message[1:])
		}
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// ending says why a program in a pod is over.
func ending(status []byte) error {
	var said struct{ Status, Message string }
	_ = json.Unmarshal(status, &said)
	if said.Status == "Success" {
		return errors.New("the door is closed")
	}
	return fmt.Errorf("the door is closed: %s", bailiff.Foreign(said.Message))
}

func (s *stream) Write(p []byte) (written int, err error) {
	message := make([]byte, 1, min(len(p), messageBytes)+1)
	message[0] = toInput
	for len(p) > 0 {
		n := min(len(p), messageBytes)
		if err := s.socket.Write(s.ctx, websocket.MessageBinary, append(message[:1], p[:n]...)); err != nil {
			return written, fmt.Errorf("the stream of the pod was cut: %w", bailiff.ForeignError(err))
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}

// Close ends the stream, not the runner.
func (s *stream) Close() error {
	s.end()
	return s.socket.CloseNow()
}
