package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

const (
	// dialTime is how long a sidecar may take to let another in; pingAfter is how long a
	// connection may be silent before it is asked whether it lives, pingTime how long that may take.
	dialTime  = 3 * time.Second
	pingAfter = 5 * time.Second
	pingTime  = 5 * time.Second
	// mostPlain bounds answers that are no stream, longestLine one part of a stream.
	mostPlain   = 4 << 20
	longestLine = 64 << 20
)

var (
	// errNotTaken is a sidecar that took no request, so that nothing was begun.
	errNotTaken = errors.New("it does not answer")
	// errMoved is one that is the home no more.
	errMoved = fmt.Errorf("it serves the session no more: %w", errNotTaken)
	// errRefused is one that takes nothing of what was sent, so that nothing was begun.
	errRefused = errors.New("it refuses what this sidecar sent")
	// errLost is one of which it is not known what it began.
	errLost = errors.New("the connection to it was lost while this ran there, so that its outcome is unknown; look at what it did before " +
		"repeating it")
)

// client speaks to other sidecars.
type client struct{ http *http.Client }

func newClient(t TLS) (*client, error) {
	config, err := t.client()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig: config, TLSHandshakeTimeout: dialTime, ForceAttemptHTTP2: true, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, IdleConnTimeout: time.Minute,
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTime},
	}
	return &client{&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}, nil
}

// send has a sidecar do something. An error says whether that may have begun. The other sidecar reads a message whole
// before it acts, so nothing has begun while a part of it is not written.
func (c *client) send(ctx context.Context, address, what string, message any) (*http.Response, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	var begun, sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// A connection is asked for again only if the one before did not take the message.
		GetConn:      func(string) { begun.Store(false); sent.Store(false) },
		WroteHeaders: func() { begun.Store(true) },
		WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(sent.Load() || i.Err == nil) },
	})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+path+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if parent := gateway.TraceparentOf(ctx); parent != "" {
		r.Header.Set(gateway.Traceparent, parent)
	}
	response, err := c.http.Do(r)
	switch {
	case err != nil && (sent.Load() || begun.Load() && ctx.Err() != nil): // who goes away does not wait for the rest
		return nil, fmt.Errorf("%w (%w)", errLost, err)
	case err != nil:
		return nil, fmt.Errorf("%w (%w)", errNotTaken, err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	switch response.StatusCode {
	case http.StatusMisdirectedRequest:
		return nil, errMoved
	case http.StatusServiceUnavailable:
		return nil, fmt.Errorf("%w: it says %s", errNotTaken, said)
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return nil, fmt.Errorf("%w: %s", errRefused, said)
	}
	return nil, fmt.Errorf("%w (it answers %s)", errLost, response.Status)
}

// execute has a request run, and tells its news.
func (c *client) execute(ctx context.Context, address string, req bailiff.Request, news func(bailiff.Progress), a *bailiff.Answer) error {
	message := requestOf(req)
	message.Stream = news != nil
	response, err := c.send(ctx, address, "execute", message)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 0, 4<<10), longestLine)
	for lines.Scan() {
		var part part
		if err := json.Unmarshal(lines.Bytes(), &part); err != nil {
			return fmt.Errorf("%w (%w)", errLost, err)
		}
		switch {
		case part.Answer != nil && part.Answer.Status == bailiff.Unavailable && part.Answer.Code == bailiff.CodeShutdown:
			return fmt.Errorf("%w: it is stopping", errNotTaken)
		case part.Answer != nil:
			*a = *part.Answer
			return nil
		case part.Progress != nil && news != nil:
			news(*part.Progress)
		}
	}
	return fmt.Errorf("%w (%w)", errLost, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}

// ask has something done that answers once.
func (c *client) ask(ctx context.Context, address, what string, message, into any) error {
	response, err := c.send(ctx, address, what, message)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostPlain))
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%w (%w)", errLost, err)
	}
	return nil
}
