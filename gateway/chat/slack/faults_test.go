package slack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
)

func TestAnEditSaysThatItsMessageIsGone(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	ref, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Delete("C1", ref.Message)
	others := server.Write("U1", "C1", "", "mine")
	for _, at := range []string{ref.Message, others} {
		if err := s.Edit(t.Context(), chat.Ref{Place: channel, Message: at}, chat.Message{Text: plain("y")}); !errors.Is(err,
			chat.ErrGone) {
			t.Errorf("editing %s came to %v", at, err)
		}
	}
}

func TestWhatSlackWantsLaterSaysWhen(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	for _, c := range []struct {
		fault slacktest.Fault
		want  time.Duration
	}{
		{slacktest.Fault{Status: 429, RetryAfter: 7}, 7 * time.Second}, {slacktest.Fault{Status: 429}, 30 * time.Second},
		{slacktest.Fault{Status: 429, RetryAfter: 1e6}, time.Hour}, {slacktest.Fault{Status: 429, RetryAfter: math.MaxInt}, time.Hour},
		{slacktest.Fault{Error: "ratelimited"}, 30 * time.Second},
	} {
		server.Fail(func(string) slacktest.Fault { return c.fault })
		for what, do := range map[string]func() error{
			"posting": func() error { _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, ""); return err },
			"editing": func() error {
				return s.Edit(t.Context(), chat.Ref{Place: channel, Message: "1.2"}, chat.Message{Text: plain("x")})
			},
			"running": func() error { return first(t, s) },
		} {
			var busy *chat.Busy
			if err := do(); !errors.As(err, &busy) || busy.After != c.want {
				t.Errorf("%s with %+v came to %v, want busy for %v", what, c.fault, err, c.want)
			}
		}
	}
}

// first is the first thing that Run tells of its connection.
func first(t *testing.T, s *slack.Slack) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in := chattest.NewInbox()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	err := chattest.Next(t, in.Connections)
	cancel()
	_ = chattest.Next(t, ended)
	return err
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	sent := map[string]string{"chat.postMessage": slacktest.Token, "auth.test": slacktest.Token,
		"apps.connections.open": slacktest.AppToken, "link": "ticket"}
	for method, secret := range sent {
		for n, f := range []slacktest.Fault{{Error: "you sent " + secret}, {Status: 418}, {Drop: true}, {Garbled: true}} {
			server.Fail(onceAt(method, 1, f))
			_, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, fmt.Sprint(method, n))
			if method != "chat.postMessage" {
				err = first(t, s)
			}
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s with %+v came to %v", method, f, err)
			}
		}
	}
}

func TestErrorsHoldNoSecretsThatOnlyABrokenServerWouldRepeat(t *testing.T) {
	t.Parallel()
	url := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "auth.test"):
			_, _ = fmt.Fprint(w, `{"ok":true,"user_id":"U1","team_id":"T1"}`)
		case strings.HasSuffix(r.URL.Path, "apps.connections.open"):
			_, _ = fmt.Fprint(w, `{"ok":true,"url":"ws://127.0.0.1:1/link?ticket=a-ticket\u007f"}`)
		default:
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 500 you sent %s\r\nContent-Length: 0\r\n\r\n", slacktest.Token)
				_ = conn.Close()
			}
		}
	})
	s, _ := app(t, func(c *slack.Config) { c.URL = url })
	_, posting := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, "k")
	for _, err := range []error{posting, first(t, s)} {
		if err == nil || strings.Contains(err.Error(), slacktest.Token) || strings.Contains(err.Error(), "a-ticket") {
			t.Errorf("it came to %v", err)
		}
	}
}

func TestAConnectionIsNotTriedBeforeSlackWantsIt(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	var asked []time.Time
	server.Fail(func(method string) slacktest.Fault {
		if method != "apps.connections.open" {
			return slacktest.Fault{}
		}
		if asked = append(asked, time.Now()); len(asked) == 1 { // one after the other
			return slacktest.Fault{Status: 429, RetryAfter: 1}
		}
		return slacktest.Fault{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	in := chattest.NewInbox()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	for chattest.Next(t, in.Connections) != nil {
	}
	cancel()
	_ = chattest.Next(t, ended)
	if len(asked) != 2 || asked[1].Sub(asked[0]) < time.Second {
		t.Errorf("it was tried at %v", asked)
	}
}

func TestNothingIsSentToWhoeverSlackPointsAt(t *testing.T) {
	t.Parallel()
	called := make(chan string, 10)
	other := newServer(t, func(w http.ResponseWriter, r *http.Request) { called <- r.URL.Path })
	pointing := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"/stolen", http.StatusTemporaryRedirect)
	})
	s, _ := app(t, func(c *slack.Config) { c.URL = pointing })
	if _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, "k"); err == nil || len(called) > 0 {
		t.Errorf("it came to %v, and %d calls went elsewhere", err, len(called))
	}
}

func TestATokenIsReadAtEachCall(t *testing.T) {
	t.Parallel()
	token := "xoxb-old"
	s, _ := app(t, func(c *slack.Config) {
		c.BotToken = func() (bailiff.Secret, error) { return bailiff.NewSecret(token), nil }
	})
	var no *chat.Refused
	if _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, "k"); !errors.As(err, &no) {
		t.Errorf("by an old token it came to %v", err)
	}
	token = slacktest.Token
	if _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x")}, "k"); err != nil {
		t.Errorf("by a new one it came to %v", err)
	}
}
