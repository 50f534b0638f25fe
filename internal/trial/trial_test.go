package trial

import (
	"context"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

func TestASidecarServesUntilItIsStoppedOrKilled(t *testing.T) {
	s := Serve(t)
	ask := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "echo hi"}, Session: bailiff.Session{ID: "s1", Platform: "telegram", UserID: "42"}}
	for range 2 {
		answer, err := s.Client(t).Execute(t.Context(), ask, client.News{})
		if err != nil || answer.Status != bailiff.Completed || answer.Output != "hi\n" {
			t.Fatalf("it answered %+v, %v", answer, err)
		}
		s.Kill()
		if _, err := s.Client(t).Execute(t.Context(), ask, client.News{}); err == nil {
			t.Error("a dead sidecar answered")
		}
		s.Start(t)
	}
}

func TestNoWreckAnswers(t *testing.T) {
	for _, wreck := range Wrecks() {
		for _, network := range []string{"unix", "tcp"} {
			t.Run(wreck.Name+" by "+network, func(t *testing.T) {
				c, err := client.New(wreck.Open(t, network), bailiff.Secret{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				if answer, err := c.Execute(ctx, bailiff.Request{Tool: bailiff.Terminal}, client.News{}); err == nil {
					t.Errorf("it answered %+v", answer)
				}
			})
		}
	}
}
