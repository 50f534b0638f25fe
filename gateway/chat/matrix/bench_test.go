package matrix_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

// From a reaction at the homeserver to the answer that is told, over loopback.
func BenchmarkAClickIsTold(b *testing.B) {
	server := matrixtest.New(b)
	room := server.Room("ops", "ana")
	m, err := matrix.New(matrix.Config{URL: server.URL(), Memory: new(memory), Log: slog.New(slog.DiscardHandler),
		Token: func() (bailiff.Secret, error) { return bailiff.NewSecret(matrixtest.Token), nil }})
	if err != nil {
		b.Fatal(err)
	}
	in := clicked{make(chan chat.Click), make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx, in) }()
	defer func() { cancel(); <-ended }()
	<-in.connected
	for b.Loop() {
		b.StopTimer()
		ref, err := m.Post(ctx, chat.Place{Chat: room}, asks("May it?"), rand.Text())
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		server.Click("ana", room, ref.Message, "✅")
		<-in.clicks
	}
}

type clicked struct {
	clicks    chan chat.Click
	connected chan error
}

func (clicked) Said(context.Context, chat.Said) {}

func (t clicked) Clicked(_ context.Context, click chat.Click) chat.Text {
	t.clicks <- click
	return nil
}

func (t clicked) Connected(err error) { t.connected <- err }
