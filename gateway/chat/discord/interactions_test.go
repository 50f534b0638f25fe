package discord

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestWhoeverClicksIsToldAloneHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.replyAfter = 10 * time.Millisecond })
	slow := make(chan struct{})
	b.answer = func(chat.Click) chat.Text {
		<-slow
		return plain("You <@42> **did**")
	}
	b.connect(t)
	ref := b.post(t, here, mayIt, "key")
	if told := b.server.Click(ana, here.Chat, ref.Message, "Approve"); told != "" {
		t.Errorf("told %q before there was an answer", told)
	}
	close(slow)
	b.server.AwaitTold(ana, func(told []string) bool { return slices.Equal(told, []string{"You <@42> **did**"}) })
	if shown := b.server.Shown(here.Chat); len(shown) != 1 {
		t.Errorf("everybody is shown %+v", shown)
	}
}

func TestAClickThatNothingIsSaidToIsAcknowledged(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	ref := b.post(t, chat.Place{Chat: b.server.DM(bob)}, mayIt, "key")
	if told := b.server.Click(bob, ref.Chat, ref.Message, "Approve"); told != "" {
		t.Errorf("told %q", told)
	}
	if want := (chat.Click{By: chat.Person{ID: bob, Name: "user43"}, On: ref, Token: "yes1"}); b.clicks[0] != want {
		t.Errorf("told of %+v", b.clicks[0])
	}
}

func TestAClickInAThreadNamesItsChannel(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	from := b.server.Write(ana, here.Chat, "", "x")
	at, err := b.Thread(t.Context(), chat.Ref{Place: here, Message: from}, "x")
	if err != nil {
		t.Fatal(err)
	}
	ref := b.post(t, at, mayIt, "key")
	b.server.Click(ana, at.Thread, ref.Message, "Approve")
	if b.clicks[0].On != ref || ref.Chat != here.Chat || ref.Thread != from {
		t.Errorf("told of %+v, want %+v", b.clicks[0], ref)
	}
}

func TestAForgedButtonIsHandedOnAsItIs(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	b.answer = func(click chat.Click) chat.Text { return plain("Unknown: " + click.Token) }
	ref := b.post(t, here, mayIt, "key")
	if told := b.server.Forge(bob, here.Chat, ref.Message, "forged`x`"); told != "Unknown: forged`x`" {
		t.Errorf("told %q", told)
	}
}

func TestAnAnswerWhoseWayBreaksIsGivenOnce(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]discordtest.Fault{
		"before": {Drop: true}, "after": {Drop: true, After: true}, "fault": {Status: 500},
		"busy": {Status: 429, RetryAfter: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t).connect(t)
			b.answer = func(chat.Click) chat.Text { return plain("Noted.") }
			ref := b.post(t, here, mayIt, "key")
			b.server.Fail(once("POST /interactions/{id}/{token}/callback", fault))
			b.server.Click(ana, here.Chat, ref.Message, "Approve")
			b.server.AwaitTold(ana, func(told []string) bool { return slices.Equal(told, []string{"Noted."}) })
			b.server.Fail(once("POST /interactions/{id}/{token}/callback", fault))
			b.server.Click(bob, here.Chat, ref.Message, "Deny", "no")
			b.server.AwaitTold(bob, func(told []string) bool { return slices.Equal(told, []string{"Noted."}) })
			if len(b.clicks) != 2 {
				t.Errorf("told of %+v", b.clicks)
			}
		})
	}
}

// once fails the first call of a method.
func once(method string, fault discordtest.Fault) func(string) discordtest.Fault {
	var failed atomic.Bool
	return func(m string) discordtest.Fault {
		if m == method && !failed.Swap(true) {
			return fault
		}
		return discordtest.Fault{}
	}
}

