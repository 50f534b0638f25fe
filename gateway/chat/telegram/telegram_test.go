package telegram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

const group = "-1001234567890"

func TestAnApprovalIsShownAnsweredAndEdited(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, in1 := running(t, s)
	ref, err := b.Post(t.Context(), in(group), chat.Message{Text: question1, Buttons: buttons1}, "k1")
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Messages(group)
	if len(shown) != 1 || shown[0].Text != "ana asks to run git push in docker" ||
		!slices.Equal(shown[0].Buttons, []string{"Approve once", "Deny", "Deny, and say why…"}) {
		t.Fatalf("shown is %+v", shown)
	}
	if shown[0].Previews {
		t.Error("links in it are looked up")
	}
	if want := []telegramtest.Entity{{Type: "code", Offset: 16, Length: 8},
		{Type: "bold", Offset: 28, Length: 6}}; !slices.EqualFunc(shown[0].Entities, want, sameEntity) {
		t.Errorf("entities are %+v", shown[0].Entities)
	}

	s.Click("42", group, ref.Message, "Approve once")
	click := chattest.Next(t, in1.Clicks)
	if click.Token != "tokenapprove" || click.By.ID != "42" || click.On != ref || click.Reason != "" {
		t.Errorf("the click is %+v", click)
	}
	s.Until(func() bool { return slices.Equal(s.Told("42"), []string{"done"}) })

	for range 2 { // the second says what is shown already
		if err := b.Edit(t.Context(), ref, words("approved by ana")); err != nil {
			t.Fatal(err)
		}
	}
	shown = s.Messages(group)
	if shown[0].Text != "approved by ana" || shown[0].Buttons != nil || shown[0].Edits != 1 || shown[0].Previews {
		t.Errorf("shown is %+v", shown)
	}
}

func sameEntity(a, b telegramtest.Entity) bool {
	return a.Type == b.Type && a.Offset == b.Offset && a.Length == b.Length
}

// failing has one method fail.
func failing(method string, f telegramtest.Fault) func(string) telegramtest.Fault {
	return func(called string) telegramtest.Fault {
		if called == method {
			return f
		}
		return telegramtest.Fault{}
	}
}

func TestFailuresAreToldApartAndNothingIsTriedTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*telegramtest.Server)
		at     chat.Place
		is     func(error) bool
		says   string
	}{
		"a wait without end": {func(s *telegramtest.Server) {
			s.Fail(failing("sendMessage", telegramtest.Fault{Code: 429, After: math.MaxInt}))
		}, in(group), busyFor(3600), ""},
		"too many requests": {func(s *telegramtest.Server) { s.Fail(failing("sendMessage", telegramtest.Fault{Code: 429, After: 7})) },
			in(group), busyFor(7), ""},
		"too many requests, of something in between": {func(s *telegramtest.Server) {
			s.Fail(failing("sendMessage", telegramtest.Fault{Code: 429, HTML: true}))
		}, in(group), busyFor(1), ""},
		"a token that is not known": {func(s *telegramtest.Server) { s.Fail(failing("sendMessage", telegramtest.Fault{Code: 401})) },
			in(group), refused, "BotFather"},
		"an address without a Bot API": {func(s *telegramtest.Server) {
			s.Fail(failing("sendMessage", telegramtest.Fault{Code: 404, Words: "Not Found"}))
		}, in(group), refused, "BotFather"},
		"a fault of the service": {func(s *telegramtest.Server) { s.Fail(failing("sendMessage", telegramtest.Fault{Code: 502})) },
			in(group), mayPass, "502"},
		"a proxy that knows nothing of it": {func(s *telegramtest.Server) {
			s.Fail(failing("sendMessage", telegramtest.Fault{Code: 403, HTML: true, Words: "no"}))
		}, in(group), mayPass, "not the Bot API"},
		"a connection that breaks": {func(s *telegramtest.Server) { s.Fail(failing("sendMessage", telegramtest.Fault{Drop: true})) },
			in(group), mayPass, "reaching Telegram"},
		"a chat that nobody knows":    {nil, in("-100999"), refused, "chat not found"},
		"a chat that cannot be":       {nil, in("general"), refused, "chat not found"},
		"a group that threw it out":   {func(s *telegramtest.Server) { s.Remove(group, "7000000001") }, in(group), refused, "kicked"},
		"a group where none writes":   {func(s *telegramtest.Server) { s.Mute(group) }, in(group), refused, "not enough rights"},
		"a group that is another now": {func(s *telegramtest.Server) { s.Upgrade(group, "-1005") }, in(group), refused, "-1005"},
		"somebody who blocks it": {func(s *telegramtest.Server) { s.Write("42", "42", "", "/start"); s.Block("42") }, in("42"),
			refused, "blocked"},
		"somebody who never began": {func(s *telegramtest.Server) { s.Group(group, "43") }, in("43"), refused, "start"},
		"a topic that is none":     {nil, chat.Place{Chat: group, Thread: "5"}, refused, "thread not found"},
		"a topic that cannot be":   {nil, chat.Place{Chat: group, Thread: "general"}, refused, `"general" is no topic's id`},
	} {
		t.Run(name, func(t *testing.T) {
			s := telegramtest.New(t)
			s.Group(group, "42")
			if c.before != nil {
				c.before(s)
			}
			_, err := made(t, s).Post(t.Context(), c.at, words("hello"), "k")
			if !c.is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it came to %#v: %v", err, err)
			}
			if n := s.Calls("sendMessage"); n > 1 {
				t.Errorf("it was tried %d times", n)
			}
		})
	}
}

