package vercel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// client asks Vercel's API. What it does for one call is bounded in time, and in
// what it reads.
type client struct {
	endpoint, team, project string
	token                   backends.Credential
	http                    *http.Client
	// pause is the first one before a call is repeated.
	pause time.Duration
}

const (
	callTime    = time.Minute
	mostAnswer  = 4 << 20
	mostTries   = 5
	firstPause  = 400 * time.Millisecond
	longestWait = 20 * time.Second
)

func newClient(cfg Config) *client {
	return &client{
		endpoint: cfg.Endpoint, team: cfg.Team, project: cfg.Project, token: cfg.Token, pause: firstPause,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:                 http.ProxyFromEnvironment,
				DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
				TLSHandshakeTimeout:   10 * time.Second,
				ResponseHeaderTimeout: callTime,
				IdleConnTimeout:       90 * time.Second,
				ForceAttemptHTTP2:     true,
				// A log that is followed may say nothing for long.
				HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
			},
			// The token is for the endpoint alone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// call is one thing that is asked.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	header       map[string]string
	// again says that it may be done twice.
	again bool
	// answer is where an answer in JSON goes.
	answer any
}

// refusal is an answer that is none of success.
type refusal struct {
	Status        int
	Code, Message string
	after         time.Duration
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("Vercel answers %d", r.Status)
	if r.Code != "" {
		text += " (" + r.Code + ")"
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// isStatus says whether an error is Vercel's answer with one of these numbers.
func isStatus(err error, any ...int) bool {
	var refused *refusal
	if !errors.As(err, &refused) {
		return false
	}
	for _, status := range any {
		if refused.Status == status {
			return true
		}
	}
	return false
}

// do asks, and again for as long as that makes sense: what says that nothing has
// happened, and of what may happen twice anything that may pass.
func (c *client) do(ctx context.Context, call call) error {
	pause := c.pause
	for try := 1; ; try++ {
		err := c.try(ctx, call)
		if err == nil || try == mostTries || !call.passes(err) || ctx.Err() != nil {
			return err
		}
		wait := pause + rand.N(pause)
		if refused := new(refusal); errors.As(err, &refused) && refused.after > 0 {
			wait = refused.after
		}
		if pause *= 2; wait > longestWait || sleep(ctx, wait) != nil {
			return err
		}
	}
}

func (c call) passes(err error) bool {
	if isStatus(err, http.StatusTooManyRequests, http.StatusServiceUnavailable) {
		return true
	}
	var refused *refusal
	return c.again && (!errors.As(err, &refused) || refused.Status >= 500)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *client) try(ctx context.Context, call call) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := c.send(ctx, call)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("reading Vercel's answer: %w", err)
	}
	if call.answer == nil {
		return nil
	}
	if err := json.Unmarshal(content, call.answer); err != nil {
		return fmt.Errorf("reading Vercel's answer: %w", err)
	}
	return nil
}

// send returns an answer of success, whose body is to be closed.
func (c *client) send(ctx context.Context, call call) (*http.Response, error) {
	request, err := c.request(ctx, call)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking Vercel: %w", unaddressed(err))
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		defer answer.Body.Close()
		return nil, refused(answer)
	}
	return answer, nil
}

// unaddressed leaves the address out, which names teams and sandboxes.
func unaddressed(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

const bearer = "Bearer "

func (c *client) request(ctx context.Context, call call) (*http.Request, error) {
	token, err := c.token.Read()
	if err != nil {
		return nil, err
	}
	query := url.Values{"teamId": {c.team}}
	for key, values := range call.query {
		query[key] = values
	}
	request, err := http.NewRequestWithContext(ctx, call.method, c.endpoint+call.path+"?"+query.Encode(), bytes.NewReader(call.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "bailiff")
	for name, value := range call.header {
		request.Header.Set(name, value)
	}
	request.Header.Set("Authorization", bearer+token.Reveal())
	return request, nil
}

// refused reads what Vercel says of a call that it did not do.
func refused(answer *http.Response) error {
	said := struct {
		Error struct{ Code, Message string }
	}{}
	content, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	_ = json.Unmarshal(content, &said) // something on the way may have answered
	sent := bailiff.NewSecret(strings.TrimPrefix(answer.Request.Header.Get("Authorization"), bearer))
	r := &refusal{Status: answer.StatusCode, Code: bailiff.Foreign(said.Error.Code, sent), Message: bailiff.Foreign(said.Error.Message, sent)}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		r.after = time.Duration(seconds) * time.Second
	}
	return r
}
