package telegram

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

// inbox keeps what comes in, and tells what it is set to.
type inbox struct {
	said      chan chat.Said
	clicks    chan chat.Click
	connected chan error
	tell      string
}

func newInbox() *inbox {
	return &inbox{make(chan chat.Said, 1000), make(chan chat.Click, 1000), make(chan error, 1000), "done"}
}

func (i *inbox) Said(_ context.Context, s chat.Said) {
	if s.Text == "panic" {
		panic("as the test wants it")
	}
	i.said <- s
}

func (i *inbox) Clicked(_ context.Context, t chat.Click) chat.Text {
	i.clicks <- t
	return chat.Text{{Text: i.tell}}
}

func (i *inbox) Connected(err error) { i.connected <- err }

// next is what comes next; the test ends if nothing does.
func next[T any](t *testing.T, from chan T) T {
	t.Helper()
	select {
	case it := <-from:
		return it
	case <-time.After(60 * time.Second):
		t.Fatalf("no %T came", *new(T))
		panic("unreachable")
	}
}

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// made is a bot at a server, which nobody runs yet. Whatever becomes of it, its token is
// in no line of its log.
func made(t *testing.T, s *telegramtest.Server, change ...func(*Config)) *Telegram {
	t.Helper()
	log := &logged{}
	c := Config{Token: func() (bailiff.Secret, error) { return bailiff.NewSecret(s.Token), nil }, URL: s.URL(),
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, do := range change {
		do(&c)
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	b.pause, b.look = 5*time.Millisecond, 20*time.Millisecond
	t.Cleanup(func() {
		if strings.Contains(log.String(), s.Token) {
			t.Errorf("the token is in the log:\n%s", log)
		}
	})
	return b
}

// running is a bot that runs until the test ends.
func running(t *testing.T, s *telegramtest.Server, change ...func(*Config)) (*Telegram, *inbox) {
	t.Helper()
	b, in := made(t, s, change...), newInbox()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, in) }()
	t.Cleanup(func() {
		cancel()
		if err := next(t, ended); err != nil {
			t.Errorf("the run ended with %v", err)
		}
	})
	if err := next(t, in.connected); err != nil {
		t.Fatalf("connecting: %v", err)
	}
	return b, in
}

var (
	question1 = chat.Text{{Text: "ana asks to run "}, {Style: chat.Code, Text: "git push"}, {Text: " in "},
		{Style: chat.Strong, Text: "docker"}}
	buttons1 = []chat.Button{
		{Label: "Approve once", Token: "tokenapprove", Word: "approve", Yes: true},
		{Label: "Deny", Token: "tokendeny", Word: "deny"},
		{Label: "Deny, and say why…", Token: "tokenwhy", Asks: "Why is it denied?"},
	}
)

// in is a chat.
func in(id string) chat.Place { return chat.Place{Chat: id} }

// words is a message of one piece.
func words(text string) chat.Message { return chat.Message{Text: chat.Text{{Text: text}}} }
