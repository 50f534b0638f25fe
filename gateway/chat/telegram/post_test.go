package telegram

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

func TestAPostWhoseAnswerCameIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	b := made(t, s)
	first, err := b.Post(t.Context(), in(group), words("one"), "k")
	again, err2 := b.Post(t.Context(), in(group), words("one"), "k")
	other, err3 := b.Post(t.Context(), in(group), words("one"), "l")
	if err != nil || err2 != nil || err3 != nil || first != again || first == other || len(s.Messages(group)) != 2 {
		t.Errorf("they are %v, %v and %v; %v %v %v", first, again, other, err, err2, err3)
	}
	for range 2 { // what has no key is told each time
		if _, err := b.Post(t.Context(), in(group), words("one"), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Messages(group)); n != 4 {
		t.Errorf("%d are shown", n)
	}
}

func TestAnAnswerThatTheLibraryCannotReadCounts(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"ok": true, "result": {"message_id": 7, "chat": "of a kind that is newer than the library"}}`)
	}))
	defer s.Close()
	b := made(t, telegramtest.New(t), func(c *Config) { c.URL = s.URL })
	if ref, err := b.Post(t.Context(), in(group), words("one"), "k"); err != nil || ref.Message != "7" {
		t.Errorf("it came to %v, %v", ref, err)
	}
}

func TestAFileIsThereBeforeTheButtonsAre(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	b := made(t, s)
	m := chat.Message{Text: question1, Buttons: buttons1, File: &chat.File{Name: "command.txt", Content: []byte("git push\n")}}
	s.Fail(failing("sendMessage", telegramtest.Fault{Code: 502}))
	if _, err := b.Post(t.Context(), in(group), m, "k"); !mayPass(err) {
		t.Fatalf("it came to %v", err)
	}
	s.Fail(nil)
	ref, err := b.Post(t.Context(), in(group), m, "k")
	if err != nil {
		t.Fatal(err)
	}
	shown := s.Messages(group)
	if len(shown) != 2 || shown[0].File != "command.txt" || string(shown[0].Content) != "git push\n" || shown[1].ReplyTo != shown[0].ID ||
		shown[1].ID != ref.Message {
		t.Errorf("shown is %+v", shown)
	}
	s.Fail(failing("sendDocument", telegramtest.Fault{Code: 502}))
	if _, err := b.Post(t.Context(), in(group), m, "other"); !mayPass(err) || len(s.Messages(group)) != 2 {
		t.Errorf("without its file a message is shown: %v", err)
	}
}

func TestThreeHundredPostsAreShownOnceEach(t *testing.T) {
	t.Parallel()
	const posts, each = 300, 20
	s := telegramtest.New(t)
	s.Group(group)
	calls, faults := 0, []telegramtest.Fault{{Code: 429, After: 1}, {Code: 502}, {Code: 500, HTML: true}, {Drop: true}}
	s.Fail(func(string) telegramtest.Fault {
		if calls++; calls%each == 0 {
			return faults[calls/each%len(faults)]
		}
		return telegramtest.Fault{}
	})
	b := made(t, s)
	refs := map[chat.Ref]int{}
	for i := range posts {
		refs[posted(t, b, fmt.Sprintf("post %d", i))] = i
	}
	if len(refs) != posts || len(s.Messages(group)) != posts || calls <= posts {
		t.Fatalf("%d messages are known and %d shown, after %d calls", len(refs), len(s.Messages(group)), calls)
	}
	for _, m := range s.Messages(group) {
		if i := refs[chat.Ref{Place: in(group), Message: m.ID}]; m.Text != fmt.Sprintf("post %d", i) {
			t.Errorf("message %s says %q", m.ID, m.Text)
		}
	}
}

// posted shows a message, however often that must be tried.
func posted(t *testing.T, b *Telegram, text string) chat.Ref {
	t.Helper()
	for range 10 {
		if ref, err := b.Post(t.Context(), in(group), words(text), text); err == nil {
			return ref
		}
	}
	t.Fatalf("%q was not shown after ten tries", text)
	return chat.Ref{}
}

func TestAnAnswerThatIsLostShowsAMessageAtMostOnceMore(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	lost := false
	s.Fail(func(string) telegramtest.Fault {
		if lost {
			return telegramtest.Fault{}
		}
		lost = true
		return telegramtest.Fault{Drop: true, Late: true}
	})
	b := made(t, s)
	ref := posted(t, b, "one")
	if shown := s.Messages(group); len(shown) != 2 || shown[1].ID != ref.Message {
		t.Errorf("shown is %+v, known %v", shown, ref)
	}
	if err := b.Edit(t.Context(), ref, words("done")); err != nil || len(s.Messages(group)) != 2 {
		t.Errorf("editing came to %v", err)
	}
}

func TestAMessageGoesOnWhereItIs(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group, "42")
	b, inbox := running(t, s)
	s.Write("42", group, "7", "@bailiff_test_bot ls")
	said := chattest.Next(t, inbox.Messages)
	if said.Kind != "thread" || said.Thread != "7" || said.Text != "ls" || !said.Mentioned {
		t.Errorf("said is %+v", said)
	}
	at, err := b.Thread(t.Context(), said.Ref, "ls")
	if err != nil || at != said.Place {
		t.Fatalf("it goes on at %v, %v", at, err)
	}
	if _, err := b.Post(t.Context(), at, words("done"), "k"); err != nil {
		t.Fatal(err)
	}
	if shown := s.Messages(group); len(shown) != 1 || shown[0].Thread != "7" {
		t.Errorf("shown is %+v", shown)
	}
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	s.Group(group)
	b := made(t, s)
	for name, text := range map[string]chat.Text{
		"a block":              {{Text: "see:"}, {Style: chat.Block, Text: strings.Repeat("x\n", 4000)}},
		"of two units each":    {{Style: chat.Code, Text: strings.Repeat("😀", 2048)}, {Text: "y"}},
		"words":                {{Text: strings.Repeat("word ", 1000)}},
		"what must be kept up": {{Text: strings.Repeat("@a ", 2000)}},
		"nothing to see":       {{Text: " \n"}, {Style: chat.Block, Text: "\n"}},
		"nothing":              nil,
	} {
		if _, err := b.Post(t.Context(), in(group), chat.Message{Text: text}, ""); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if shown := s.Messages(group); !strings.HasSuffix(shown[len(shown)-1].Text, "…") {
			t.Errorf("%s: shown is %q", name, shown[len(shown)-1].Text)
		}
	}
}
