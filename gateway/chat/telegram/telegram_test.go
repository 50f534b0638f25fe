package telegram

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

const group = "-1001234567890"

func TestAnApprovalIsShownAnsweredAndEdited(t *testing.T) {
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, in1 := running(t, s)
	ref, err := b.Post(t.Context(), in(group), chat.Message{Text: question1, Buttons: buttons1}, "k1")
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Shown(group)
	if len(shown) != 1 || shown[0].Text != "ana asks to run git push in docker" || !slices.Equal(shown[0].Buttons, []string{"Approve once", "Deny", "Deny, and say why…"}) {
		t.Fatalf("shown is %+v", shown)
	}
	if want := []telegramtest.Entity{{Type: "code", Offset: 16, Length: 8}, {Type: "bold", Offset: 28, Length: 6}}; !slices.EqualFunc(shown[0].Entities, want, sameEntity) {
		t.Errorf("entities are %+v", shown[0].Entities)
	}

	s.Tap("42", group, ref.Message, "Approve once")
	tap := next(t, in1.taps)
	if tap.Token != "tokenapprove" || tap.By.ID != "42" || tap.On != ref || tap.Reason != "" {
		t.Errorf("the tap is %+v", tap)
	}
	s.Until(func() bool { return slices.Equal(s.Told("42"), []string{"done"}) })

	for range 2 { // the second says what is shown already
		if err := b.Edit(t.Context(), ref, words("approved by ana")); err != nil {
			t.Fatal(err)
		}
	}
	if shown = s.Shown(group); shown[0].Text != "approved by ana" || shown[0].Buttons != nil || shown[0].Edits != 1 {
		t.Errorf("shown is %+v", shown)
	}
}

func sameEntity(a, b telegramtest.Entity) bool {
	return a.Type == b.Type && a.Offset == b.Offset && a.Length == b.Length
}

func TestAButtonThatAsksHandsOnWhatIsAnswered(t *testing.T) {
	s := telegramtest.New(t)
	s.Group(group, "42", "43")
	b, in1 := running(t, s)
	ref, err := b.Post(t.Context(), in(group), chat.Message{Text: question1, Buttons: buttons1}, "k1")
	if err != nil {
		t.Fatal(err)
	}
	s.Tap("42", group, ref.Message, "Deny, and say why…")
	asked := s.Await(group, func(m []telegramtest.Message) bool { return len(m) == 2 })[1]
	if !asked.Asks || asked.Text != "✍ Person 42: Why is it denied? (Reply to this message.)" || len(asked.Entities) != 1 || asked.Entities[0].Type != "text_mention" {
		t.Errorf("asked is %+v", asked)
	}
	s.Reply("43", group, asked.ID, "no, I want it")
	s.Reply("42", group, asked.ID, " too risky ")
	tap := next(t, in1.taps)
	if tap.Token != "tokenwhy" || tap.By.ID != "42" || tap.On != ref || tap.Reason != "too risky" {
		t.Errorf("the tap is %+v", tap)
	}
	if len(in1.taps)+len(in1.said) > 0 {
		t.Error("somebody else's reply was handed on")
	}
}
