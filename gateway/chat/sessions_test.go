package chat

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

var (
	dm      = Place{Chat: "D1"}
	channel = Place{Chat: "C1"}
	thread  = Place{Chat: "C1", Thread: "t7"}
)

func TestADirectMessageIsACommandOfItsSession(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.direct(`echo "a" 'b' “c”`)
	k.shows(dm, "```ran echo \"a\" 'b' “c”```")
	want := bailiff.Request{ID: "slack:D1:m1", Tool: bailiff.Terminal, Args: bailiff.Args{Command: `echo "a" 'b' “c”`},
		Session: bailiff.Session{ID: "slack:dm:D1", Platform: "slack", ChatType: "dm", ChatID: "D1", UserID: "U1", UserName: "Ana"},
		Env:     []string{"TOKEN"}, WaitSeconds: approvalWaitSeconds, Caller: "chat", Peer: "slack:U1"}
	if got := k.sidecar.requests(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("it asked for %+v, want %+v", got, want)
	}
	k.settles()
}

func TestWhichMessagesAreCommandsAndOfWhichSession(t *testing.T) {
	t.Parallel()
	const none = ""
	open := func(c *SessionsConfig) { c.RequireMention = false }
	free := func(c *SessionsConfig) { c.FreeResponse = []string{"C1"} }
	flat := func(c *SessionsConfig) { c.Threads = false }
	for _, test := range []struct {
		name    string
		config  func(*SessionsConfig)
		kind    string
		at      Place
		named   bool
		session string
		answer  Place
	}{
		{"a direct message", nil, "dm", dm, false, "slack:dm:D1", dm},
		{"one that names bailiff", nil, "dm", dm, true, "slack:dm:D1", dm},
		{"a thread of direct messages", nil, "dm", Place{"D1", "t1"}, false, "slack:dm:D1", Place{"D1", "t1"}},
		{"one in a channel", nil, "channel", channel, false, none, channel},
		{"one in a channel that names bailiff", nil, "channel", channel, true, "slack:thread:C1:tm1", Place{"C1", "tm1"}},
		{"one in a group that names bailiff", nil, "group", channel, true, "slack:thread:C1:tm1", Place{"C1", "tm1"}},
		{"one in a channel where no thread is made", flat, "channel", channel, true, "slack:channel:C1:U1", channel},
		{"one in a free channel", free, "channel", channel, false, "slack:channel:C1:U1", channel},
		{"one in another channel than the free one", free, "channel", Place{Chat: "C2"}, false, none, Place{Chat: "C2"}},
		{"one in a channel where no mention is required", open, "group", channel, false, "slack:group:C1:U1", channel},
		{"one in a thread", nil, "thread", thread, false, none, thread},
		{"one in a thread of a free channel", free, "thread", thread, false, none, thread},
		{"one in a thread where no mention is required", open, "thread", thread, false, none, thread},
		{"one in a thread that names bailiff", nil, "thread", thread, true, "slack:thread:C1:t7", thread},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newSessionsTest(t, &fakeSidecar{}, test.config)
			k.says(ana, test.kind, test.at, "id", test.named)
			k.settles()
			var got string
			for _, req := range k.sidecar.requests() {
				got += req.Session.ID
			}
			if shown := k.surface.at(test.answer); got != test.session || len(shown) != len(k.sidecar.requests()) {
				t.Errorf("its session is %q, want %q; at %v is shown %q", got, test.session, test.answer, shown)
			}
		})
	}
}

func TestAThreadIsASessionWhoeverWritesAndNeedsNoMentionAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	with := func(c *SessionsConfig) { c.Store = openStore(t, folder) }
	k := newSessionsTest(t, &fakeSidecar{}, with)
	k.says(ana, "channel", channel, "one", true)
	begun := Place{"C1", "tm1"}
	k.shows(begun, "```ran one```")
	k.says(ben, "thread", begun, "two", false)
	k.says(ben, "thread", thread, "not for bailiff", false)
	k.shows(begun, "```ran one```", "```ran two```")
	k.Close()

	again := newSessionsTest(t, &fakeSidecar{}, with) // after a restart
	again.n = 10
	again.says(ben, "thread", begun, "three", false)
	again.shows(begun, "```ran three```")
	for i, req := range append(k.sidecar.requests(), again.sidecar.requests()...) {
		want := bailiff.Session{ID: "slack:thread:C1:tm1", Platform: "slack", ChatType: "thread", ChatID: "C1", ThreadID: "tm1",
			UserID: []string{"U1", "U2", "U2"}[i], UserName: []string{"Ana", "Ben", "Ben"}[i]}
		if req.Session != want {
			t.Errorf("command %d is of %+v, want %+v", i, req.Session, want)
		}
	}
}

