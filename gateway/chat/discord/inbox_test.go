package discord

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

var quiet = slog.New(slog.DiscardHandler)

const (
	ana = "42"
	bob = "43"
)

// inbox keeps what it is told.
type inbox struct {
	chattest.Signal
	said      []chat.Said
	clicks    []chat.Click
	connected []error
	// answer is what whoever clicks is told, whisper is done with what was said.
	answer  func(chat.Click) chat.Text
	whisper func(context.Context, chat.Said)
}

func (b *inbox) Said(ctx context.Context, s chat.Said) {
	b.Change(func() { b.said = append(b.said, s) })
	if b.whisper != nil {
		b.whisper(ctx, s)
	}
}

func (b *inbox) Clicked(_ context.Context, t chat.Click) chat.Text {
	b.Change(func() { b.clicks = append(b.clicks, t) })
	if b.answer != nil {
		return b.answer(t)
	}
	return nil
}

func (b *inbox) Connected(err error) { b.Change(func() { b.connected = append(b.connected, err) }) }

// await waits until something is so.
func (b *inbox) await(t *testing.T, is func() bool) {
	t.Helper()
	if !b.Await(t, is) {
		t.Fatalf("told of %+v, %+v and %v", b.said, b.clicks, b.connected)
	}
}

// heard waits for so many messages and returns their texts.
func (b *inbox) heard(t *testing.T, n int) (all []string) {
	t.Helper()
	b.await(t, func() bool { return len(b.said) >= n })
	for _, s := range b.said {
		all = append(all, s.Text)
	}
	return all
}

// bot is one that is connected to a server of its own.
type bot struct {
	*Discord
	*inbox
	server *discordtest.Server
	ended  chan error
	stop   context.CancelFunc
	// tokenFile has the token, where a test says so.
	tokenFile string
}

func token(text string) func() (bailiff.Secret, error) {
	return func() (bailiff.Secret, error) { return bailiff.NewSecret(text), nil }
}

func newDiscord(t *testing.T, s *discordtest.Server) *Discord {
	t.Helper()
	d, err := New(Config{Token: token(s.Token), URL: s.URL(), Approvals: discordtest.Channel, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	d.second = 20 * time.Millisecond
	return d
}

func start(t *testing.T, prepare ...func(*bot)) *bot {
	t.Helper()
	b := &bot{server: discordtest.New(t), inbox: &inbox{}, ended: make(chan error, 1)}
	b.Discord = newDiscord(t, b.server)
	for _, p := range prepare {
		p(b)
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() {
		b.ended <- b.Run(ctx, b.inbox)
		close(b.ended)
	}()
	t.Cleanup(func() {
		stop()
		<-b.ended
	})
	return b
}

// connect waits until the bot is connected.
func (b *bot) connect(t *testing.T) *bot {
	t.Helper()
	b.await(t, func() bool { return slices.Contains(b.connected, nil) })
	return b
}

func plain(text string) chat.Text { return chat.Text{{Text: text}} }

var (
	here  = chat.Place{Chat: discordtest.Channel}
	mayIt = chat.Message{Text: plain("May it?"), Buttons: []chat.Button{
		{Label: "Approve", Token: "yes1", Word: "approve", Yes: true},
		{Label: "Deny", Token: "no1", Word: "deny", Asks: "Why not?"},
	}}
)

func (b *bot) post(t *testing.T, at chat.Place, m chat.Message, key string) chat.Ref {
	t.Helper()
	ref, err := b.Post(t.Context(), at, m, key)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
