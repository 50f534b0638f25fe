package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	// answerTime is how long an answer may take that no call gives more.
	answerTime = 100 * time.Second
	// answerBytes bounds an answer in JSON, refusalBytes one that says no.
	answerBytes  = 4 << 20
	refusalBytes = 64 << 10
)

// Call is one question.
type Call struct {
	Method, Address string
	// Query takes the place of what the address has, unless it is nil.
	Query  url.Values
	Header http.Header
	// Body is what is sent; nil sends nothing.
	Body Body
	// Answer is what [Client.Do] decodes the answer into, from JSON. Where it is nil,
	// only whether the answer is yes counts.
	Answer any
	// Heard is told the header of an answer that says yes; it may be nil.
	Heard func(http.Header)
	// Failed is told of each attempt that failed, as it does; it may be nil.
	Failed func(error)
	// Long is how long the answer may take, where that is more than 100 seconds.
	Long time.Duration
	// Idempotent says that it may be done twice.
	Idempotent bool
	// Once says that it is asked once only: the caller knows better when to ask again.
	Once bool
}

// Body makes what is sent, anew for each attempt, and says of what kind it is. Its
// errors are not worth another attempt.
type Body func() (content io.Reader, kind string, err error)

// JSON is a value's.
func JSON(value any) Body {
	return func() (io.Reader, string, error) {
		text, err := json.Marshal(value)
		return bytes.NewReader(text), "application/json", err
	}
}

// Do asks until there is an answer to stay with.
func (c *Client) Do(ctx context.Context, call Call) error {
	return persist(ctx, call, func() error {
		ctx, cancel := context.WithTimeout(ctx, max(call.Long, answerTime))
		defer cancel()
		x, err := c.begin()
		if err != nil {
			return err
		}
		body, err := x.ask(ctx, call)
		if err != nil {
			return err
		}
		defer body.Close()
		return x.read(body, call.Answer)
	})
}

// Stream asks until an answer begins that says yes, and returns its body, which lasts
// as long as ctx and is to be closed. Once it has begun nothing is asked again.
func (c *Client) Stream(ctx context.Context, call Call) (body io.ReadCloser, err error) {
	err = persist(ctx, call, func() error {
		body, err = c.open(ctx, call)
		return err
	})
	return body, err
}

func (c *Client) open(ctx context.Context, call Call) (io.ReadCloser, error) {
	x, err := c.begin()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(max(call.Long, answerTime), cancel)
	body, err := x.ask(ctx, call)
	if !late.Stop() && err != nil {
		err = x.lost(reaching, context.DeadlineExceeded)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{body, x, cancel}, nil
}

// stream is the body of an answer.
type stream struct {
	io.ReadCloser
	exchange exchange
	end      context.CancelFunc
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = s.exchange.lost(reading, err)
	}
	return n, err
}

func (s *stream) Close() error {
	defer s.end()
	return s.ReadCloser.Close()
}

// Upgrade has dial begin a connection that becomes another protocol's, such as a
// WebSocket, with a client that follows no redirection and the header that it is to send. Its
// faults are told as those of a call. It is tried once.
func (c *Client) Upgrade(dial func(by *http.Client, header http.Header) (*http.Response, error)) error {
	x, err := c.begin()
	if err != nil {
		return err
	}
	response, err := dial(c.http, x.header())
	switch {
	case err == nil:
		return nil
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		return x.refused(response)
	}
	return x.lost(reaching, err)
}
