package daytona

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

// What one answer may take and hold, how often a question is asked, and how long
// Daytona may ask for patience.
const (
	answerTime  = 100 * time.Second
	answerBytes = 4 << 20
	attempts    = 6
	firstPause  = 200 * time.Millisecond
	longestWait = 30 * time.Second
)

// client asks Daytona's API and toolboxes.
type client struct {
	base string
	key  backends.Credential
	http *http.Client
}

func newClient(base string, key backends.Credential) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
	transport.TLSHandshakeTimeout = 10 * time.Second
	transport.MaxIdleConnsPerHost = 8
	return &client{base: strings.TrimRight(base, "/"), key: key, http: &http.Client{
		Transport: transport,
		// The key goes to whom the configuration and Daytona's API name, and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// call is one question.
type call struct {
	method, address string
	query           url.Values
	// body makes what is sent, anew for each attempt; nil sends nothing.
	body func() (content io.Reader, kind string)
	// into is what the answer is read into, if anything: an io.Writer takes it as it is.
	into any
	// long is how long the answer may take, where it is more than the usual.
	long time.Duration
	// once is set where asking twice could do something twice: then the question is
	// repeated only if the answer says that nothing was done.
	once bool
}

const bearer = "Bearer "

// fault is an answer that says no.
type fault struct {
	code    int
	message string
	after   time.Duration
}

func (f *fault) Error() string {
	if f.message == "" {
		return fmt.Sprintf("Daytona answered %d", f.code)
	}
	return fmt.Sprintf("Daytona answered %d: %s", f.code, f.message)
}

// status is the code of an answer that said no, or zero.
func status(err error) int {
	var f *fault
	if errors.As(err, &f) {
		return f.code
	}
	return 0
}

// do asks until there is an answer to stay with. It waits between attempts as long
// as Daytona says, but not beyond the end of ctx.
func (c *client) do(ctx context.Context, q call) error {
	for attempt := 1; ; attempt++ {
		err := c.try(ctx, q)
		if err == nil || ctx.Err() != nil || attempt == attempts || !worthwhile(err, q.once) {
			return err
		}
		if !rest(ctx, pause(err, attempt)) {
			return err
		}
	}
}

// worthwhile says whether to ask again.
func worthwhile(err error, once bool) bool {
	switch code := status(err); code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case 0, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return !once && !errors.Is(err, errAnswer)
	default:
		return false
	}
}

// errAnswer wraps what is wrong with an answer that came.
var errAnswer = errors.New("reading Daytona's answer")

func pause(err error, attempt int) time.Duration {
	var f *fault
	if errors.As(err, &f) && f.after > 0 {
		return min(f.after, longestWait)
	}
	longest := firstPause << attempt
	return longest/2 + rand.N(longest/2)
}

// rest waits, and says whether there was the time for it.
func rest(ctx context.Context, long time.Duration) bool {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) <= long {
		return false
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *client) try(ctx context.Context, q call) error {
	ctx, cancel := context.WithTimeout(ctx, max(q.long, answerTime))
	defer cancel()
	request, err := c.request(ctx, q)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("reaching Daytona: %w", plain(err))
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return refusal(response)
	}
	return read(response.Body, q.into)
}

func (c *client) request(ctx context.Context, q call) (*http.Request, error) {
	var body io.Reader
	var kind string
	if q.body != nil {
		body, kind = q.body()
	}
	request, err := http.NewRequestWithContext(ctx, q.method, q.address, body)
	if err != nil {
		return nil, fmt.Errorf("asking Daytona: %w", err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	request.URL.RawQuery = q.query.Encode()
	return request, c.authorize(request.Header)
}

func (c *client) authorize(header http.Header) error {
	key, err := c.key.Read()
	if err != nil {
		return fmt.Errorf("%w: backends.daytona.api_key: %w", backends.ErrUnavailable, err)
	}
	header.Set("Authorization", bearer+key.Reveal())
	return nil
}

// plain leaves the address out, which names sandboxes.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return errors.New("it does not answer in time")
	}
	return err
}

// refusal reads why the answer is no. Its words are Daytona's, so they are cut.
func refusal(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	sent := bailiff.NewSecret(strings.TrimPrefix(response.Request.Header.Get("Authorization"), bearer))
	var said struct {
		Message any    `json:"message"`
		Error   string `json:"error"`
	}
	f := &fault{code: response.StatusCode}
	if json.Unmarshal(text, &said) == nil {
		f.message = said.Error
		if said.Message != nil {
			f.message = fmt.Sprint(said.Message)
		}
	}
	f.message = bailiff.Foreign(f.message, sent)
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.after = time.Duration(seconds) * time.Second
	}
	return f
}

func read(body io.Reader, into any) error {
	if to, ok := into.(io.Writer); ok {
		if _, err := io.Copy(to, body); err != nil {
			return fmt.Errorf("%w: %w", errAnswer, err)
		}
		return nil
	}
	bounded := io.LimitReader(body, answerBytes+1)
	text, err := io.ReadAll(bounded)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errAnswer, err)
	case len(text) > answerBytes:
		return fmt.Errorf("%w: it is too long", errAnswer)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: %w", errAnswer, err)
	}
	return nil
}

// inJSON sends a value.
func inJSON(value any) func() (io.Reader, string) {
	return func() (io.Reader, string) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // only types of this package are sent
		}
		return bytes.NewReader(text), "application/json"
	}
}
