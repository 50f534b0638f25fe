package discord

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

// kind names what a caller is to make of an error.
func kind(err error) string {
	var busy *chat.Busy
	var no *chat.Refused
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &busy):
		return "busy " + busy.After.String()
	case errors.As(err, &no):
		return "refused: " + no.Reason
	case errors.Is(err, chat.ErrGone):
		return "gone"
	}
	return "may pass"
}

func TestWhatDiscordRefusesSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	post := func(d *Discord, at chat.Place, m chat.Message) error {
		_, err := d.Post(context.Background(), at, m, "key")
		return err
	}
	edit := func(d *Discord, at chat.Place, id string) error {
		return d.Edit(context.Background(), chat.Ref{Place: at, Message: id}, mayIt)
	}
	thread := func(d *Discord, at chat.Place, id string) error {
		_, err := d.Thread(context.Background(), chat.Ref{Place: at, Message: id}, "x")
		return err
	}
	for name, c := range map[string]struct {
		do   func(*Discord, *discordtest.Server) error
		want string
	}{
		"another token": {func(d *Discord, s *discordtest.Server) error { s.Renew(); return post(d, here, mayIt) },
			"refused: Discord does not know the bot's token"},
		"an unknown channel": {func(d *Discord, _ *discordtest.Server) error { return post(d, chat.Place{Chat: "1"}, mayIt) },
			"refused: Discord knows no channel 1:"},
		"a channel that is hidden": {func(d *Discord, s *discordtest.Server) error {
			s.Forbid(here.Chat, discordtest.Bot, discordtest.ViewChannel)
			return post(d, here, mayIt)
		}, "refused: the bot may not see Discord's channel 700000000000000002: give it the permission View Channel there"},
		"a channel to read": {func(d *Discord, s *discordtest.Server) error {
			s.Forbid(here.Chat, discordtest.Bot, discordtest.SendMessages)
			return post(d, here, mayIt)
		}, "refused: the bot may not do this in Discord's channel 700000000000000002: give it the permission Send Messages there"},
		"a channel without files": {func(d *Discord, s *discordtest.Server) error {
			s.Forbid(here.Chat, discordtest.Bot, discordtest.AttachFiles)
			return post(d, here, chat.Message{Text: plain("x"), File: &chat.File{Name: "x", Content: []byte("x")}})
		},
			"refused: the bot may not do this in Discord's channel 700000000000000002: give it the permission Send Messages and Attach " +
				"Files there"},
		"threads to read": {func(d *Discord, s *discordtest.Server) error {
			s.Forbid(here.Chat, discordtest.Bot, discordtest.SendMessagesInThreads)
			id := s.Write(ana, here.Chat, "", "x")
			at := chat.Place{Chat: here.Chat, Thread: s.OpenThread(here.Chat, id, "x")}
			return post(d, at, mayIt)
		}, "give it the permission Send Messages in Threads there"},
		"no threads": {func(d *Discord, s *discordtest.Server) error {
			s.Forbid(here.Chat, discordtest.Bot, discordtest.CreatePublicThreads)
			return thread(d, here, s.Write(ana, here.Chat, "", "x"))
		}, "give it the permission Create Public Threads there"},
		"nothing to say": {func(d *Discord, _ *discordtest.Server) error { return post(d, here, chat.Message{}) },
			"refused: Discord refuses this in channel 700000000000000002: Cannot send an empty message (code 50006)"},
		"somebody else's": {func(d *Discord, s *discordtest.Server) error { return edit(d, here, s.Write(ana, here.Chat, "", "x")) },
			"(code 50005)"},
		"a message that is no more": {func(d *Discord, s *discordtest.Server) error {
			ref, err := d.Post(context.Background(), here, mayIt, "key")
			if err != nil {
				return err
			}
			s.Delete(here.Chat, ref.Message)
			return edit(d, here, ref.Message)
		}, "gone"},
		"a thread of none": {func(d *Discord, _ *discordtest.Server) error { return thread(d, here, "5") }, "gone"},
		"an odd channel": {func(d *Discord, _ *discordtest.Server) error { return post(d, chat.Place{Chat: "../x?y"}, mayIt) },
			"refused: Discord knows no channel"},
		"too much":           {failing(discordtest.Fault{Status: 413}), "refused"},
		"an outage":          {failing(discordtest.Fault{Status: 500}), "may pass"},
		"a gateway's":        {failing(discordtest.Fault{Status: 502}), "may pass"},
		"what stands before": {failing(discordtest.Fault{Status: 403}), "may pass"},
		"no connection":      {failing(discordtest.Fault{Drop: true}), "may pass"},
		"a wait":             {failing(discordtest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond}), "busy 1.5s"},
		"a wait of days":     {failing(discordtest.Fault{Status: 429, RetryAfter: 100 * 24 * time.Hour}), "busy 1h0m0s"},
		"a wait of no time":  {failing(discordtest.Fault{Status: 429}), "busy 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			d, s := fixture(t)
			if got := kind(c.do(d, s)); !strings.Contains(got, c.want) {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

func failing(fault discordtest.Fault) func(*Discord, *discordtest.Server) error {
	return func(d *Discord, s *discordtest.Server) error {
		s.Fail(func(string) discordtest.Fault { return fault })
		_, err := d.Post(context.Background(), here, mayIt, "key")
		return err
	}
}

func TestAYesThatNamesNoMessageMayPass(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer s.Close()
	d, err := New(Config{Token: token("x"), URL: s.URL, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if ref, err := d.Post(t.Context(), here, mayIt, "key"); kind(err) != "may pass" || !errors.Is(err, errAnswer) {
		t.Errorf("it is %v, %v", ref, err)
	}
}
