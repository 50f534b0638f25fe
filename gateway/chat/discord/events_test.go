package discord

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

func TestWhatIsWrittenIsToldWithWhereItIs(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	s := b.server
	dm, other := s.DM(bob), s.AddChannel()
	told := []chat.Said{}
	write := func(who, in, thread, text, kind, want string, mentioned bool) {
		id := s.Write(who, in, thread, text)
		told = append(told, chat.Said{
			Ref: chat.Ref{Place: chat.Place{Chat: in, Thread: thread}, Message: id}, Kind: kind,
			By:   chat.Person{ID: who, Name: "user" + who},
			Text: want, Mentioned: mentioned,
		})
	}
	write(ana, here.Chat, "", "good morning", "channel", "good morning", false)
	write(ana, other, "", discordtest.MentionBot+" ls -l \"a  b\" | grep 'é' > <x>", "channel", "ls -l \"a  b\" | grep 'é' > <x>", true)
	write(ana, other, "", discordtest.MentionRole+"\n```sh\necho hi\n```", "channel", "```sh\necho hi\n```", true)
	write(ana, other, "", "please <@!"+discordtest.Bot+"> id", "channel", "please  id", true)
	write(ana, other, "", discordtest.MentionBot+" echo "+discordtest.MentionBot+" <@43> &amp; *x*", "channel",
		"echo "+discordtest.MentionBot+" <@43> &amp; *x*", true)
	write(bob, dm, "", "whoami", "dm", "whoami", false)
	thread := s.OpenThread(other, told[1].Message, "ls")
	write(bob, other, thread, "pwd", "thread", "pwd", false)
	s.Tell("THREAD_DELETE", map[string]any{"id": thread}) // now nobody knows what it is
	s.Tell("THREAD_UPDATE", map[string]any{"id": thread, "type": 11})
	write(bob, other, thread, "cd /", "thread", "cd /", false)
	write(bob, other, thread, "ls", "thread", "ls", false)
	b.await(t, func() bool { return len(b.said) >= len(told) })
	if !reflect.DeepEqual(b.said, told) {
		for i := range b.said {
			if !reflect.DeepEqual(b.said[i], told[i]) {
				t.Errorf("told of %+v\nwant    %+v", b.said[i], told[i])
			}
		}
	}
}

func TestOnlyWhatAPersonWritesIsTold(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	said := func(change map[string]any) map[string]any {
		m := map[string]any{
			"id": "1", "channel_id": here.Chat, "guild_id": discordtest.Guild, "content": "x", "type": 0,
			"author": map[string]any{"id": ana, "username": "ana"},
		}
		for k, v := range change {
			m[k] = v
		}
		return m
	}
	b.post(t, here, mayIt, "own")
	for event, changes := range map[string][]map[string]any{
		"MESSAGE_CREATE": {
			{"author": map[string]any{"id": "9", "bot": true}},
			{"author": map[string]any{"id": "9", "system": true}},
			{"webhook_id": "9"},
			{"type": 7},  // a member joined
			{"type": 18}, // a thread was made
			{"type": 20}, // a command's answer
			{"content": "", "attachments": []any{map[string]any{"id": "5", "filename": "run.sh"}}},
		},
		"MESSAGE_UPDATE":       {{"content": "edited"}},
		"MESSAGE_REACTION_ADD": {{}},
	} {
		for _, change := range changes {
			b.server.Tell(event, said(change))
		}
	}
	b.server.Tell("MESSAGE_CREATE", said(map[string]any{"content": "a reply", "type": 19}))
	if told := b.heard(t, 1); len(told) != 1 || told[0] != "a reply" {
		t.Errorf("told of %q", told)
	}
}

func TestAReplyThatOnlyPingsTheBotDoesNotNameIt(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	b.server.Tell("MESSAGE_CREATE", map[string]any{
		"id": "1", "channel_id": here.Chat, "guild_id": discordtest.Guild, "content": "why?", "type": 19,
		"author": map[string]any{"id": ana}, "mentions": []any{map[string]any{"id": discordtest.Bot}},
	})
	b.server.Tell("MESSAGE_CREATE", map[string]any{
		"id": "2", "channel_id": here.Chat, "guild_id": discordtest.Guild, "content": "`" + discordtest.MentionBot + "`", "type": 0,
		"author": map[string]any{"id": ana}, "mentions": []any{}, // within code Discord makes no mention of it
	})
	b.heard(t, 2)
	for _, s := range b.said {
		if s.Mentioned {
			t.Errorf("%q names the bot", s.Text)
		}
	}
}

func TestWhatIsToldTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	b.server.Write(ana, here.Chat, "", "once")
	b.server.Repeat("MESSAGE_CREATE")
	b.heard(t, 2)
	if b.said[0].Ref != b.said[1].Ref {
		t.Errorf("told of %+v", b.said)
	}
}

func TestWhatDiscordAddsElsewhereCostsNoMessage(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	odd := []any{map[string]any{"type": 99, "components": "none"}}
	b.server.Tell("MESSAGE_CREATE", map[string]any{
		"id": "1", "channel_id": here.Chat, "guild_id": discordtest.Guild, "content": "ls", "type": 19,
		"author":     map[string]any{"id": ana, "flags": "new"},
		"components": odd, "referenced_message": map[string]any{"components": odd}, "attachments": "none", "poll": 1, "timestamp": "once",
	})
	if said := b.heard(t, 1); said[0] != "ls" {
		t.Errorf("told of %q", said)
	}
}

// A thread that passed for its channel would share the channel's session.
func TestWhatIsInAPlaceThatDiscordDoesNotNameIsNotTold(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	s := b.server
	thread := s.OpenThread(here.Chat, s.Write(ana, here.Chat, "", "start"), "start")
	s.Tell("THREAD_DELETE", map[string]any{"id": thread})
	asked := make(chan struct{}, 100)
	s.Fail(func(method string) (f discordtest.Fault) {
		if method == "GET /channels/{channel}" {
			asked <- struct{}{}
			f.Status = 500
		}
		return f
	})
	s.Write(ana, here.Chat, thread, "lost")
	for range tries {
		<-asked
	}
	s.Fail(nil)
	s.Write(ana, here.Chat, "", "told")
	b.await(t, func() bool { return len(b.said) >= 2 })
	for _, said := range b.said {
		if said.Text == "lost" {
			t.Errorf("told of %+v", said)
		}
	}
}

func TestAPanicOfWhoIsToldEndsNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.whisper = func(_ context.Context, s chat.Said) {
		if s.Text == "bad" || s.Text == "/stop" {
			panic(s.Text)
		}
	}
	b.answer = func(chat.Click) chat.Text { panic("a click") }
	b.replyAfter = time.Millisecond
	b.connect(t)
	s := b.server
	ref := b.post(t, here, mayIt, "key")
	s.Write(ana, here.Chat, "", "bad")
	s.Command(ana, here.Chat, "", "stop")
	s.Forge(ana, here.Chat, ref.Message, "x")
	thread := s.OpenThread(here.Chat, s.Write(ana, here.Chat, "", "start"), "start")
	s.Tell("THREAD_DELETE", map[string]any{"id": thread})
	s.Write(ana, here.Chat, thread, "bad")
	b.heard(t, 4)
	s.Write(ana, here.Chat, thread, "good")
	s.Write(ana, here.Chat, "", "good")
	b.heard(t, 6)
}
