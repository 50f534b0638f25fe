package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

const secret = "sesame-4711"

// counter counts what it is told.
type counter struct{ clicks []chat.Click }

func (*counter) Said(context.Context, chat.Said) {}
func (*counter) Connected(error)                 {}
func (c *counter) Clicked(_ context.Context, t chat.Click) chat.Text {
	c.clicks = append(c.clicks, t)
	return chat.Text{{Text: "thanks"}}
}

// Whatever comes in, something is told at most once, and only of what is signed and whole.
func FuzzAnswers(f *testing.F) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	for _, body := range []string{
		`{"id": "a1", "user": "ana", "token": "abc"}`, `{"id": "a1", "user": "ana", "message": "m", "word": "deny", "reason": "x"}`,
		`{"id": "a1", "user": "ana"}`, `{"id": 7}`, `[]`, ``, `{"id": "a1", "user": "ana", "token": "abc"} x`, "\x00",
		`{"ID": "a", "USER": "b", "TOKEN": "c"}`,
	} {
		f.Add([]byte(body), now, "", true)
		f.Add([]byte(body), now, "v1=00", false)
		f.Add([]byte(body), "1", "", true)
	}
	f.Fuzz(func(t *testing.T, body []byte, stamp, signature string, signed bool) {
		read := func() (bailiff.Secret, error) { return bailiff.NewSecret(secret), nil }
		w, err := New(Config{URL: "http://127.0.0.1:1", Secret: read, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		in := new(counter)
		if signed {
			signature = Sign(bailiff.NewSecret(secret), stamp, body)
		}
		for attempt := range 2 {
			r := httptest.NewRequest(http.MethodPost, "/answers", bytes.NewReader(body))
			r.Header[timestampHeader], r.Header[signatureHeader] = []string{stamp}, []string{signature}
			out := httptest.NewRecorder()
			w.handler(in).ServeHTTP(out, r)
			if !json.Valid(out.Body.Bytes()) {
				t.Fatalf("it is answered %d %q", out.Code, out.Body)
			}
			if out.Code == http.StatusOK && (!signed || attempt > 0) {
				t.Fatalf("%q, signed: %v, is taken in attempt %d", body, signed, attempt)
			}
			if !signed && out.Code != http.StatusUnauthorized && len(body) <= maxBody {
				t.Fatalf("who did not sign hears %d %s", out.Code, out.Body)
			}
		}
		if len(in.clicks) > 1 || len(in.clicks) == 1 &&
			(in.clicks[0].By.ID == "" || in.clicks[0].Token == "" && (in.clicks[0].Word == "" || in.clicks[0].On.Message == "")) {
			t.Fatalf("told is %+v", in.clicks)
		}
	})
}

func TestWithoutASecretNothingIsTaken(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func() (bailiff.Secret, error){
		"that can be read": func() (bailiff.Secret, error) { return bailiff.NewSecret(""), errors.New("it cannot be read") },
		"in its place":     func() (bailiff.Secret, error) { return bailiff.Secret{}, nil },
	} {
		w, err := New(Config{URL: "http://127.0.0.1:1", Secret: read, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		body, stamp := []byte(`{"id": "a1", "user": "ana", "token": "abc"}`), strconv.FormatInt(time.Now().Unix(), 10)
		r := httptest.NewRequest(http.MethodPost, "/answers", bytes.NewReader(body))
		r.Header[timestampHeader], r.Header[signatureHeader] = []string{stamp}, []string{Sign(bailiff.Secret{}, stamp, body)}
		out, in := httptest.NewRecorder(), new(counter)
		if w.handler(in).ServeHTTP(out, r); out.Code != http.StatusUnauthorized || len(in.clicks) > 0 {
			t.Errorf("without one %s it is answered %d, and told is %v", name, out.Code, in.clicks)
		}
	}
}

func TestAListenerThatCannotOpenYetIsTriedAgain(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", porttest.Address(t)) // which no other program takes once this one is closed
	if err != nil {
		t.Fatal(err)
	}
	read := func() (bailiff.Secret, error) { return bailiff.NewSecret(secret), nil }
	w, err := New(Config{URL: "http://127.0.0.1:1", Secret: read, Listen: taken.Addr().String(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	in := told(make(chan error, 10))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, in) }()
	if err := <-in; err == nil {
		t.Error("two listen at one address")
	}
	_ = taken.Close()
	for err = <-in; err != nil; err = <-in {
	}
	if w.Address() != taken.Addr().String() {
		t.Errorf("it listens at %q", w.Address())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// told is told how the connection is.
type told chan error

func (told) Said(context.Context, chat.Said)               {}
func (told) Clicked(context.Context, chat.Click) chat.Text { return nil }
func (t told) Connected(err error)                         { t <- err }
