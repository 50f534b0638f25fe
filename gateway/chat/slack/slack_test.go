package slack_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
)

func secret(value string) slack.Credential {
	return func() (bailiff.Secret, error) { return bailiff.NewSecret(value), nil }
}

// app is bailiff's at a workspace of its own, by Socket Mode unless a test says otherwise.
func app(t *testing.T, with ...func(*slack.Config)) (*slack.Slack, *slacktest.Server) {
	t.Helper()
	server := slacktest.New(t)
	server.Channel("C1", slacktest.Bot, "U1", "U2")
	server.Channel("D1", slacktest.Bot, "U1")
	c := slack.Config{BotToken: secret(slacktest.Token), AppToken: secret(slacktest.AppToken), URL: server.URL(), Approvals: "C1"}
	for _, change := range with {
		change(&c)
	}
	s, err := slack.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, server
}

// run has an app receive until the test ends.
func run(t *testing.T, s *slack.Slack) *chattest.Inbox {
	t.Helper()
	in := chattest.NewInbox()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	t.Cleanup(func() {
		cancel()
		if err := chattest.Next(t, ended); err != nil {
			t.Errorf("it ended by %v", err)
		}
	})
	if err := chattest.Next(t, in.Connections); err != nil {
		t.Fatal(err)
	}
	return in
}

func plain(text string) chat.Text { return chat.Text{{Text: text}} }

func TestAnAppWithoutWhatItNeedsIsNotMade(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]slack.Config{
		"slack config lacks AppToken, BotToken":      {},
		"slack config lacks AppToken":                {BotToken: secret("a"), SigningSecret: secret("b")},
		"slack config lacks BotToken, SigningSecret": {Listen: "127.0.0.1:0"},
	} {
		if _, err := slack.New(c); err == nil || err.Error() != want {
			t.Errorf("it came to %v, want %s", err, want)
		}
	}
}

func TestAMessageIsShownEditedAndAnsweredByAClick(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	in.Answer = func(chat.Click) chat.Text { return plain("You approved it.") }
	asks := chat.Message{
		Text: chat.Text{{Text: "U2 asks for "}, {Style: chat.Strong, Text: "terminal"},
			{Style: chat.Block, Text: "rm -rf *build* <!channel>"}, {Text: "until 12:00"}},
		Buttons: []chat.Button{{Label: "Approve once", Token: "yes1", Yes: true}, {Label: "Deny", Token: "no1"}},
	}
	ref, err := s.Post(t.Context(), chat.Place{Chat: "C1"}, asks, "k1")
	if err != nil {
		t.Fatal(err)
	}
	shown := server.Messages("C1")
	if len(shown) != 1 || ref != (chat.Ref{Place: chat.Place{Chat: "C1"}, Message: shown[0].ID}) {
		t.Fatalf("posted as %v it is %v", ref, shown)
	}
	if want := "U2 asks for terminal\nrm -rf *build* <!channel>\nuntil 12:00"; shown[0].Text != want || shown[0].Key != "k1" {
		t.Errorf("it reads %q under the key %q, want %q", shown[0].Text, shown[0].Key, want)
	}
	if b := shown[0].Buttons; len(b) != 2 || b[0].Style != "primary" || b[1].Style != "danger" {
		t.Errorf("its buttons are %v", b)
	}
	server.Click("U1", "C1", ref.Message, "Approve once")
	if got, want := chattest.Next(t, in.Clicks), (chat.Click{By: chat.Person{ID: "U1", Name: "u1"}, On: ref, Token: "yes1"}); got != want {
		t.Errorf("the click is %v, want %v", got, want)
	}
	server.Until(func() bool { return len(server.Told("U1")) == 1 })
	if told := server.Whispers("U1")[0]; told.Text != "You approved it." || told.Channel != "C1" {
		t.Errorf("told was %v", told)
	}
	for range 2 {
		if err := s.Edit(t.Context(), ref, chat.Message{Text: plain("Approved by ana.")}); err != nil {
			t.Fatal(err)
		}
	}
	if shown := server.Messages("C1"); len(shown) != 1 || shown[0].Text != "Approved by ana." || len(shown[0].Buttons) != 0 {
		t.Errorf("edited it is %v", shown)
	}
}

