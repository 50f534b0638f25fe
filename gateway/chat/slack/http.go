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
	"time"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// callBytes bounds what Slack may send at once.
	callBytes = 1 << 20
	// replayTime is longer than a signature can be valid: five minutes before and after.
	replayTime = 11 * time.Minute
	// maxSignatures bounds what is remembered of that time; Slack makes 30,000 calls an hour.
	maxSignatures = 1 << 16
	// maxConnections and maxCalls are served at once.
	maxConnections, maxCalls = 256, 64
)

// receiveByHTTP listens until ctx ends.
func (r *receiver) receiveByHTTP(ctx context.Context) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	c := &httpHandler{receiver: r, seen: chat.NewOnce(maxSignatures)}
	take := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.serve(ctx, w, r) }) // what is begun outlives the call
	return gateway.ServeUntil(ctx, gateway.ListenerConfig{
		Name: "slack", Network: "tcp", Address: r.cfg.Listen, Login: true, Log: r.cfg.Log,
		MaxConnections: maxConnections, MaxRequests: maxCalls,
	}, take, func(*gateway.Listener) { r.in.Connected(nil) })
}

// httpHandler takes Slack's calls: events, interactions and commands, by any path.
type httpHandler struct {
	*receiver
	seen *chat.Once
}

// serve answers within Slack's three seconds: longer work goes on in the background.
func (c *httpHandler) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
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
		c.handle(ctx, w, r.Header, body)
	}
}

func (c *httpHandler) handle(ctx context.Context, w http.ResponseWriter, header http.Header, body []byte) {
	status, err := c.verify(header, body)
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
	errEmpty  = errors.New("it is empty")
	errSecret = errors.New("the signing secret cannot be read")
	errStamp  = errors.New("slack's signature is missing, wrong or older than five minutes")
)

// verify says why a call is not taken: unless it is signed by Slack, just now and for the
// first time.
func (c *httpHandler) verify(header http.Header, body []byte) (status int, err error) {
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
	if err := c.seen.Take(time.Now(), time.Now().Add(replayTime), once); err != nil {
		return http.StatusConflict, err
	}
	return 0, nil
}

func (c *httpHandler) event(ctx context.Context, w http.ResponseWriter, body []byte) {
	var d eventCallback
	if err := json.Unmarshal(body, &d); err != nil {
		http.Error(w, "The call is no JSON.", http.StatusBadRequest)
		return
	}
	if d.Type == "url_verification" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprint(w, d.Challenge)
		return
	}
	c.onEvent(ctx, body)
}

// form takes interactions and commands, and Slack's check whether the listener is there.
func (c *httpHandler) form(ctx context.Context, w http.ResponseWriter, body []byte) {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, "The call is no form.", http.StatusBadRequest)
		return
	}
	if payload := values.Get("payload"); payload != "" {
		c.onInteraction(ctx, []byte(payload))
	} else if values.Get("command") != "" {
		c.onCommand(ctx, commandOf(values))
	}
}
