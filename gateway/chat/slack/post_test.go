package slack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
)

// onceAt is a fault of the nth call of a method.
func onceAt(method string, nth int64, f slacktest.Fault) func(string) slacktest.Fault {
	var calls atomic.Int64
	return func(m string) slacktest.Fault {
		if m == method && calls.Add(1) == nth {
			return f
		}
		return slacktest.Fault{}
	}
}

var channel = chat.Place{Chat: "C1"}

func TestAMessageWhosePostingEndedUncertainlyIsShownOnce(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]slacktest.Fault{
		"no answer, nothing done":        {Drop: true},
		"no answer, and done":            {Drop: true, Done: true},
		"500, nothing done":              {Status: 500},
		"502, and done":                  {Status: 502, Done: true},
		"no JSON, and done":              {Garbled: true, Done: true},
		"fatal_error, and done":          {Error: "fatal_error", Done: true},
		"internal_error, nothing done":   {Error: "internal_error"},
		"too many requests":              {Status: 429, RetryAfter: 1},
		"ratelimited, as Slack's answer": {Error: "ratelimited"},
	} {
		t.Run(name+" in a channel", func(t *testing.T) {
			s, server := app(t)
			wantOnce(t, s, server, channel, f)
		})
		t.Run(name+" in a thread", func(t *testing.T) {
			s, server := app(t)
			wantOnce(t, s, server, chat.Place{Chat: "C1", Thread: server.Write("U1", "C1", "", "run something")}, f)
		})
	}
}

// wantOnce posts what fails at first, then something else, and then the first again, twice.
func wantOnce(t *testing.T, s *slack.Slack, server *slacktest.Server, at chat.Place, f slacktest.Fault) {
	t.Helper()
	before := len(server.Messages("C1"))
	server.Fail(onceAt("chat.postMessage", 1, f))
	if _, err := s.Post(t.Context(), at, chat.Message{Text: plain("one")}, "k1"); err == nil {
		t.Fatal("it was posted at once")
	}
	if _, err := s.Post(t.Context(), at, chat.Message{Text: plain("two")}, "k2"); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Post(t.Context(), at, chat.Message{Text: plain("one")}, "k1")
	again, againErr := s.Post(t.Context(), at, chat.Message{Text: plain("one")}, "k1")
	if err != nil || againErr != nil || again != ref || ref.Place != at {
		t.Fatalf("it is %v, %v, then %v, %v", ref, err, again, againErr)
	}
	shown := server.Messages("C1")[before:]
	texts := map[string]string{}
	for _, m := range shown {
		texts[m.Text] = m.ID
	}
	if len(shown) != 2 || texts["one"] != ref.Message || texts["two"] == "" {
		t.Errorf("shown is %v, and it should be %v", shown, ref)
	}
}

func TestAMessageThatIsLookedForInVainManyTimesIsNotPostedMeanwhile(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	server.Fail(onceAt("chat.postMessage", 1, slacktest.Fault{Drop: true, Done: true}))
	_, _ = s.Post(t.Context(), channel, chat.Message{Text: plain("one")}, "k1")
	for _, f := range []slacktest.Fault{{Status: 503}, {Garbled: true}, {Drop: true}, {Status: 429, RetryAfter: 3},
		{Error: "fatal_error"}} {
		server.Fail(onceAt("conversations.history", 1, f))
		if _, err := s.Post(t.Context(), channel, chat.Message{Text: plain("one")}, "k1"); err == nil {
			t.Fatalf("with %+v it was posted", f)
		}
	}
	for range 250 { // so that it is on no first page
		server.Write("U1", "C1", "", "chatter")
	}
	ref, err := s.Post(t.Context(), channel, chat.Message{Text: plain("one")}, "k1")
	if first := server.Messages("C1")[0]; err != nil || ref.Message != first.ID || server.Calls("chat.postMessage") != 1 {
		t.Errorf("it is %v, %v, want %v; it was posted %d times", ref, err, first.ID, server.Calls("chat.postMessage"))
	}
}

