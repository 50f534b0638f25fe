package telegram

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

const hookSecret = "a-secret_that_only_Telegram_knows"

// hooked has a bot be called.
func hooked(t *testing.T) (string, func(*Config)) {
	where := porttest.Address(t)
	return "http://" + where + "/telegram", func(c *Config) {
		c.Webhook = &Webhook{URL: "http://" + where + "/telegram", Listen: where,
			Secret: func() (bailiff.Secret, error) { return bailiff.NewSecret(hookSecret), nil }}
	}
}

func TestAWebhookHandsOnWhatTheServiceCallsWith(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, hook := hooked(t)
	_, in := running(t, s, hook)
	id := s.Write("42", "42", "", "ls -la")
	if said := chattest.Next(t, in.Messages); said.Text != "ls -la" || said.Message != id || said.Kind != "dm" || said.By.ID != "42" {
		t.Errorf("said is %+v", said)
	}
	s.Until(func() bool { return s.Pending() == 0 })
	if s.Calls("getUpdates") > 0 {
		t.Error("it polled too")
	}
}

func TestAnUpdateThatTheServiceCallsWithTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, hook := hooked(t)
	_, in := running(t, s, hook)
	s.Again()
	s.Write("42", "42", "", "ls -la")
	first, second := chattest.Next(t, in.Messages), chattest.Next(t, in.Messages)
	if first.Ref != second.Ref || first.Text != second.Text {
		t.Errorf("it is %+v, and then %+v", first, second)
	}
}

func TestAWebhookHearsNobodyButTheService(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	where, hook := hooked(t)
	_, in := running(t, s, hook)
	update := `{"update_id": 1, "message": {"message_id": 1, "from": {"id": 42}, "chat": {"id": 42, "type": "private"}, "text": "ls"}}`
	for name, c := range map[string]struct {
		method string
		secret []string
		body   string
		want   int
	}{
		"no secret":                {"POST", nil, update, 401},
		"an empty secret":          {"POST", []string{""}, update, 401},
		"another secret":           {"POST", []string{hookSecret + "x"}, update, 401},
		"the beginning of it":      {"POST", []string{hookSecret[:8]}, update, 401},
		"two secrets":              {"POST", []string{hookSecret, hookSecret}, update, 401},
		"not how the service does": {"GET", []string{hookSecret}, "", 405},
		"more than an update":      {"POST", []string{hookSecret}, strings.Repeat("x", updateBytes+1), 400},
		"nonsense, which would come again and again": {"POST", []string{hookSecret}, "no JSON", 200},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequest(c.method, where, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header["X-Telegram-Bot-Api-Secret-Token"] = c.secret
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != c.want {
				t.Errorf("it answered %d, want %d", response.StatusCode, c.want)
			}
		})
	}
	if len(in.Messages) > 0 {
		t.Errorf("it handed on %+v", <-in.Messages)
	}
}

func TestAWebhookThatSomebodyTakesAwayIsSetAgain(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, hook := hooked(t)
	_, in := running(t, s, hook)
	response, err := http.Post(s.URL()+"/bot"+s.Token+"/deleteWebhook", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := chattest.Next(t, in.Connections); err == nil || !strings.Contains(err.Error(), "took the bot's webhook away") {
		t.Errorf("it told %v", err)
	}
	if err := chattest.Next(t, in.Connections); err != nil {
		t.Errorf("it told %v", err)
	}
	s.Write("42", "42", "", "ls")
	chattest.Next(t, in.Messages)
}

func TestAListenerThatFellShutIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, hook := hooked(t)
	bot, in := made(t, s, hook), newInbox()
	r := bot.newReceiver(in)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- r.run(ctx) }()
	defer r.working.Wait()
	defer func() { cancel(); <-ended }()
	for range 2 {
		if err := chattest.Next(t, in.Connections); err != nil {
			t.Fatalf("it told %v", err)
		}
		s.Write("42", "42", "", "ls")
		chattest.Next(t, in.Messages)
		_ = r.listener.Shutdown(ctx)
		if err := chattest.Next(t, in.Connections); !errors.Is(err, errListenerClosed) {
			t.Fatalf("it told %v", err)
		}
	}
}

func TestAWebhookThatClosesHasUpdatesComeAgain(t *testing.T) {
	t.Parallel()
	inbox := newInbox()
	r := &receiver{updateHandler: updateHandler{Telegram: made(t, telegramtest.New(t)), inbox: inbox}}
	r.secret.Store(&webhookSecret{sum: sha256.Sum256([]byte(hookSecret))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"update_id": 1}`))
	request.Header.Set("X-Telegram-Bot-Api-Secret-Token", hookSecret)
	answer := httptest.NewRecorder()
	if r.webhookHandler(ctx).ServeHTTP(answer, request); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("it answered %d", answer.Code)
	}
}
