package telegram

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

func TestWhatIsWrittenIsHandedOn(t *testing.T) {
	t.Parallel()
	const me = "@" + telegramtest.BotName
	for name, c := range map[string]struct {
		chat, thread, text string
		want               chat.Said
	}{
		"to the bot alone":            {"42", "", "ls -la", chat.Said{Kind: "dm", Text: "ls -la"}},
		"by name, in a group":         {group, "", me + " ls -la", chat.Said{Kind: "group", Text: "ls -la", Mentioned: true}},
		"by name, at the end":         {group, "", "ls -la " + me, chat.Said{Kind: "group", Text: "ls -la", Mentioned: true}},
		"by name, in a topic":         {group, "7", me + " ls", chat.Said{Kind: "thread", Text: "ls", Mentioned: true}},
		"a command of the bot":        {group, "", "/status" + me, chat.Said{Kind: "group", Text: "/status", Mentioned: true}},
		"a command of whoever has it": {group, "", "/stop", chat.Said{Kind: "group", Text: "/stop", Mentioned: true}},
		"a command, named before":     {group, "", me + " /status", chat.Said{Kind: "group", Text: "/status", Mentioned: true}},
		"a command that it has not":   {group, "", "/etc", chat.Said{Kind: "group", Text: "/etc"}},
		"a block": {group, "", me + " ```python\nprint('x')\n```",
			chat.Said{Kind: "group", Text: "```python\nprint('x')\n```", Mentioned: true}},
		"a block of no language":       {"42", "", "```\nls\npwd\n```", chat.Said{Kind: "dm", Text: "```\nls\npwd\n```"}},
		"a name in a block, literally": {"42", "", "```\necho " + me + "\n```", chat.Said{Kind: "dm", Text: "```\necho " + me + "\n```"}},
		"quotes as they are": {"42", "", `echo “a” 'b' "c" &amp; <d>`,
			chat.Said{Kind: "dm", Text: `echo “a” 'b' "c" &amp; <d>`}},
		"signs of two units": {group, "", "😀 " + me + " echo 😀", chat.Said{Kind: "group", Text: "😀 echo 😀",
			Mentioned: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := telegramtest.New(t)
			_, inbox := running(t, s)
			c.want.Chat, c.want.Thread = c.chat, c.thread
			c.want.Message, c.want.By = s.Write("42", c.chat, c.thread, c.text), chat.Person{ID: "42", Name: "Person 42"}
			said := chattest.Next(t, inbox.Messages)
			said.Ephemeral = nil
			if said.Ref != c.want.Ref || said.By != c.want.By || said.Kind != c.want.Kind || said.Text != c.want.Text ||
				said.Mentioned != c.want.Mentioned {
				t.Errorf("said is %+v, want %+v", said, c.want)
			}
		})
	}
}

func TestAReplyToTheBotIsToIt(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	ref, err := b.Post(t.Context(), in(group), words("done"), "k")
	if err != nil {
		t.Fatal(err)
	}
	s.Reply("42", group, ref.Message, "ls")
	if said := chattest.Next(t, inbox.Messages); !said.Mentioned || said.Text != "ls" {
		t.Errorf("said is %+v", said)
	}
}

