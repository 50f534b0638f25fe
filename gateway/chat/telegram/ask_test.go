package telegram

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

const why = "Deny, and say why…"

// approval shows one in a chat.
func approval(t *testing.T, b *Telegram, at string) chat.Ref {
	t.Helper()
	ref, err := b.Post(t.Context(), in(at), chat.Message{Text: question1, Buttons: buttons1}, "k")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// asking is the question that is asked in a chat.
func asking(s *telegramtest.Server, at string) (asked telegramtest.Message) {
	s.Await(at, func(all []telegramtest.Message) bool {
		for _, m := range all {
			if m.Asks {
				asked = m
			}
		}
		return asked.ID != ""
	})
	return asked
}

func TestAButtonThatAsksHandsOnWhatIsAnswered(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42", "43")
	b, inbox := running(t, s)
	ref := approval(t, b, group)
	s.Click("42", group, ref.Message, why)
	asked := asking(s, group)
	if asked.Text != "✍ Person 42: Why is it denied? (Reply to this message.)" || len(asked.Entities) != 1 ||
		asked.Entities[0].Type != "text_mention" || asked.AsksAll {
		t.Errorf("asked is %+v", asked)
	}
	s.Reply("43", group, asked.ID, "no, I want it")
	s.Reply("42", group, asked.ID, " too risky ")
	if click := chattest.Next(t, inbox.Clicks); click.Token != "tokenwhy" || click.By.ID != "42" || click.On != ref ||
		click.Reason != "too risky" {
		t.Errorf("the click is %+v", click)
	}
	s.Await(group, func(m []telegramtest.Message) bool { return m[len(m)-1].Text == "done" }) // who never wrote to the bot alone
	if len(inbox.Clicks)+len(inbox.Messages) > 0 || len(s.Told("42")) > 0 {
		t.Errorf("handed on is more: %d %d; told is %q", len(inbox.Clicks), len(inbox.Messages), s.Told("42"))
	}

	s.Reply("42", group, asked.ID, "far too risky")
	s.Await(group, func(m []telegramtest.Message) bool {
		return strings.Contains(m[len(m)-1].Text, "Click the button again")
	})
	if len(inbox.Clicks)+len(inbox.Messages) > 0 {
		t.Error("a second answer was handed on")
	}
}

func TestWhatAReasonCameToIsToldAlone(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	s.Write("42", "42", "", "hello")
	chattest.Next(t, inbox.Messages)
	ref := approval(t, b, group)
	s.Click("42", group, ref.Message, why)
	asked := asking(s, group)
	s.Reply("42", group, asked.ID, "no")
	chattest.Next(t, inbox.Clicks)
	s.Await("42", func(m []telegramtest.Message) bool { return len(m) == 1 && m[0].Text == "done" })
	if shown := s.Messages(group); len(shown) != 2 {
		t.Errorf("shown in the group is %+v", shown)
	}
}

func TestAQuestionThatIsForgottenIsSaidToBe(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	ref := approval(t, b, group)
	s.Click("42", group, ref.Message, why)
	asked := asking(s, group)
	s.Until(func() bool { return s.Calls("answerCallbackQuery") == 1 })
	key := group + " " + asked.ID
	q, known := b.questions.Get(key)
	if !known {
		t.Fatal("the question is not known")
	}
	q.until = time.Now().Add(-time.Second)
	b.questions.Put(key, q)
	s.Reply("42", group, asked.ID, "no")
	s.Await(group, func(m []telegramtest.Message) bool {
		return len(m) == 3 && strings.Contains(m[2].Text, "nothing was changed. Click the button again")
	})
	if len(inbox.Clicks) > 0 {
		t.Error("it was handed on")
	}
}

func TestABotThatStartedAgainStillAsks(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Write("42", "42", "", "/start")
	ref := approval(t, made(t, s), "42")
	_, inbox := running(t, s)
	chattest.Next(t, inbox.Messages)
	s.Click("42", "42", ref.Message, why)
	asked := asking(s, "42")
	if asked.Text != "✍ "+why+" (Reply to this message.)" || len(asked.Entities) > 0 {
		t.Errorf("asked is %+v", asked)
	}
	s.Reply("42", "42", asked.ID, "no")
	if click := chattest.Next(t, inbox.Clicks); click.Token != "tokenwhy" || click.Reason != "no" || click.On != ref {
		t.Errorf("the click is %+v", click)
	}
}

func TestAQuestionThatCannotBeAskedChangesNothing(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	ref := approval(t, b, group)
	s.Fail(failing("sendMessage", telegramtest.Fault{Code: 429, After: 3}))
	s.Click("42", group, ref.Message, why)
	s.Until(func() bool { return len(s.Told("42")) == 1 })
	if told := s.Told("42"); !strings.Contains(told[0], "Click again") || len(inbox.Clicks) > 0 {
		t.Errorf("told is %q", told)
	}
}

func TestWhatIsTooLongToBeToldAtOnceIsToldInPrivate(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42", "43")
	b, inbox := running(t, s)
	long := strings.Repeat("😀", 150)
	inbox.Answer = func(chat.Click) chat.Text { return chat.Text{{Text: long}} }
	s.Write("42", "42", "", "hello")
	chattest.Next(t, inbox.Messages)
	ref := approval(t, b, group)
	s.Click("43", group, ref.Message, "Deny")
	s.Click("42", group, ref.Message, "Deny")
	s.Until(func() bool { return len(s.Told("42")) == 1 && len(s.Told("43")) == 1 })
	if short := s.Told("43")[0]; short != strings.Repeat("😀", 99)+"…" {
		t.Errorf("told is %q", short)
	}
	s.Await("42", func(m []telegramtest.Message) bool { return len(m) == 1 && m[0].Text == long })
	if len(s.Messages(group)) != 1 {
		t.Errorf("in the group is shown %+v", s.Messages(group))
	}
}

func TestAClickIsHandedOnAsOftenAsItComes(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	ref := approval(t, b, group)
	s.Again()
	s.Click("42", group, ref.Message, "Deny")
	if first, second := chattest.Next(t, inbox.Clicks), chattest.Next(t, inbox.Clicks); first != second {
		t.Errorf("it is %+v, and then %+v", first, second)
	}
	s.Press("42", group, ref.Message, "forged")
	if click := chattest.Next(t, inbox.Clicks); click.Token != "forged" {
		t.Errorf("the click is %+v", click)
	}
	if !slices.Equal(s.Messages(group)[0].Buttons, []string{"Approve once", "Deny", why}) {
		t.Errorf("shown is %+v", s.Messages(group))
	}
}
