package slack_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
)

func TestAConnectionThatBreaksIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	for n := range 3 {
		server.Drop()
		if err := chattest.Next(t, in.Connections); err == nil || !strings.Contains(err.Error(), "broke") {
			t.Errorf("of the break it says %v", err)
		}
		text := fmt.Sprint("said while nobody listened, ", n)
		server.Write("U1", "D1", "", text)
		if err := chattest.Next(t, in.Connections); err != nil {
			t.Errorf("of the new connection it says %v", err)
		}
		if said := chattest.Next(t, in.Messages); said.Text != text {
			t.Errorf("told was %+v", said)
		}
		server.Until(func() bool { return server.UnacknowledgedCount() == 0 }) // or it would come again
	}
}

func TestAConnectionIsLeftForAnotherWithoutABreak(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"warning", "refresh_requested"} {
		t.Run(reason, func(t *testing.T) {
			s, server := app(t)
			in := run(t, s)
			server.Disconnect(reason)
			if err := chattest.Next(t, in.Connections); err != nil {
				t.Errorf("it says %v", err)
			}
			server.Until(func() bool { return server.ConnectionCount() == 2 })
			server.Write("U1", "D1", "", "hello")
			if said := chattest.Next(t, in.Messages); said.Text != "hello" {
				t.Errorf("told was %+v", said)
			}
			server.Until(func() bool { return server.UnacknowledgedCount() == 0 })
		})
	}
}

func TestWhatComesByAConnectionThatIsLeftIsTaken(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	server.Fail(func(method string) slacktest.Fault { return slacktest.Fault{Drop: method == "link"} })
	server.Disconnect("warning")
	if err := chattest.Next(t, in.Connections); err == nil {
		t.Fatal("there is another connection")
	}
	server.Write("U1", "D1", "", "late")
	if said := chattest.Next(t, in.Messages); said.Text != "late" {
		t.Errorf("told was %+v", said)
	}
}

func TestWhatSlackDeliversAgainHasTheSameRef(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	server.Mentions()
	server.Fail(func(string) slacktest.Fault { return slacktest.Fault{Twice: true} })
	server.Write("U1", "C1", "", "@bailiff ls")
	one := chattest.Next(t, in.Messages)
	for range 3 { // twice as a message, twice as a mention
		if again := chattest.Next(t, in.Messages); again.Ref != one.Ref || !again.Mentioned || again.Text != "ls" ||
			again.Kind != one.Kind {
			t.Errorf("told was %+v, then %+v", one, again)
		}
	}
	server.Command("U1", "C1", "/bailiff stop")
	if one, two := chattest.Next(t, in.Messages), chattest.Next(t, in.Messages); one.Ref != two.Ref {
		t.Errorf("told was %v, then %v", one.Ref, two.Ref)
	}
	ref, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x"), Buttons: []chat.Button{{Label: "Yes", Token: "t"}}}, "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Click("U1", "C1", ref.Message, "Yes")
	if one, two := chattest.Next(t, in.Clicks), chattest.Next(t, in.Clicks); one != two {
		t.Errorf("told was %v, then %v", one, two)
	}
}

func TestNothingMalformedEndsIt(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	for _, text := range []string{"", "null", "[]", "{", `"x"`, `{"type":7}`, `{"type":"events_api"}`,
		`{"type":"events_api","envelope_id":"e1","payload":"x"}`,
		`{"type":"interactive","envelope_id":"e2","payload":{"type":"block_actions","actions":[]}}`,
		`{"type":"interactive","envelope_id":"e3","payload":{"type":"view_submission","user":{"id":"U1"},` +
			`"view":{"callback_id":"bailiff.ask","private_metadata":"x"}}}`,
		`{"type":"slash_commands","envelope_id":"e4","payload":[]}`, `{"type":"something new","envelope_id":"e5","payload":{}}`,
		`{"type":"events_api","envelope_id":"e6","payload":{"team_id":"T01","event":{"type":"message","channel":"C1","user":"U1",` +
			`"ts":{}}}}`} {
		server.Say(text)
	}
	server.Press("U1", "C1", map[string]any{"ts": "1.2"}, "no-value", "")
	server.Write("U1", "D1", "", "still here?")
	if said := chattest.Next(t, in.Messages); said.Text != "still here?" {
		t.Errorf("told was %+v", said)
	}
	if len(in.Clicks) > 0 || len(in.Connections) > 0 {
		t.Errorf("%d clicks came, and the connection changed %d times", len(in.Clicks), len(in.Connections))
	}
}

func TestAPanicInTheHeartEndsNothing(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := &bomb{Inbox: chattest.NewInbox()}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	defer func() { cancel(); _ = chattest.Next(t, ended) }()
	_ = chattest.Next(t, in.Connections)
	server.Write("U1", "D1", "", "boom")
	server.Write("U1", "D1", "", "after")
	if said := chattest.Next(t, in.Messages); said.Text != "after" {
		t.Errorf("told was %+v", said)
	}
}

type bomb struct{ *chattest.Inbox }

func (b *bomb) Said(ctx context.Context, s chat.Said) {
	if s.Text == "boom" {
		panic(s.Text)
	}
	b.Inbox.Said(ctx, s)
}