func TestWhatNobodyWroteIsNotHandedOn(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Privacy(false)
	_, inbox := running(t, s)
	message := func(more map[string]any) map[string]any {
		m := map[string]any{"message_id": 1, "date": 1, "from": map[string]any{"id": 42, "first_name": "A"},
			"chat": map[string]any{"id": -1, "type": "group"}, "text": "ls"}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	for name, more := range map[string]map[string]any{
		"a bot's":                  {"from": map[string]any{"id": 43, "is_bot": true}},
		"nobody's":                 {"from": nil},
		"in the name of a channel": {"sender_chat": map[string]any{"id": -2}},
		"by way of another bot":    {"via_bot": map[string]any{"id": 43}},
		"forwarded":                {"forward_origin": map[string]any{"type": "user"}},
		"somebody came":            {"text": nil, "new_chat_members": []any{}},
		"another bot's command": {"text": "/status@another_bot",
			"entities": []any{map[string]any{"type": "bot_command", "offset": 0, "length": 19}}},
		"a message that is no object": {"reply_to_message": "nonsense"},
	} {
		t.Log(name)
		s.Deliver("message", message(more))
	}
	s.Deliver("message", "no message")
	s.Deliver("edited_message", message(nil)) // which was not asked for
	s.Deliver("callback_query", map[string]any{"id": "1", "from": map[string]any{"id": 43, "is_bot": true}, "data": "x"})
	s.Deliver("callback_query", map[string]any{"id": "1", "from": map[string]any{"id": 42}})
	s.Deliver("message", message(map[string]any{"text": "panic"}))
	s.Deliver("message", message(map[string]any{"text": "the last",
		"external_reply": map[string]any{"origin": map[string]any{"type": "newer"}}}))
	if said := chattest.Next(t, inbox.Messages); said.Text != "the last" {
		t.Errorf("said is %+v", said)
	}
	if len(inbox.Clicks) > 0 {
		t.Errorf("clicked is %+v", <-inbox.Clicks)
	}
}

func TestAWhisperIsHeardByNobodyElse(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	_, inbox := running(t, s)
	s.Write("42", group, "", "@bailiff_test_bot ls")
	said := chattest.Next(t, inbox.Messages)
	if err := said.Ephemeral(t.Context(), chat.Text{{Text: "not yours"}}); !refused(err) {
		t.Errorf("to somebody who never wrote to the bot it came to %v", err)
	}
	s.Write("42", "42", "", "hello")
	chattest.Next(t, inbox.Messages)
	if err := said.Ephemeral(t.Context(), chat.Text{{Text: "not yours"}}); err != nil {
		t.Error(err)
	}
	if shown := s.Messages("42"); len(shown) != 1 || shown[0].Text != "not yours" || len(s.Messages(group)) > 0 {
		t.Errorf("shown is %+v, in the group %+v", shown, s.Messages(group))
	}
}

func TestWhoStartsTheBotIsToldWhatToConfigure(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	_, inbox := running(t, s)
	s.Write("42", "42", "", "/start")
	if said := chattest.Next(t, inbox.Messages); said.Text != "/start" {
		t.Errorf("said is %+v", said)
	}
	s.Await("42", func(m []telegramtest.Message) bool {
		return len(m) == 1 && strings.Contains(m[0].Text, "Your id here is 42.")
	})
	s.Write("42", group, "7", "/start@bailiff_test_bot")
	s.Await("42", func(m []telegramtest.Message) bool {
		return len(m) == 2 && strings.HasSuffix(m[1].Text, "Your id here is 42, and this chat's is "+group+", of it topic 7.")
	})
	if shown := s.Messages(group); len(shown) > 0 {
		t.Errorf("in the group is shown %+v", shown)
	}
}

// blocking is an inbox that takes nothing until it is let.
type blocking struct {
	*chattest.Inbox
	let chan struct{}
}

func (b blocking) Said(ctx context.Context, s chat.Said) {
	b.Inbox.Said(ctx, s)
	<-b.let
}

func TestAnUpdateIsConfirmedOnceTheInboxTookIt(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Write("42", "42", "", "one")
	s.Write("42", "42", "", "two") // which comes along with it
	b, inbox := made(t, s), blocking{newInbox(), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx, inbox) }()
	chattest.Next(t, inbox.Messages)
	if n := s.Pending(); n != 2 {
		t.Errorf("before anything is taken %d updates are unconfirmed", n)
	}
	cancel()
	close(inbox.let)
	if err := chattest.Next(t, ended); err != nil || s.Pending() != 1 || len(inbox.Messages) != 0 {
		t.Errorf("the run ended with %v, %d updates are unconfirmed", err, s.Pending())
	}
	_, after := running(t, s)
	if said := chattest.Next(t, after.Messages); said.Text != "two" {
		t.Errorf("what comes after a restart is %+v", said)
	}
}

func TestAnUpdateThatComesTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, inbox := running(t, s)
	s.Again()
	s.Write("42", "42", "", "ls")
	first, second := chattest.Next(t, inbox.Messages), chattest.Next(t, inbox.Messages)
	if first.Ref != second.Ref || first.Text != second.Text {
		t.Errorf("it is %+v, and then %+v", first, second)
	}
}

func TestAConnectionThatBreaksIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]telegramtest.Fault{
		"a fault of the service": {Code: 502}, "a page of a proxy": {Code: 503, HTML: true}, "a broken connection": {Drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := telegramtest.New(t)
			b := made(t, s)
			b.keep = time.Second
			inbox := newInbox()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- b.Run(ctx, inbox) }()
			if err := chattest.Next(t, inbox.Connections); err != nil {
				t.Fatal(err)
			}
			var broken sync.Once
			s.Fail(func(method string) (now telegramtest.Fault) {
				if method == "getUpdates" {
					broken.Do(func() { now = f })
				}
				return now
			})
			s.Write("42", "42", "", "ls") // ends the poll that is under way
			if err := chattest.Next(t, inbox.Connections); !mayPass(err) {
				t.Errorf("it told %v", err)
			}
			if err := chattest.Next(t, inbox.Connections); err != nil {
				t.Errorf("it told %v", err)
			}
			chattest.Next(t, inbox.Messages)
			cancel()
			if err := chattest.Next(t, ended); err != nil {
				t.Errorf("the run ended with %v", err)
			}
			if n := s.Calls("setMyCommands"); n != 1 || !slices.Equal(s.Menu(), chat.CommandNames()) {
				t.Errorf("the commands %v were told %d times", s.Menu(), n)
			}
		})
	}
}

func TestAnotherPollerIsTold(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, inbox := running(t, s)
	s.Until(s.Polling)
	response, err := http.Get(s.URL() + "/bot" + s.Token + "/getUpdates") // which drives the first one away
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := chattest.Next(t, inbox.Connections); err == nil ||
		!strings.Contains(err.Error(), "another program asks for this bot's updates") {
		t.Errorf("it told %v", err)
	}
	s.Until(func() bool { return len(s.Waits()) == 4 })
	if len(inbox.Connections) > 0 {
		t.Error("it told that all is well before it was left alone")
	}
	s.Write("42", "42", "", "ls") // so that the poll ends well
	chattest.Next(t, inbox.Messages)
	if err := chattest.Next(t, inbox.Connections); err != nil || !slices.Equal(s.Waits()[:4], []int{0, 50, 0, 50}) {
		t.Errorf("it told %v after waits of %v", err, s.Waits())
	}
}

func TestAWebhookThatIsLeftOverIsTakenBack(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	response, err := http.Get(s.URL() + "/bot" + s.Token + "/setWebhook?url=http://127.0.0.1:1/x")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	s.Write("42", "42", "", "ls")
	_, inbox := running(t, s)
	chattest.Next(t, inbox.Messages)
}

func TestATokenThatIsRenewedIsUsed(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	reads := 0
	b := made(t, s, func(c *Config) {
		token := c.Token
		c.Token = func() (bailiff.Secret, error) { reads++; return token() }
	})
	for range 2 {
		if _, err := b.Post(t.Context(), in(group), words("x"), ""); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 2 {
		t.Errorf("it was read %d times", reads)
	}
}

func TestATokenThatIsTakenAwayEndsTheRun(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Fail(func(string) telegramtest.Fault { return telegramtest.Fault{Code: 401} })
	inbox := newInbox()
	if err := made(t, s).Run(t.Context(), inbox); !refused(err) {
		t.Errorf("the run ended with %v", err)
	}
	if err := chattest.Next(t, inbox.Connections); !refused(err) {
		t.Errorf("it told %v", err)
	}
}

func TestABotWhoseCommandsAreNotTakenWorksAllTheSame(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Fail(failing("setMyCommands", telegramtest.Fault{Code: 429, After: 100}))
	_, inbox := running(t, s)
	s.Write("42", "42", "", "ls")
	chattest.Next(t, inbox.Messages)
}
