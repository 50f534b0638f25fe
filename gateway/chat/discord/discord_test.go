package discord

import (
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

func TestAQuestionIsAskedAnsweredAndEdited(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.answer = func(click chat.Click) chat.Text { return plain("Noted: *" + click.Token + "*") }
	b.connect(t)
	ref := b.post(t, here, mayIt, "key")
	shown := b.server.Shown(here.Chat)
	want := []discordtest.Message{{ID: ref.Message, Text: "May it?", Source: "May it?", Buttons: []string{"Approve", "Deny"}}}
	if !reflect.DeepEqual(shown, want) {
		t.Fatalf("shown is %+v", shown)
	}
	if told := b.server.Click(ana, here.Chat, ref.Message, "Approve"); told != "Noted: *yes1*" {
		t.Errorf("told %q", told)
	}
	if told := b.server.Click(bob, here.Chat, ref.Message, "Deny", "it is\tFriday "); told != "Noted: *no1*" {
		t.Errorf("told %q", told)
	}
	if title, label := b.server.Form(bob); title != "Why not?" || label != "Why not?" {
		t.Errorf("asked %q, %q", title, label)
	}
	clicks := []chat.Click{
		{By: chat.Person{ID: ana, Name: "user42"}, On: ref, Token: "yes1"},
		{By: chat.Person{ID: bob, Name: "user43"}, On: ref, Token: "no1", Reason: "it is Friday"},
	}
	if !reflect.DeepEqual(b.clicks, clicks) {
		t.Errorf("told of %+v", b.clicks)
	}
	for range 2 {
		if err := b.Edit(t.Context(), ref, chat.Message{Text: plain("Denied by bob.")}); err != nil {
			t.Fatal(err)
		}
	}
	shown = b.server.Shown(here.Chat)
	if len(shown) != 1 || shown[0].Text != "Denied by bob." || len(shown[0].Buttons) != 0 {
		t.Errorf("shown is %+v", shown)
	}
}
