package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// stream is what a sidecar tells as it happens. One that stays silent is given up.
type stream struct {
	pulse    *time.Timer
	patience time.Duration
	silent   atomic.Bool
	cancel   context.CancelFunc
	body     io.Closer
	from     *bufio.Reader
}

var errSilent = errors.New("it gave no sign of life for too long")

// listen asks for a stream, which is to be closed.
func (c *Client) listen(ctx context.Context, method, path string, body []byte) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{patience: c.patience, cancel: cancel, body: http.NoBody}
	s.pulse = time.AfterFunc(s.patience, s.giveUp)
	resp, err := c.do(ctx, method, path, body, streamType)
	if err != nil {
		s.close()
		return nil, s.cause(err, c.asking(errSilent))
	}
	s.body, s.from = resp.Body, bufio.NewReader(resp.Body)
	return s, nil
}

// afterwards is how long a stream may take to end after its last event.
const afterwards = 100 * time.Millisecond

// finish awaits the end of a stream whose last event has come, so that its
// connection can serve another request.
func (s *stream) finish() {
	s.pulse.Reset(afterwards)
	_, _ = s.from.ReadByte() // its result is of no use any more
}

func (s *stream) giveUp() {
	s.silent.Store(true)
	s.cancel()
}

func (s *stream) close() {
	s.pulse.Stop()
	s.cancel()
	_ = s.body.Close()
}

// cause is the second error where the first only says that the wait was given up.
func (s *stream) cause(err, silence error) error {
	if s.silent.Load() && !errors.Is(err, ErrUnreachable) {
		return silence
	}
	return err
}

// event reads one server-sent event.
func (s *stream) event() (name string, data []byte, err error) {
	for {
		line, err := s.line()
		if err != nil {
			return "", nil, s.cause(err, errSilent)
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = append(data, value...)
		case len(line) == 0 && data != nil:
			return name, data, nil
		}
		if len(data) > largestAnswer {
			return "", nil, errTooLarge
		}
	}
}

// line reads one without its end. It is a sign of life only when it is whole: no
// drop of it is.
func (s *stream) line() (line []byte, err error) {
	for {
		piece, err := s.from.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			s.pulse.Reset(s.patience)
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > largestAnswer:
			return nil, errTooLarge
		}
	}
}

// outside calls what is not of the stream; meanwhile silence says nothing.
func (s *stream) outside(call func()) {
	s.pulse.Stop()
	call()
	s.pulse.Reset(s.patience)
}
