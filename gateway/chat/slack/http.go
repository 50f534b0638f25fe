package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

const (
	// callBytes bounds what Slack may send at once.
	callBytes = 1 << 20
	// replayTime is longer than a signature can be valid: five minutes before and after.
	replayTime = 11 * time.Minute
	// mostKnown bounds what is remembered of that time; Slack makes 30,000 calls an hour.
	mostKnown = 1 << 16
	// mostConnections and mostCalls are served at once.
	mostConnections, mostCalls = 256, 64
)

// byHTTP listens until ctx ends.
func (e *ear) byHTTP(ctx context.Context) error {
	if err := e.identify(ctx); err != nil {
		return err
	}
	c := &calls{ear: e}
	take := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.serve(ctx, w, r) }) // what is begun outlives the call
	return gateway.ServeUntil(ctx, gateway.DoorConfig{
		Name: "slack", Network: "tcp", Address: e.cfg.Listen, Login: true, Log: e.cfg.Log,
		MaxConnections: mostConnections, MaxRequests: mostCalls,
	}, take, func(*gateway.Door) { e.in.Connected(nil) })
}

// calls take what Slack sends by HTTP: events, answers and commands alike, by any path.
type calls struct {
	*ear
	seen seen
}

// serve answers before Slack loses patience: what takes longer goes on aside.
func (c *calls) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Slack calls by POST.", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, callBytes))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		http.Error(w, "The call is too long.", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "The call broke off.", http.StatusBadRequest)
	default:
		c.take(ctx, w, r.Header, body)
	}
}

func (c *calls) take(ctx context.Context, w http.ResponseWriter, header http.Header, body []byte) {
	status, err := c.judge(header, body)
	if err != nil {
		http.Error(w, bailiff.Sentence(err.Error()), status)
		return
	}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	switch kind {
	case "application/json":
		c.event(ctx, w, body)
	case "application/x-www-form-urlencoded":
		c.form(ctx, w, body)
	default:
		http.Error(w, "Slack sends JSON or a form.", http.StatusUnsupportedMediaType)
	}
}

var (
	errEmpty   = errors.New("it is empty")
	errSecret  = errors.New("the signing secret cannot be read")
	errStamp   = errors.New("slack's signature is missing, wrong or older than five minutes")
	errReplay  = errors.New("this call came before")
	errCrowded = errors.New("too many calls came in the last minutes")
)

// judge says why a call is not taken: unless it is signed by Slack, just now and for the
// first time.
func (c *calls) judge(header http.Header, body []byte) (status int, err error) {
	secret, err := c.cfg.SigningSecret()
	if err == nil && secret.Reveal() == "" {
		err = errEmpty
	}
	if err != nil {
		c.cfg.Log.Error("Slack's calls cannot be checked without the signing secret, and are refused", "error", err)
		return http.StatusInternalServerError, errSecret
	}
	signed, err := slack.NewSecretsVerifier(header, secret.Reveal())
	if err != nil {
		return http.StatusUnauthorized, errStamp
	}
	if _, err := signed.Write(body); err != nil || signed.Ensure() != nil {
		return http.StatusUnauthorized, errStamp
	}
	once := strings.ToLower(header.Get("X-Slack-Signature")) // hexadecimal, which is the same in capitals
	if err := c.seen.first(once, time.Now()); err != nil {
		return http.StatusConflict, err
	}
	return 0, nil
}

func (c *calls) event(ctx context.Context, w http.ResponseWriter, body []byte) {
	var d delivery
	if err := json.Unmarshal(body, &d); err != nil {
		http.Error(w, "The call is no JSON.", http.StatusBadRequest)
		return
	}
	if d.Type == "url_verification" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, d.Challenge)
		return
	}
	c.delivered(ctx, body)
}

// form takes answers and commands; nothing else comes as one but Slack's question whether
// somebody is there.
func (c *calls) form(ctx context.Context, w http.ResponseWriter, body []byte) {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, "The call is no form.", http.StatusBadRequest)
		return
	}
	if payload := values.Get("payload"); payload != "" {
		c.interacted(ctx, []byte(payload))
	} else if values.Get("command") != "" {
		c.commanded(ctx, commandOf(values))
	}
}

// seen are the signatures that were taken, for as long as they are valid.
type seen struct {
	lock sync.Mutex
	at   map[string]time.Time
	next time.Time
}

// first takes a signature, once.
func (s *seen) first(signature string, now time.Time) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if now.After(s.next) || len(s.at) >= mostKnown {
		s.forget(now)
	}
	switch _, again := s.at[signature]; {
	case again:
		return errReplay
	case len(s.at) >= mostKnown:
		return errCrowded
	}
	if s.at == nil {
		s.at = map[string]time.Time{}
	}
	s.at[signature] = now
	return nil
}

func (s *seen) forget(now time.Time) {
	for signature, at := range s.at {
		if now.Sub(at) > replayTime {
			delete(s.at, signature)
		}
	}
	s.next = now.Add(time.Minute)
}
