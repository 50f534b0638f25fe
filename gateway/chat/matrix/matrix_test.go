package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

func TestWhatIsPostedTwiceUnderOneKeyIsShownOnce(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		m := h.open(t, h.config())
		post := func(text, key string) chat.Ref {
			t.Helper()
			msg := say(text)
			msg.File = &chat.File{Name: "all.txt", Content: []byte("everything")}
			ref, err := m.Post(t.Context(), chat.Place{Chat: room}, msg, key)
			if err != nil {
				t.Fatal(err)
			}
			return ref
		}
		first, again, other := post("one", "k1"), post("one", "k1"), post("one", "k2")
		if first != again || first == other || first.Chat != room {
			t.Errorf("they are %v, %v and %v", first, again, other)
		}
		shown := ana.Messages(room)
		if len(shown) != 4 || shown[0].ID != first.Message || shown[1].On != first.Message || string(shown[1].File) != "everything" ||
			shown[2].ID != other.Message {
			t.Errorf("shown is %+v", shown)
		}
	})
}

func TestAMessageIsEditedInItsPlaceUntilItIsGone(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		m := h.open(t, h.config())
		ref, err := m.Post(t.Context(), chat.Place{Chat: room}, say("asked"), "k")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"answered", "answered", "asked", "answered"} {
			if err := m.Edit(t.Context(), ref, say(text)); err != nil {
				t.Fatal(err)
			}
			if shown := ana.Messages(room); len(shown) != 1 || shown[0].Text != text || shown[0].ID != ref.Message {
				t.Errorf("after it should say %s it is %+v", text, shown)
			}
		}
		h.bailiff.Redact(room, ref.Message)
		for _, id := range []string{ref.Message, "$there-is-none"} {
			if err := m.Edit(t.Context(), chat.Ref{Place: ref.Place, Message: id}, say("never")); !errors.Is(err, chat.ErrGone) {
				t.Errorf("an edit of what is not there is %v", err)
			}
		}
	})
}

func TestTheSignsAndWordsOfAMessageAreAnswersToIt(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		r, _ := h.start(t, h.config())
		ref, err := r.Post(t.Context(), chat.Place{Chat: room}, asks("May it?"), "k")
		if err != nil {
			t.Fatal(err)
		}
		shown := ana.Await(room, func(all []matrixtest.Message) bool { return len(all) == 1 && len(all[0].Signs) == 3 })
		if shown[0].Kind != "m.text" || slices.ContainsFunc(sorted(shown[0].Signs),
			func(sign string) bool { return !strings.Contains(shown[0].Text, sign) }) {
			t.Errorf("shown is %+v", shown)
		}
		for i, c := range []struct {
			act          func()
			word, reason string
		}{
			{func() { ana.React(room, ref.Message, "✅") }, "approve", ""},
			{func() { ana.React(room, ref.Message, "♾") }, "always", ""},
			{func() { ana.Reply(room, ref.Message, "deny because it is prod") }, "deny", "it is prod"},
			{func() { ana.Write(room, ref.Message, "Deny: not today") }, "deny", "not today"},
			{func() { ana.Reply(room, ref.Message, "> <"+h.bailiff.ID+"> May it?\n\nAlways!") }, "always", ""},
		} {
			c.act()
			click := r.answers(t, i+1)[i]
			if click.On != ref || click.By.ID != ana.ID || click.By.Name != "ana" || click.Token != "" || click.Word != c.word ||
				click.Reason != c.reason {
				t.Errorf("the answer is %+v, want %q for %q", click, c.word, c.reason)
			}
		}
	})
}

func TestOnlyWhatAnswersAMessageOfBailiffsOwnIsAnAnswer(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana, eve := h.person("ana"), h.person("eve")
		room, another := h.room("ops", ana, eve), h.room("other", eve)
		r, _ := h.start(t, h.config())
		ref, err := r.Post(t.Context(), chat.Place{Chat: room}, asks("May it?"), "k")
		if err != nil {
			t.Fatal(err)
		}
		plain, err := r.Post(t.Context(), chat.Place{Chat: room}, say("It is done."), "k2")
		if err != nil {
			t.Fatal(err)
		}
		forged := eve.Send(room, "m.room.message", map[string]any{"msgtype": "m.text", "body": "forged",
			"dev.bailiff.answers": []any{map[string]any{"word": "approve", "sign": "✅", "yes": true}}})
		eve.React(room, forged, "✅")
		eve.Reply(room, forged, "approve")
		eve.React(room, plain.Message, "✅")
		eve.React(room, ref.Message, "🍕")
		eve.Try("PUT", "client/v3/rooms/"+another+"/send/m.reaction/x",
			map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": ref.Message, "key": "✅"}}, nil)
		eve.Reply(room, ref.Message, "approve? Never!")
		eve.Reply(room, ref.Message, "what is this")
		eve.Write(room, "", "approve")
		r.Post(t.Context(), chat.Place{Chat: room}, say("approve"), "k3")
		ana.React(room, ref.Message, "❌")
		if clicks := r.answers(t, 1); len(clicks) != 1 || clicks[0].By.ID != ana.ID || clicks[0].Word != "deny" {
			t.Errorf("the answers are %+v", clicks)
		}
		if said := words(r.hears(t, 5)); !slices.Equal(said, []string{"forged", "approve", "approve? Never!", "what is this", "approve"}) {
			t.Errorf("said was %q", said)
		}
	})
}

func TestAnAnswerIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		c := h.config()
		first, stop := h.start(t, c)
		begun := ana.Write(room, "", "begin")
		ref, err := first.Post(t.Context(), chat.Place{Chat: room, Thread: begun}, asks("May it?"), "k")
		if err != nil {
			t.Fatal(err)
		}
		first.hears(t, 1)
		stop()
		ana.React(room, ref.Message, "✅")
		second, _ := h.start(t, c)
		if clicks := second.answers(t, 1); len(clicks) != 1 || clicks[0].On != ref || clicks[0].Word != "approve" {
			t.Errorf("the answers are %+v, want one to %v", clicks, ref)
		}
	})
}

func TestWhoAnswersIsToldAlone(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		r, _ := h.start(t, h.config())
		r.answer = chat.Text{{Text: "not yours, ask ben"}}
		ref, err := r.Post(t.Context(), chat.Place{Chat: room}, asks("May it?"), "k")
		if err != nil {
			t.Fatal(err)
		}
		ana.React(room, ref.Message, "✅")
		r.answers(t, 1)
		var alone string
		for alone == "" {
			for _, id := range ana.Invitations() {
				alone = id
			}
		}
		ana.Join(alone)
		ana.Reply(room, ref.Message, "deny")
		told := ana.Await(alone, func(all []matrixtest.Message) bool { return len(all) == 2 })
		if told[0].Text != "not yours, ask ben" || told[0].By != h.bailiff.ID {
			t.Errorf("told is %+v", told)
		}
		if mine := by(ana.Messages(room), h.bailiff.ID); len(mine) != 1 {
			t.Errorf("in the room everybody sees %+v", mine)
		}
	})
}

func TestWhoCannotBeToldAloneIsToldWhereTheyAre(t *testing.T) {
	t.Parallel()
	h := ours(t)
	ana := h.person("ana")
	room := h.room("ops", ana)
	r, _ := h.start(t, h.config())
	r.answer = chat.Text{{Text: "not yours, ask ben"}}
	ref, err := r.Post(t.Context(), chat.Place{Chat: room}, asks("May it?"), "k")
	if err != nil {
		t.Fatal(err)
	}
	h.faults.Fail(func(method string) matrixtest.Fault {
		if method == "createRoom" {
			return matrixtest.Forbidden
		}
		return matrixtest.Fine
	})
	ana.React(room, ref.Message, "✅")
	told := ana.Await(room, func(all []matrixtest.Message) bool { return len(all) == 2 })
	if told[1].Text != "not yours, ask ben" || told[1].On != ref.Message {
		t.Errorf("told is %+v", told)
	}
}

// Of 300 messages one in twenty requests fails: busy, broken, lost on its way or, worst,
// on its way back.
func TestThreeHundredMessagesAreShownOnceEachThoughRequestsFail(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		m := h.open(t, h.config())
		var n, failed atomic.Int64
		faults := []matrixtest.Fault{matrixtest.Busy, matrixtest.Broken, matrixtest.Dropped, matrixtest.Lost}
		h.faults.Fail(func(string) matrixtest.Fault {
			if i := n.Add(1); i%20 == 0 {
				failed.Add(1)
				return faults[i/20%int64(len(faults))]
			}
			return matrixtest.Fine
		})
		var want []string
		for i := range 300 {
			text := fmt.Sprintf("message %d", i)
			ref := insist(t, func(ctx context.Context) (chat.Ref, error) {
				return m.Post(ctx, chat.Place{Chat: room}, say(text), text)
			})
			if i%3 == 0 {
				insist(t, func(ctx context.Context) (any, error) { return nil, m.Edit(ctx, ref, say(text+", edited")) })
				text += ", edited"
			}
			want = append(want, text)
		}
		h.faults.Fail(nil)
		var shown []string
		for _, s := range ana.Messages(room) {
			shown = append(shown, s.Text)
		}
		if !slices.Equal(shown, want) || failed.Load() < 15 {
			t.Errorf("after %d faults %d messages are shown, want %d each once, in their order", failed.Load(), len(shown), len(want))
		}
	})
}
