package telegram

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

// newInbox is an inbox that answers each click, and panics where a test wants that.
func newInbox() *chattest.Inbox {
	in := chattest.NewInbox()
	in.OnSaid = func(s chat.Said) {
		if s.Text == "panic" {
			panic("as the test wants it")
		}
	}
	in.Answer = func(chat.Click) chat.Text { return chat.Text{{Text: "done"}} }
	return in
}

// made is a bot at a server, which nobody runs yet. Whatever becomes of it, its token is
// in no line of its log.
func made(t *testing.T, s *telegramtest.Server, change ...func(*Config)) *Telegram {
	t.Helper()
	log := &chattest.Log{}
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
func running(t *testing.T, s *telegramtest.Server, change ...func(*Config)) (*Telegram, *chattest.Inbox) {
	t.Helper()
	b, in := made(t, s, change...), newInbox()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, in) }()
	t.Cleanup(func() {
		cancel()
		if err := chattest.Next(t, ended); err != nil {
			t.Errorf("the run ended with %v", err)
		}
	})
	if err := chattest.Next(t, in.Connections); err != nil {
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
