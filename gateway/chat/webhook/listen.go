package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// maxBody bounds what comes in.
	maxBody = 64 << 10
	// maxField bounds each text of an answer but the reason.
	maxField = 256
	// firstPause is the longest first pause before a listener is opened again.
	firstPause = time.Second
)

// Address is where answers come in, as host:port; empty while they do not.
func (w *Webhook) Address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.address
}

func (w *Webhook) at(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.address = strings.TrimPrefix(address, "tcp://")
}

// Run takes answers until ctx ends.
func (w *Webhook) Run(ctx context.Context, in chat.Inbox) error {
	for pauses := chat.NewBackoff(firstPause); ; {
		err := w.serve(ctx, in, pauses.Reset)
		if ctx.Err() == nil {
			in.Connected(err)
		}
		if !pauses.Wait(ctx, err) {
			return nil
		}
	}
}

// serve opens a listener for answers, and keeps it open until ctx ends or it fails.
func (w *Webhook) serve(ctx context.Context, in chat.Inbox, works func()) error {
	defer w.at("")
	return gateway.ServeUntil(ctx, gateway.ListenerConfig{
		Name: "webhook", Network: "tcp", Address: w.cfg.Listen, Login: true, Log: w.cfg.Log,
		BodyTimeout: 10 * time.Second, MaxConnections: 256, MaxRequests: 64,
	}, w.handler(in), func(listener *gateway.Listener) {
		w.at(listener.Address())
		works()
		in.Connected(nil)
	})
}

func (w *Webhook) handler(in chat.Inbox) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /answers", func(out http.ResponseWriter, r *http.Request) { w.answer(out, r, in) })
	return mux
}

// answer is what the other side sends: a person's answer to a message.
type answer struct {
	// ID is the answer's own.
	ID string `json:"id"`
	// User is the person, as the other side knows them; Name is for display.
	User string `json:"user"`
	Name string `json:"name"`
	// Token is the button's; or Message and Word say the same.
	Token   string `json:"token"`
	Message string `json:"message"`
	Word    string `json:"word"`
	Reason  string `json:"reason"`
	// Terms are how long and how often a yes holds, as "for 2h" or "5 times".
	Terms string `json:"terms"`
	// Opinion is what a program says of the approval of Message, in place of an answer.
	Opinion string `json:"opinion"`
}

// answer takes one.
func (w *Webhook) answer(out http.ResponseWriter, r *http.Request, in chat.Inbox) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxBody))
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		respond(out, http.StatusRequestEntityTooLarge, refusal{"too_large", "An answer has at most 64 KiB."})
		return
	}
	if err != nil {
		respond(out, http.StatusBadRequest, refusal{"bad_request", "The body did not come whole."})
		return
	}
	expires, err := w.verify(r.Header, body, time.Now())
	if err != nil {
		respond(out, http.StatusUnauthorized, refusal{"unauthorized", bailiff.Sentence(err.Error())})
		return
	}
	a, err := read(body)
	if err != nil {
		respond(out, http.StatusBadRequest, refusal{"bad_request", bailiff.Sentence(err.Error())})
		return
	}
	switch err := w.seen.Take(time.Now(), expires, a.ID); err {
	case chat.ErrRepeated:
		respond(out, http.StatusConflict, refusal{"repeated", "This answer came before."})
		return
	case chat.ErrCrowded:
		out.Header().Set("Retry-After", "60")
		respond(out, http.StatusServiceUnavailable, refusal{"busy", "Too many answers came lately; try again in a minute."})
		return
	}
	told := in.Clicked(r.Context(), chat.Click{
		By: chat.Person{ID: a.User, Name: a.Name}, On: chat.Ref{Message: a.Message}, Token: a.Token, Word: a.Word, Reason: a.Reason,
		Terms: a.Terms, Opinion: a.Opinion,
	})
	respond(out, http.StatusOK, map[string]string{"told": told.Plain()})
}

// errUnsigned is all that is said of it.
var errUnsigned = errors.New("the request is not signed as it should be")

// verify says until when a request can come again, if it is signed as it should be, and
// its time within the window.
func (w *Webhook) verify(header http.Header, body []byte, now time.Time) (expires time.Time, err error) {
	secret, err := w.cfg.Secret()
	if err != nil {
		w.cfg.Log.Error("answers cannot be checked without the webhook's secret, and are refused", "error", err)
		return expires, errUnsigned
	}
	stamps, signatures := header.Values(timestampHeader), header.Values(signatureHeader)
	if len(stamps) != 1 || len(signatures) != 1 || secret.Reveal() == "" {
		return expires, errUnsigned
	}
	if !hmac.Equal([]byte(signatures[0]), []byte(Sign(secret, stamps[0], body))) {
		return expires, errUnsigned
	}
	seconds, err := strconv.ParseUint(stamps[0], 10, 40)
	if err != nil {
		return expires, errUnsigned
	}
	sent := time.Unix(int64(seconds), 0) //nolint:gosec // of 40 bits
	if age := now.Sub(sent); age > window || age < -window {
		return expires, errUnsigned
	}
	return sent.Add(window), nil
}

// read reads an answer strictly.
func read(body []byte) (a answer, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return a, errors.New("the body is no answer, want JSON with id, user, and token or message and word")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return a, errors.New("something follows the answer in the body, want one JSON object")
	}
	return a, a.lacks()
}

func (a answer) lacks() error {
	for name, text := range map[string]string{"id": a.ID, "user": a.User, "name": a.Name, "token": a.Token, "message": a.Message,
		"word": a.Word, "terms": a.Terms} {
		if len(text) > maxField {
			return errors.New(name + " is too long, want 256 bytes at most")
		}
	}
	switch {
	case a.ID == "":
		return errors.New("id is missing: a text that no other answer has")
	case a.User == "":
		return errors.New("user is missing: who answered")
	case a.Opinion != "" && (a.Token != "" || a.Word != "" || a.Reason != "" || a.Terms != "" || a.Message == ""):
		return errors.New("an opinion is no answer: want it with id, user and message alone")
	case a.Opinion == "" && a.Token == "" && (a.Message == "" || a.Word == ""):
		return errors.New("token is missing, or message and word in its place: what was answered")
	case a.Token != "" && a.Word != "":
		return errors.New("token and word are there, want one of them")
	}
	return nil
}

type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func respond(out http.ResponseWriter, status int, what any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(what)
}
