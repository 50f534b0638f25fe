package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/webhook"
)

// inbox takes answers and says thanks.
type inbox struct {
	clicks    chan chat.Click
	connected chan error
}

func (inbox) Said(context.Context, chat.Said) {}

func (i inbox) Clicked(_ context.Context, t chat.Click) chat.Text {
	i.clicks <- t
	return chat.Text{{Text: "thanks"}}
}

func (i inbox) Connected(err error) { i.connected <- err }

func TestTheBridgeShowsWhatIsPostedAndAnswersIt(t *testing.T) {
	const secret = "sesame-4711-and-more"
	var printed bytes.Buffer
	other := httptest.NewServer(newBridge([]byte(secret), &printed))
	defer other.Close()
	w, err := webhook.New(webhook.Config{URL: other.URL, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Secret: func() (bailiff.Secret, error) { return bailiff.NewSecret(secret), nil }})
	if err != nil {
		t.Fatal(err)
	}
	in := inbox{make(chan chat.Click, 1), make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, in) }()
	defer func() { cancel(); <-ended }()
	if err := <-in.connected; err != nil {
		t.Fatal(err)
	}

	first := post(t, w, "k1")
	if again := post(t, w, "k1"); again != first || first.Message != "message-1" {
		t.Errorf("it is shown at %v and %v", first, again)
	}
	if err := w.Edit(t.Context(), first, chat.Message{Text: chat.Text{{Text: "denied"}}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
	var n notice
	if err := json.Unmarshal([]byte(lines[0]), &n); len(lines) != 2 || err != nil || n.Type != "post" || n.Key != "k1" ||
		!strings.Contains(lines[1], `"denied"`) {
		t.Errorf("printed is %q, %v", lines, err)
	}
	if found := w.Check(t.Context(), []chat.Person{{ID: "ana"}}); len(found) != 2 || found[0].Err != nil || found[1].Err != nil {
		t.Errorf("a check finds %v", found)
	}

	a := answer{ID: "a1", User: "ana", Message: first.Message, Word: "deny", Reason: "it is prod"}
	if told, err := a.send("http://"+w.Address()+"/answers", []byte(secret)); err != nil || told != "thanks" {
		t.Fatalf("answering says %q, %v", told, err)
	}
	if _, err := a.send("http://"+w.Address()+"/answers", []byte(secret)); err == nil || !strings.Contains(err.Error(), "409") {
		t.Errorf("answering again says %v", err)
	}
	want := chat.Click{By: chat.Person{ID: "ana"}, On: first, Word: "deny", Reason: "it is prod"}
	if click := <-in.clicks; click != want {
		t.Errorf("the answer is %+v, want %+v", click, want)
	}
}

func post(t *testing.T, w *webhook.Webhook, key string) chat.Ref {
	t.Helper()
	ref, err := w.Post(t.Context(), chat.Place{}, chat.Message{Text: chat.Text{{Text: "May it?"}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestTheBridgeTakesNothingThatIsNotSigned(t *testing.T) {
	body, now := []byte(`{"type":"post","id":"1"}`), time.Now()
	for name, stamp := range map[string]int64{"old": now.Unix() - 301, "new": now.Unix() + 301} {
		s := time.Unix(stamp, 0)
		header := signed(body, s)
		if err := verify([]byte("sesame"), header, body, now); err == nil {
			t.Errorf("what is too %s is taken", name)
		}
	}
	if err := verify([]byte("sesame"), signed(body, now), body, now); err != nil {
		t.Error(err)
	}
	if err := verify([]byte("other"), signed(body, now), body, now); err == nil {
		t.Error("what is signed by another secret is taken")
	}
}

func signed(body []byte, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	header := http.Header{}
	header.Set("Bailiff-Timestamp", stamp)
	header.Set("Bailiff-Signature", webhook.Sign(bailiff.NewSecret("sesame"), stamp, body))
	return header
}