func TestOnlyWhatPeopleWriteIsTold(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	message := func(change map[string]any) map[string]any {
		event := map[string]any{"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "ts": "1.1", "text": "x"}
		for key, value := range change {
			event[key] = value
		}
		return event
	}
	for _, subtype := range []string{"message_changed", "message_deleted", "bot_message", "channel_join", "channel_topic", "me_message",
		"message_replied", "assistant_app_thread", "unheard_of"} {
		server.Deliver(message(map[string]any{"subtype": subtype}))
	}
	for _, change := range []map[string]any{
		{"bot_id": "B9"}, {"user": slacktest.Bot}, {"user": ""}, {"user": "USLACKBOT"},
		{"edited": map[string]any{"user": "U1", "ts": "2.2"}}, {"hidden": true},
		{"type": "reaction_added"}, {"type": "app_mention", "edited": map[string]any{"user": "U1", "ts": "2.2"}}, {"ts": ""},
		{"channel": ""}, {"ts": "../x"}, {"thread_ts": "x"},
	} {
		server.Deliver(message(change))
	}
	if _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("my own")}, "k"); err != nil {
		t.Fatal(err)
	}
	server.Deliver(message(map[string]any{"subtype": "file_share", "text": "with a file", "files": []any{map[string]any{"id": "F1"}}}))
	if said := chattest.Next(t, in.Messages); said.Text != "with a file" {
		t.Errorf("told was %+v", said)
	}
	server.Deliver(message(map[string]any{"subtype": "thread_broadcast", "text": "in both", "thread_ts": "1.0"}))
	if said := chattest.Next(t, in.Messages); said.Text != "in both" || said.Thread != "1.0" || said.Kind != "thread" {
		t.Errorf("told was %+v", said)
	}
}

func TestAnotherWorkspacesPeopleAreNotTheseOnes(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	server.Foreign("T02", map[string]any{"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "ts": "1.1",
		"text": "from elsewhere"})
	server.Write("U1", "D1", "", "from here")
	if said := chattest.Next(t, in.Messages); said.Text != "from here" {
		t.Errorf("told was %+v", said)
	}
}

func TestAConnectionThatFallsSilentIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	s.Hurry(3 * time.Second) // pings come after a third of that, which a busy machine sends and answers in time
	in := run(t, s)
	server.Write("U1", "D1", "", "heard")
	if said := chattest.Next(t, in.Messages); said.Text != "heard" {
		t.Errorf("told was %+v", said)
	}
	server.Until(func() bool { return server.Pings() >= 4 }) // for longer; what answers pings is not silent
	if len(in.Connections) > 0 {
		t.Errorf("it says %v", <-in.Connections)
	}
	server.Mute()
	if err := chattest.Next(t, in.Connections); err == nil || !strings.Contains(err.Error(), "fell silent") {
		t.Errorf("it says %v", err)
	}
	for chattest.Next(t, in.Connections) != nil {
	}
	server.Write("U1", "D1", "", "again")
	for said := chattest.Next(t, in.Messages); said.Text != "again"; said = chattest.Next(t, in.Messages) {
	}
}

func TestAnAppThatSlackWillNotHaveEndsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*slack.Config)
		fail   func(string) slacktest.Fault
		want   string
	}{
		"a wrong bot token":  {func(c *slack.Config) { c.BotToken = secret("xoxb-other") }, nil, "does not know this token"},
		"a wrong app token":  {func(c *slack.Config) { c.AppToken = secret("xapp-other") }, nil, "does not know this token"},
		"a bot's for an app": {func(c *slack.Config) { c.AppToken = secret(slacktest.Token) }, nil, "app_token is xapp-"},
		"a revoked one": {func(*slack.Config) {}, onceAt("auth.test", 1, slacktest.Fault{Error: "token_revoked"}),
			"install the app again"},
	} {
		t.Run(name, func(t *testing.T) {
			s, server := app(t, c.change)
			if c.fail != nil {
				server.Fail(c.fail)
			}
			in := chattest.NewInbox()
			err := s.Run(t.Context(), in)
			var no *chat.Refused
			if !errors.As(err, &no) || !strings.Contains(no.Reason, c.want) || chattest.Next(t, in.Connections) == nil {
				t.Errorf("it ended by %v, want %q", err, c.want)
			}
		})
	}
}

func TestSocketModeThatIsTurnedOffEndsIt(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := chattest.NewInbox()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context(), in) }()
	_ = chattest.Next(t, in.Connections)
	server.Disconnect("link_disabled")
	var no *chat.Refused
	if err := chattest.Next(t, ended); !errors.As(err, &no) || !strings.Contains(no.Reason, "Socket Mode is off") {
		t.Errorf("it ended by %v", err)
	}
}

func TestATokenThatCannotBeReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	readable := make(chan struct{})
	s, _ := app(t, func(c *slack.Config) {
		c.AppToken = func() (bailiff.Secret, error) {
			select {
			case <-readable:
				return bailiff.NewSecret(slacktest.AppToken), nil
			default:
				return bailiff.Secret{}, errors.New("there is no file x")
			}
		}
	})
	in := chattest.NewInbox()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	if err := chattest.Next(t, in.Connections); err == nil || !strings.Contains(err.Error(), "there is no file x") {
		t.Errorf("it says %v", err)
	}
	close(readable)
	for chattest.Next(t, in.Connections) != nil {
	}
	cancel()
	if err := chattest.Next(t, ended); err != nil {
		t.Errorf("it ended by %v", err)
	}
}

func TestAFormThatSlackDoesNotOpenIsSaid(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	in := run(t, s)
	server.Fail(onceAt("views.open", 1, slacktest.Fault{Error: "expired_trigger_id"}))
	ref, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x"),
		Buttons: []chat.Button{{Label: "No", Token: "t", Asks: "Why?"}}}, "k")
	if err != nil {
		t.Fatal(err)
	}
	server.Click("U1", "C1", ref.Message, "No")
	server.Until(func() bool {
		told := server.Told("U1")
		return len(told) == 1 && strings.Contains(told[0], "Nothing has changed; click again.")
	})
	if len(in.Clicks) > 0 {
		t.Errorf("told was %v", <-in.Clicks)
	}
}