func TestAYesThatNamesNoMessageMayPass(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte(`{"ok":true,"result":{}}`))
	}))
	defer s.Close()
	b := made(t, telegramtest.New(t), func(c *Config) { c.URL = s.URL })
	for range 2 {
		if ref, err := b.Post(t.Context(), in(group), words("hello"), "k"); !mayPass(err) || !errors.Is(err, errAnswer) {
			t.Errorf("it is %v, %v", ref, err)
		}
	}
	file := chat.Message{Text: chat.Text{{Text: "x"}}, File: &chat.File{Name: "a.txt", Content: []byte("a")}}
	if ref, err := b.Post(t.Context(), in(group), file, "f"); !errors.Is(err, errAnswer) {
		t.Errorf("with a file it is %v, %v", ref, err)
	}
}

func refused(err error) bool {
	var r *chat.Refused
	return errors.As(err, &r)
}

func busyFor(seconds int) func(error) bool {
	return func(err error) bool {
		var b *chat.Busy
		return errors.As(err, &b) && b.After == time.Duration(seconds)*time.Second
	}
}

func mayPass(err error) bool {
	var b *chat.Busy
	return err != nil && !refused(err) && !errors.As(err, &b) && !errors.Is(err, chat.ErrGone)
}

func TestEditingWhatIsNoMoreSaysSo(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	b := made(t, s)
	gone, err := b.Post(t.Context(), in(group), words("one"), "a")
	if err != nil {
		t.Fatal(err)
	}
	s.Delete(group, gone.Message)
	theirs := chat.Ref{Place: in(group), Message: s.Write("42", group, "", "hello")}
	for name, ref := range map[string]chat.Ref{"deleted": gone, "somebody else's": theirs} {
		if err := b.Edit(t.Context(), ref, words("two")); !errors.Is(err, chat.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.Edit(t.Context(), chat.Ref{Place: in(group), Message: "x"}, words("two")); !refused(err) {
		t.Errorf("an id that is none: %v", err)
	}
}

func TestTheTokenIsInNoError(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1"+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer elsewhere.Close()
	says := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"ok": false, "error_code": 400, "description": "there is no %s"}`, r.URL.Path)
	}))
	defer says.Close()
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"ok": true, "result": {"id": %q}}`, r.URL.Path)
	}))
	defer odd.Close()
	for name, url := range map[string]string{
		"nobody there": "http://127.0.0.1:1", "no name": "http://no.such.host.invalid", "no address": "http://127.0.0.1:port",
		"no scheme":     "://",
		"a redirection": elsewhere.URL, "a refusal that repeats it": says.URL, "an answer that is nonsense": odd.URL,
		"nothing that speaks TLS": strings.Replace(s.URL(), "http:", "https:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := made(t, s, func(c *Config) { c.URL = url })
			_, post := b.Post(t.Context(), in(group), words("hello"), "k")
			_, updates := b.updates(t.Context(), 0, 0)
			inbox := newInbox()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- b.Run(ctx, inbox) }()
			told := chattest.Next(t, inbox.Connections)
			cancel()
			chattest.Next(t, ended)
			for _, err := range []error{post, updates, told, b.Check(t.Context(), nil)[0].Err} {
				var addressed *neturl.Error
				switch {
				case err == nil && name != "an answer that is nonsense":
					t.Error("it came to nothing")
				case err == nil:
				case strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), s.Token), errors.As(err, &addressed):
					t.Errorf("it is in %v", err)
				}
			}
		})
	}
}

func TestARedirectionIsNotFollowed(t *testing.T) {
	t.Parallel()
	called := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was called", r.URL) }))
	defer called.Close()
	leads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, called.URL+r.URL.Path, http.StatusSeeOther)
	}))
	defer leads.Close()
	b := made(t, telegramtest.New(t), func(c *Config) { c.URL = leads.URL })
	if _, err := b.Post(t.Context(), in("1"), words("x"), ""); !mayPass(err) {
		t.Errorf("it came to %v", err)
	}
}

func TestManyPiecesAreNoLinksEither(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	var text chat.Text
	for range mostEntities + 20 {
		text = append(text, chat.Piece{Style: chat.Code, Text: "@ana"}, chat.Piece{Text: " "})
	}
	if _, err := made(t, s).Post(t.Context(), in(group), chat.Message{Text: text}, ""); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Messages(group)[0].Entities {
		if e.Type != "code" {
			t.Fatalf("there is a %s", e.Type)
		}
	}
}

func TestWhatIsNoTokenIsSentNowhere(t *testing.T) {
	t.Parallel()
	called := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was called", r.URL) }))
	defer called.Close()
	for _, token := range []string{"", "hello", "123:short", "123:aaaaaaaaaaaaaaaaaaaa/../x", "123:aaaaaaaaaaaaaaaaaaaaaaa?a=",
		"123:aaaaaaaaaaaaaaaaaaaaaa\n"} {
		b, err := New(Config{URL: called.URL, Token: func() (bailiff.Secret, error) { return bailiff.NewSecret(token), nil }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Post(t.Context(), in("1"), words("x"), ""); !refused(err) || token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v", token, err)
		}
		if err := b.Run(t.Context(), newInbox()); !refused(err) {
			t.Errorf("%q: the run ended with %v", token, err)
		}
	}
}

func TestAConfigurationNamesWhatItLacks(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Webhook: &Webhook{}})
	if err == nil || err.Error() != "telegram config lacks Token, Webhook.Listen, Webhook.Secret, Webhook.URL" {
		t.Error(err)
	}
}