func TestSessionsOfDifferentPlacesNeverHaveOneName(t *testing.T) {
	t.Parallel()
	s := &Sessions{config: SessionsConfig{Platform: "matrix"}}
	seen := map[string]string{}
	for _, kind := range []string{"dm", "thread", "channel", "group"} {
		for _, at := range []Place{{"a", "b:c"}, {"a:b", "c"}, {"a%3Ab", "c"}, {"a", ""}, {"a:b", ""}} {
			for _, by := range []string{"u", "b:c"} {
				id, where := s.idOf(kind, at, Person{ID: by}), ""
				switch {
				case kind == "dm":
					where = fmt.Sprintln(kind, at.Chat)
				case kind == "thread" && at.Thread != "":
					where = fmt.Sprintln(kind, at.Chat, at.Thread)
				case kind == "thread":
					where = fmt.Sprintln("channel", at.Chat, by)
				default:
					where = fmt.Sprintln(kind, at.Chat, by)
				}
				if before, known := seen[id]; known && before != where {
					t.Errorf("%s is of %q and of %q", id, before, where)
				}
				seen[id] = where
			}
		}
	}
}

func TestOfWhoMayNotNothingRuns(t *testing.T) {
	t.Parallel()
	whispered := func(heard *[]string) func(context.Context, Text) error {
		return func(_ context.Context, text Text) error { *heard = append(*heard, flat(text)); return nil }
	}
	const told = "You may not give commands here. Who may is in allowed_users of bailiff's configuration; you are U9."
	for _, test := range []struct {
		name, kind string
		at         Place
		named      bool
		whisper    bool
		chosen     bool
		heard      []string
		shown      []string
	}{
		{"in a direct message they are told once", "dm", dm, false, false, false, nil, []string{told}},
		{"elsewhere they are told once where nobody else hears it", "channel", channel, true, true, false, []string{told}, nil},
		{"who chose a command is told each time", "channel", channel, true, true, true, []string{told, told}, nil},
		{"in front of others they are not told", "channel", channel, true, false, false, nil, nil},
		{"in a thread of somebody else's session neither", "thread", thread, false, true, false, nil, nil},
		{"nor in a free channel", "channel", Place{Chat: "C3"}, false, true, false, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.FreeResponse = []string{"C3"} })
			k.says(ana, "thread", thread, "true", true) // bailiff takes part in it
			k.settles()
			var heard []string
			for i := range 2 {
				said := Said{Ref: Ref{test.at, fmt.Sprint("s", i)}, Kind: test.kind, By: stranger, Text: "id", Mentioned: test.named,
					SlashCommand: test.chosen}
				if test.whisper {
					said.Ephemeral = whispered(&heard)
				}
				k.Said(t.Context(), said)
				k.settles()
			}
			shown := slices.DeleteFunc(k.surface.at(test.at), func(text string) bool { return text == "```ran true```" })
			if !slices.Equal(heard, test.heard) || !slices.Equal(shown, test.shown) || len(k.sidecar.requests()) != 1 {
				t.Errorf("they heard %q, was shown %q, ran %+v", heard, shown, k.sidecar.requests())
			}
		})
	}
}

func TestNobodyMayUnlessNamedAndEverybodyByAStar(t *testing.T) {
	t.Parallel()
	for users, want := range map[string]int{"": 0, "U2": 0, "Ana": 0, "U9": 1, "*": 1} {
		k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.AllowedUsers = only(strings.Fields(users)...) })
		k.says(stranger, "dm", dm, "id", true)
		k.says(Person{Name: "Ana"}, "dm", Place{Chat: "D2"}, "id", true)
		k.settles()
		if got := len(k.sidecar.requests()); got != want {
			t.Errorf("with %q as allowed users %d commands ran, want %d", users, got, want)
		}
	}
}

func TestAMessageRunsOnceHoweverOftenItComes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	with := func(c *SessionsConfig) { c.Store = openStore(t, folder) }
	k := newSessionsTest(t, &fakeSidecar{}, with)
	said := Said{Ref: Ref{dm, "m1"}, Kind: "dm", By: ana, Text: "once"}
	var delivering sync.WaitGroup
	for range 20 {
		delivering.Go(func() { k.Said(t.Context(), said) })
	}
	delivering.Wait()
	k.settles()
	k.Close()
	again := newSessionsTest(t, k.sidecar, with) // after a restart
	again.n = 1
	again.Said(t.Context(), said)
	again.direct("another")
	again.settles()
	if got := k.sidecar.requests(); len(got) != 2 || got[0].Args.Command != "once" || got[1].Args.Command != "another" {
		t.Errorf("ran %+v", got)
	}
}

func TestWhatCannotBeRememberedDoesNotRun(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.config.Store.seen.path = filepath.Join(t.TempDir(), "missing", "seen")
	if err := k.config.Store.seen.close(); err != nil {
		t.Fatal(err)
	}
	k.direct("id")
	k.shows(dm, "Nothing runs: bailiff cannot remember messages at the moment, and could run one twice. Its log says why.")
	if got := k.sidecar.requests(); len(got) != 0 {
		t.Errorf("ran %+v", got)
	}
}