func TestAButtonThatAsksBringsALineAlong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"a reason":   {" too risky: <b> & co ", "too risky: <b> & co"},
		"no reason":  {"", ""},
		"only space": {"   ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, server := app(t)
			in := run(t, s)
			ref, err := s.Post(t.Context(), chat.Place{Chat: "C1"},
				chat.Message{Text: plain("May it?"), Buttons: []chat.Button{{Label: "Deny", Token: "no1", Asks: "Why not?"}}}, "k")
			if err != nil {
				t.Fatal(err)
			}
			server.Click("U2", "C1", ref.Message, "Deny")
			server.Until(func() bool { return server.Question("U2") == "Why not?" })
			select {
			case click := <-in.Clicks:
				t.Errorf("before the answer came %v", click)
			default:
			}
			server.Answer("U2", c.line)
			want := chat.Click{By: chat.Person{ID: "U2", Name: "u2"}, On: ref, Token: "no1", Reason: c.want}
			if got := chattest.Next(t, in.Clicks); got != want {
				t.Errorf("the click is %v, want %v", got, want)
			}
		})
	}
}

func TestWhatPeopleWriteIsToldAsTheyTypedIt(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	server.Channel("G1", slacktest.Bot, "U1")
	server.Channel("GM1", slacktest.Bot, "U1", "U2")
	server.Mentions()
	in := run(t, s)
	root := server.Write("U1", "C1", "", "@bailiff git log --format='<%an>' && curl https://x.test/?a=1&b=2 | sh")
	for range 2 { // as a message and as a mention
		want := chat.Said{Ref: chat.Ref{Place: chat.Place{Chat: "C1"}, Message: root}, Kind: "channel", By: chat.Person{ID: "U1"},
			Text: "git log --format='<%an>' && curl https://x.test/?a=1&b=2 | sh", Mentioned: true}
		wantSaid(t, chattest.Next(t, in.Messages), want)
	}
	for _, c := range []struct{ chat, thread, kind string }{{"C1", root, "thread"}, {"G1", "", "channel"}, {"GM1", "", "group"},
		{"D1", "", "dm"}} {
		id := server.Write("U1", c.chat, c.thread, "make `x` \"y\"\n```\nrm -rf *\n```")
		wantSaid(t, chattest.Next(t, in.Messages), chat.Said{Ref: chat.Ref{Place: chat.Place{Chat: c.chat, Thread: c.thread}, Message: id},
			Kind: c.kind,
			By:   chat.Person{ID: "U1"},
			Text: "make `x` \"y\"\n```\nrm -rf *\n```"})
	}
	threaded := server.Write("U1", "D1", "", "one")
	wantSaid(t, chattest.Next(t, in.Messages), chat.Said{Ref: chat.Ref{Place: chat.Place{Chat: "D1"}, Message: threaded}, Kind: "dm",
		By: chat.Person{ID: "U1"}, Text: "one"})
	id := server.Write("U1", "D1", threaded, "two")
	wantSaid(t, chattest.Next(t, in.Messages), chat.Said{Ref: chat.Ref{Place: chat.Place{Chat: "D1", Thread: threaded}, Message: id},
		Kind: "dm",
		By:   chat.Person{ID: "U1"}, Text: "two"})
}

func wantSaid(t *testing.T, got, want chat.Said) {
	t.Helper()
	if got.Ephemeral == nil {
		t.Error("nobody can be told anything alone")
	}
	if got.Ref != want.Ref || got.Kind != want.Kind || got.By != want.By || got.Text != want.Text || got.Mentioned != want.Mentioned {
		t.Errorf("told was %+v, want %+v", got, want)
	}
}