func TestAMessageWithButtonsThatAnEarlierLifeLeftIsTheOne(t *testing.T) {
	t.Parallel()
	for name, scopes := range map[string][]string{"that sees its metadata": append(slices.Clone(slacktest.Scopes), "metadata.message:read"),
		"that does not": slacktest.Scopes} {
		t.Run(name, func(t *testing.T) { testEarlierLife(t, scopes) })
	}
}

func testEarlierLife(t *testing.T, scopes []string) {
	s, server := app(t)
	server.Allow(scopes...)
	asks := chat.Message{Text: plain("May it?"), Buttons: []chat.Button{{Label: "Yes", Token: "t"}}}
	first, err := s.Post(t.Context(), channel, asks, "k1")
	if err != nil {
		t.Fatal(err)
	}
	next, err := slack.New(slack.Config{BotToken: secret(slacktest.Token), AppToken: secret(slacktest.AppToken), URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k2", "k1", "k3"} {
		ref, err := next.Post(t.Context(), channel, asks, key)
		if err != nil || (ref == first) != (key == "k1") {
			t.Errorf("%s is %v, %v; k1 was %v", key, ref, err, first)
		}
	}
	if n := len(server.Messages("C1")); n != 3 || server.Calls("conversations.history") != 2 {
		t.Errorf("%d are shown, and two lives looked %d times", n, server.Calls("conversations.history"))
	}
}

func TestSomebodyElsesMetadataIsNoMessageOfOurs(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	server.Allow(append(slices.Clone(slacktest.Scopes), "metadata.message:read")...)
	server.Forge("U2", "C1", "k1")
	asks := chat.Message{Text: plain("May it?"), Buttons: []chat.Button{{Label: "Yes", Token: "t"}}}
	ref, err := s.Post(t.Context(), channel, asks, "k1")
	if shown := server.Messages("C1"); err != nil || len(shown) != 2 || ref.Message != shown[1].ID {
		t.Errorf("it is %v, %v, shown is %v", ref, err, shown)
	}
}

func TestAFileStandsOnceBelowItsMessage(t *testing.T) {
	t.Parallel()
	long := &chat.File{Name: "output.txt", Content: []byte(strings.Repeat("line & <b>\n", 1000))}
	for name, fail := range map[string]func(string) slacktest.Fault{
		"all is well":                      nil,
		"no place for it":                  onceAt("files.getUploadURLExternal", 1, slacktest.Fault{Status: 500}),
		"it is lost on the way":            onceAt("upload", 1, slacktest.Fault{Drop: true}),
		"the message is shown in silence":  onceAt("chat.postMessage", 1, slacktest.Fault{Drop: true, Done: true}),
		"it is not shown":                  onceAt("files.completeUploadExternal", 1, slacktest.Fault{Status: 503}),
		"it is shown in silence":           onceAt("files.completeUploadExternal", 1, slacktest.Fault{Drop: true, Done: true}),
		"too many requests for showing it": onceAt("files.completeUploadExternal", 1, slacktest.Fault{Status: 429, RetryAfter: 1}),
		"it is shown, and cannot be looked": twoFaults(onceAt("files.completeUploadExternal", 1,
			slacktest.Fault{Garbled: true, Done: true}), onceAt("conversations.replies", 1, slacktest.Fault{Status: 500})),
	} {
		t.Run(name, func(t *testing.T) {
			s, server := app(t)
			if fail != nil {
				server.Fail(fail)
			}
			var ref chat.Ref
			err := errors.New("not yet")
			for range 5 {
				if ref, err = s.Post(t.Context(), channel, chat.Message{Text: plain("long"), File: long}, "k1"); err == nil {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			shown := server.Messages("C1")
			if len(shown) != 2 || shown[0].ID != ref.Message || shown[1].Thread != ref.Message || len(shown[1].Files) != 1 ||
				shown[1].Files[0].Name != "output.txt" || shown[1].Files[0].Content != string(long.Content) {
				t.Fatalf("shown are %d messages: %.200v", len(shown), shown)
			}
			if err := s.Edit(t.Context(), ref, chat.Message{Text: plain("done")}); err != nil || len(server.Messages("C1")[1].Files) != 1 {
				t.Errorf("an edit came to %v and left %v", err, server.Messages("C1")[1].Files)
			}
		})
	}
}

func twoFaults(one, other func(string) slacktest.Fault) func(string) slacktest.Fault {
	return func(m string) slacktest.Fault {
		if f := one(m); f != (slacktest.Fault{}) {
			return f
		}
		return other(m)
	}
}

func TestAFileOfAMessageInAThreadIsInThatThread(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	root := server.Write("U1", "C1", "", "@bailiff make")
	at := chat.Place{Chat: "C1", Thread: root}
	if _, err := s.Post(t.Context(), at, chat.Message{File: &chat.File{Name: "out.txt", Content: []byte("x")}}, "k"); err != nil {
		t.Fatal(err)
	}
	if shown := server.Messages("C1"); len(shown) != 3 || shown[1].Thread != root || shown[2].Thread != root || len(shown[2].Files) != 1 {
		t.Errorf("shown is %v", shown)
	}
}

func TestAMessageOfAThreadThatIsNoMoreSaysWhereItIs(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	root := server.Write("U1", "C1", "", "@bailiff make")
	server.Delete("C1", root)
	ref, err := s.Post(t.Context(), chat.Place{Chat: "C1", Thread: root},
		chat.Message{Text: plain("done"), File: &chat.File{Name: "out.txt", Content: []byte("x")}}, "k")
	shown := server.Messages("C1")
	if err != nil || len(shown) != 2 || ref != (chat.Ref{Place: channel, Message: shown[0].ID}) || shown[1].Thread != ref.Message {
		t.Errorf("it is %v, %v, shown is %v", ref, err, shown)
	}
}

func TestNothingIsShownOfAMessageWhoseFileIsRefused(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	server.Allow("chat:write")
	_, err := s.Post(t.Context(), channel, chat.Message{Text: plain("x"), File: &chat.File{Name: "a", Content: []byte("b")}}, "k")
	var no *chat.Refused
	if !errors.As(err, &no) || !strings.Contains(no.Reason, "files:write") || len(server.Messages("C1")) > 0 {
		t.Errorf("it came to %v, shown is %v", err, server.Messages("C1"))
	}
}

// The counted one: what fails now and then is tried again by a loop as simple as can be.
func TestThreeHundredMessagesUnderFaultsAreShownOnceEach(t *testing.T) {
	t.Parallel()
	s, server := app(t)
	const messages, workers = 300, 8
	faults := server.FailNowAndThen(20, slacktest.Fault{Status: 429, RetryAfter: 1}, slacktest.Fault{Status: 503},
		slacktest.Fault{Drop: true, Done: true},
		slacktest.Fault{Drop: true}, slacktest.Fault{Garbled: true, Done: true}, slacktest.Fault{Status: 500, Done: true})
	var group sync.WaitGroup
	numbers := make(chan int)
	refs := make([]chat.Ref, messages)
	for range workers {
		group.Go(func() {
			for n := range numbers {
				refs[n] = insist(t, s, chat.Message{Text: plain(fmt.Sprint("message ", n))}, fmt.Sprint("key", n))
			}
		})
	}
	for n := range messages {
		numbers <- n
	}
	close(numbers)
	group.Wait()
	shown := map[string]string{}
	for _, m := range server.Messages("C1") {
		shown[m.Text] = m.ID
	}
	for n, ref := range refs {
		if ref.Message == "" || shown[fmt.Sprint("message ", n)] != ref.Message {
			t.Errorf("message %d is %v, shown is %q", n, ref, shown[fmt.Sprint("message ", n)])
		}
	}
	if all := len(server.Messages("C1")); all != messages || faults() < messages/40 {
		t.Errorf("%d messages are shown after %d faults", all, faults())
	}
	t.Logf("%d messages, %d faults, %d calls to post, %d looks", len(shown), faults(), server.Calls("chat.postMessage"),
		server.Calls("conversations.history"))
}

func insist(t *testing.T, s *slack.Slack, m chat.Message, key string) chat.Ref {
	for range 50 {
		ref, err := s.Post(t.Context(), channel, m, key)
		if err == nil {
			return ref
		}
	}
	t.Errorf("%s was never posted", key)
	return chat.Ref{}
}
