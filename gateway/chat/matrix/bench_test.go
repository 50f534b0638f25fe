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
func BenchmarkATapIsTold(b *testing.B) {
	server := matrixtest.New(b)
	room := server.Room("ops", "ana")
	m, err := matrix.New(matrix.Config{URL: server.URL(), Memory: new(memory), Log: slog.New(slog.DiscardHandler),
		Token: func() (bailiff.Secret, error) { return bailiff.NewSecret(matrixtest.Token), nil }})
	if err != nil {
		b.Fatal(err)
	}
	in := tapped{make(chan chat.Tap), make(chan error, 1)}
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
		server.Tap("ana", room, ref.Message, "✅")
		<-in.taps
	}
}

type tapped struct {
	taps      chan chat.Tap
	connected chan error
}

func (tapped) Said(context.Context, chat.Said) {}

func (t tapped) Tapped(_ context.Context, tap chat.Tap) chat.Text {
	t.taps <- tap
	return nil
}

func (t tapped) Connected(err error) { t.connected <- err }