func TestAThreadIsTheOneThatAMessageBeginsOrIsIn(t *testing.T) {
	t.Parallel()
	s, _ := app(t)
	for from, want := range map[chat.Ref]chat.Place{
		{Place: chat.Place{Chat: "C1"}, Message: "12.34"}:                  {Chat: "C1", Thread: "12.34"},
		{Place: chat.Place{Chat: "C1", Thread: "12.34"}, Message: "56.78"}: {Chat: "C1", Thread: "12.34"},
		{Place: chat.Place{Chat: "C1"}, Message: "command.1.2.abc"}:        {Chat: "C1"},
	} {
		if got, err := s.Thread(t.Context(), from, "a title"); err != nil || got != want {
			t.Errorf("from %v it is %v, %v, want %v", from, got, err, want)
		}
	}
}

func TestSlashCommandsAreToldAndAnsweredToWhoGaveThem(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	server.Command("U1", "C1", "/bailiff status")
	first := chattest.Next(t, in.Messages)
	if first.Text != "/status" || !first.Mentioned || first.By != (chat.Person{ID: "U1", Name: "u1"}) ||
		first.Place != (chat.Place{Chat: "C1"}) || first.Kind != "channel" {
		t.Errorf("told was %+v", first)
	}
	server.Command("U1", "D9", "/bailiff  APPROVALS ")
	if second := chattest.Next(t, in.Messages); second.Text != "/approvals" || second.Kind != "dm" || second.Ref == first.Ref {
		t.Errorf("told was %+v", second)
	}
	server.Command("U1", "D9", "/bailiff undo 0199-A src/Main.go")
	if third := chattest.Next(t, in.Messages); third.Text != "/undo 0199-A src/Main.go" {
		t.Errorf("told was %+v", third)
	}
	if err := first.Ephemeral(t.Context(), plain("all <well>")); err != nil {
		t.Fatal(err)
	}
	server.Until(func() bool { return len(server.Told("U1")) == 1 && server.Told("U1")[0] == "all <well>" })
	for _, words := range []string{"/bailiff", "/bailiff rm -rf /", "/bailiff stop it"} {
		server.Command("U2", "C1", words)
	}
	server.Until(func() bool {
		told := server.Told("U2")
		return len(told) == 3 && strings.Contains(told[0], "/bailiff with one of: status, stop, new, approvals, undo, help.")
	})
	if len(in.Messages) > 0 {
		t.Errorf("told was %+v", <-in.Messages)
	}
}

func TestWhatSlackRefusesSaysWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	for code, want := range map[string]string{
		"invalid_auth": "does not know this token", "token_revoked": "install the app again", "not_in_channel": "invite the bot",
		"is_archived": "unarchive it",
	} {
		server.Fail(func(string) slacktest.Fault { return slacktest.Fault{Error: code} })
		_, err := s.Post(t.Context(), chat.Place{Chat: "C1"}, chat.Message{Text: plain("x")}, "")
		var no *chat.Refused
		if !errors.As(err, &no) || !strings.Contains(no.Reason, want) {
			t.Errorf("%s is %v, want one with %q", code, err, want)
		}
	}
}

func newServer(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatIsToldAloneIsWhereItIsAbout(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	in.Answer = func(chat.Click) chat.Text { return plain("noted") }
	root := server.Write("U1", "C1", "", "@bailiff ls")
	said := chattest.Next(t, in.Messages)
	at, err := s.Thread(t.Context(), said.Ref, "ls")
	if err != nil {
		t.Fatal(err)
	}
	server.Write("U2", "C1", root, "and this?")
	if err := chattest.Next(t, in.Messages).Ephemeral(t.Context(), plain("not you")); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Post(t.Context(), at, chat.Message{Text: plain("May it?"), Buttons: []chat.Button{{Label: "Yes", Token: "t"}}}, "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Click("U1", "C1", ref.Message, "Yes")
	if click := chattest.Next(t, in.Clicks); click.On != ref {
		t.Errorf("the click is on %v, want %v", click.On, ref)
	}
	server.Until(func() bool { return len(server.Told("U1")) == 1 && len(server.Told("U2")) == 1 })
	for _, user := range []string{"U1", "U2"} {
		if told := server.Whispers(user)[0]; told.Channel != "C1" || told.Thread != root {
			t.Errorf("%s was told %+v", user, told)
		}
	}
}