func TestCommandsAreOfferedOnceAndAnsweredAlone(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.whisper = func(ctx context.Context, s chat.Said) {
		for _, text := range []string{"Heard " + s.Text, "and more"} {
			if err := s.Ephemeral(ctx, plain(text)); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}
	b.connect(t)
	for _, name := range []string{"status", "stop", "new", "approvals", "undo d1", "help"} {
		b.server.Command(ana, here.Chat, "", name)
		b.server.AwaitTold(ana, func(told []string) bool { return slices.Contains(told, "Heard /"+name) })
	}
	b.server.AwaitTold(ana, func(told []string) bool { return len(told) == 12 })
	thread := b.server.OpenThread(here.Chat, b.server.Write(ana, here.Chat, "", "x"), "x")
	b.server.Command(bob, here.Chat, thread, "new")
	b.server.Command(bob, b.server.DM(bob), "", "stop")
	b.server.AwaitTold(bob, func(told []string) bool { return len(told) == 4 })
	kinds, ids := []string{}, map[string]bool{}
	for _, s := range b.said {
		kinds, ids[s.Message] = append(kinds, s.Kind), true
		if strings.HasPrefix(s.Text, "/") != s.Mentioned {
			t.Errorf("told of %+v", s)
		}
	}
	if want := append(slices.Repeat([]string{"channel"}, 7), "thread", "dm"); !slices.Equal(kinds, want) || len(ids) != 9 {
		t.Errorf("told of %q, %v", kinds, ids)
	}
	b.server.Invalidate(false)
	b.server.AwaitConnected(2, 0)
	b.stop()
	<-b.ended
	again := newDiscord(t, b.server)
	if err := again.offer(t.Context(), "/applications/700000000000000005/commands"); err != nil || b.server.Offered() != 1 {
		t.Errorf("the commands were offered %d times, %v", b.server.Offered(), err)
	}
}

func TestACommandThatIsAnsweredLate(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.replyAfter = time.Millisecond })
	late, told := make(chan struct{}), make(chan error)
	b.whisper = func(_ context.Context, s chat.Said) {
		go func() {
			<-late
			told <- s.Ephemeral(context.Background(), plain("At last."))
		}()
	}
	b.connect(t)
	if first := b.server.Command(ana, here.Chat, "", "status"); first != "" {
		t.Errorf("told %q", first)
	}
	close(late)
	if err := <-told; err != nil {
		t.Error(err)
	}
	b.server.AwaitTold(ana, func(told []string) bool { return slices.Equal(told, []string{"At last."}) })
}

func TestACommandThatNothingIsSaidToAloneIsNotShownAsUnderWayForEver(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.replyAfter = time.Millisecond }).connect(t)
	deleted := make(chan struct{}, 1)
	b.server.Fail(func(method string) discordtest.Fault {
		if strings.HasPrefix(method, "DELETE /webhooks/") {
			deleted <- struct{}{}
		}
		return discordtest.Fault{}
	})
	b.server.Command(ana, here.Chat, "", "stop")
	awaittest.Value(t, "its deletion", deleted)
}

func TestNothingIsUnderWayOnceRunHasEnded(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.replyAfter = time.Hour })
	l := newListener(b.Discord, b.inbox)
	ctx, cancel := context.WithCancel(t.Context())
	var acted atomic.Bool
	b.answer = func(chat.Click) chat.Text { panic("before it is done") }
	l.work.TrySpawn(func() {
		l.onCommand(ctx, interaction{ID: "1", ChannelID: here.Chat, Channel: channelData{ID: here.Chat}})
	})
	l.work.TrySpawn(func() { l.onClick(ctx, interaction{ID: "2"}, "t", "") })
	l.work.TrySpawn(func() { l.afterReplyTime(ctx, func() { acted.Store(true) }) })
	b.await(t, func() bool { return len(b.said) == 1 && len(b.clicks) == 1 })
	cancel()
	l.work.Wait()
	if acted.Load() {
		t.Error("it acts after its end")
	}
}

func TestCommandsOfOthersAreNotTold(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.replyAfter = time.Millisecond }).connect(t)
	b.server.Tell("INTERACTION_CREATE", map[string]any{
		"id": "1", "application_id": "2", "type": 2, "token": "t", "channel_id": here.Chat,
		"data":   map[string]any{"name": "ban", "type": 1, "id": "3"},
		"member": map[string]any{"user": map[string]any{"id": ana}}, "channel": map[string]any{"id": here.Chat, "type": 0},
	})
	b.server.Command(ana, here.Chat, "", "status")
	if said := b.heard(t, 1); !reflect.DeepEqual(said, []string{"/status"}) {
		t.Errorf("told of %q", said)
	}
}
