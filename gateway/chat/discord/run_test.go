package discord

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

func TestWhatIsMissedIsToldWhenTheConnectionIsResumed(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*discordtest.Server){
		"the connection is dropped":       (*discordtest.Server).Drop,
		"Discord asks to connect again":   (*discordtest.Server).Reconnect,
		"Discord says that it is for now": func(s *discordtest.Server) { s.Invalidate(true) },
		"Discord closes it for no reason": func(s *discordtest.Server) { s.Close(4000) },
		"Discord restarts":                func(s *discordtest.Server) { s.Close(1012) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t).connect(t)
			b.server.Write(ana, here.Chat, "", "one")
			b.heard(t, 1)
			b.server.Fail(func(method string) (f discordtest.Fault) {
				f.Drop = method == "GET /gateway" // nobody comes back before the next is written
				return f
			})
			breaks(b.server)
			b.server.Write(ana, here.Chat, "", "two")
			b.server.Fail(nil)
			if said := b.heard(t, 2); !slices.Equal(said, []string{"one", "two"}) {
				t.Errorf("told of %q", said)
			}
			b.server.AwaitConnected(1, 1)
		})
	}
}

func TestASessionThatEndedIsBegunAnew(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*discordtest.Server){
		"Discord says so": func(s *discordtest.Server) { s.Invalidate(false) },
		"it timed out":    func(s *discordtest.Server) { s.Close(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t).connect(t)
			ends(b.server)
			b.server.AwaitConnected(2, 0)
			b.server.Write(ana, here.Chat, "", "again")
			if said := b.heard(t, 1); said[0] != "again" {
				t.Errorf("told of %q", said)
			}
		})
	}
}

func TestASessionThatDiscordHasForgottenIsBegunAnew(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	b.server.Forget()
	b.server.Drop()
	b.server.AwaitConnected(2, 0)
}

func TestAConnectionThatIsSilentIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) {
		b.server.Beats(30 * time.Millisecond)
		b.server.Mute(true)
	}).connect(t)
	b.await(t, func() bool {
		return slices.ContainsFunc(b.connected, func(err error) bool { return errors.Is(err, errSilent) })
	})
	b.server.Mute(false)
	b.server.Write(ana, here.Chat, "", "there")
	b.heard(t, 1)
}

func TestHeartbeatsGoOnAndAreSentWhereAsked(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.server.Beats(10 * time.Millisecond) }).connect(t)
	b.server.AwaitBeats(5)
	b.server.Beats(time.Minute)
	b.server.Drop()
	b.server.Write(ana, here.Chat, "", "connected")
	b.heard(t, 1)
	before := b.server.AwaitBeats(0)
	b.server.AskBeat()
	b.server.AwaitBeats(before + 1)
}

func TestWhatIsNoEventEndsNothing(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	for _, text := range []string{
		"null", "{", "[]", `"x"`, `{"op":"x"}`, `{"op":99}`, `{"op":0,"t":"MESSAGE_CREATE","d":null}`,
		`{"op":0,"t":"MESSAGE_CREATE","d":[]}`,
		`{"op":0,"t":"MESSAGE_CREATE","d":{"content":"x","author":null}}`, `{"op":0,"t":"INTERACTION_CREATE","d":{"type":3}}`,
		`{"op":0,"t":"INTERACTION_CREATE","d":{"type":3,"data":{"custom_id":"t"},"user":{}}}`,
		`{"op":0,"t":"INTERACTION_CREATE","d":{"type":5,"data":{"components":[null,{"type":1,"components":[null]}]},"user":{"id":"1"}}}`,
		`{"op":0,"t":"GUILD_CREATE","d":{"channels":[null],"roles":[{}]}}`, `{"op":0,"t":"THREAD_CREATE","d":{"id":"1","type":11}}`,
		`{"op":0,"t":"MESSAGE_CREATE","d":{"content":"x","author":{"id":"1"},"mentions":[null]}}`, `{"op":0,"t":"NEWS","d":{}}`,
		`{"op":11}`,
	} {
		b.server.Garble(text)
	}
	b.server.Write(ana, here.Chat, "", "still here")
	said := b.heard(t, 1)
	if !slices.Contains(said, "still here") {
		b.await(t, func() bool {
			return slices.ContainsFunc(b.said, func(s chat.Said) bool { return s.Text == "still here" })
		})
	}
	b.server.AwaitConnected(1, 0)
}

func TestOnlyWhatNobodyCanMendByWaitingEndsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*bot)
		want    string
	}{
		"the token is not known":              {func(b *bot) { b.cfg.Token = token("other") }, "discord.token"},
		"the gateway does not know the token": {closing(4004), "discord.token"},
		"messages' content is not told":       {func(b *bot) { b.server.SwitchOffContent() }, "Message Content Intent"},
		"Discord wants several connections":   {closing(4011), "several connections"},
		"Discord speaks another version":      {closing(4012), "update bailiff"},
		"Discord does not know these intents": {closing(4013), "update bailiff"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, c.prepare)
			err := <-b.ended
			var no *chat.Refused
			if !errors.As(err, &no) || !strings.Contains(no.Reason, c.want) {
				t.Errorf("it ended with %v", err)
			}
			if last := b.connected[len(b.connected)-1]; !errors.Is(last, err) {
				t.Errorf("the connection was said to be %v", last)
			}
		})
	}
}

func TestARefusalEndsRunWhateverElseIsUnderWay(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1000)
	b := start(t, func(b *bot) {
		b.server.Fail(func(method string) (f discordtest.Fault) {
			if method == "GET /applications/{application}/commands" {
				asked <- struct{}{}
				f.Status = 500
			}
			return f
		})
	}).connect(t)
	<-asked
	b.server.Renew()
	b.server.Drop()
	var no *chat.Refused
	if err := <-b.ended; !errors.As(err, &no) {
		t.Errorf("it ended with %v", err)
	}
}

func closing(code int) func(*bot) {
	return func(b *bot) { b.server.Refuse(code) }
}

func TestARenewedTokenIsReadAtTheNextConnection(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) {
		file := filepath.Join(t.TempDir(), "token")
		write(t, file, b.server.Token)
		b.cfg.Token = func() (bailiff.Secret, error) {
			text, err := os.ReadFile(file)
			return bailiff.NewSecret(string(text)), err
		}
		t.Cleanup(func() { _ = os.Remove(file) })
		b.tokenFile = file
	}).connect(t)
	write(t, b.tokenFile, b.server.Renew())
	b.server.Drop()
	b.server.AwaitConnected(1, 1)
	b.post(t, here, mayIt, "key")
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServiceThatIsDownIsTriedUntilItIsThere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	b := start(t, func(b *bot) {
		b.server.Fail(func(method string) (f discordtest.Fault) {
			switch n := asked.Add(1); {
			case n <= 2 && method == "GET /gateway/bot":
				f.Status = 503
			case n == 3:
				f = discordtest.Fault{Status: 429, RetryAfter: 10 * time.Millisecond}
			case n == 5 && method == "GET /gateway":
				f.Status = 502
			}
			return f
		})
	}).connect(t)
	var told []string
	var connected []error
	b.Read(func() { connected = slices.Clone(b.connected) })
	for _, err := range connected {
		if err == nil {
			told = append(told, "connected")
		} else {
			told = append(told, err.Error())
		}
	}
	want := []string{
		"Discord answered 503: Service Unavailable", "Discord answered 503: Service Unavailable",
		"the service asks to wait for 10ms", "connecting to Discord's gateway: it answered 502", "connected",
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told of\n%s", strings.Join(told, "\n"))
	}
}

func TestNoMoreSessionsAreBegunThanDiscordLets(t *testing.T) {
	t.Parallel()
	b := start(t, func(b *bot) { b.server.LimitStarts(1, 50*time.Millisecond) }).connect(t)
	b.server.Invalidate(false)
	var busy *chat.Busy
	b.await(t, func() bool { return errors.As(b.connected[len(b.connected)-1], &busy) })
	if busy.After != 50*time.Millisecond {
		t.Errorf("it waits for %v", busy.After)
	}
	b.server.LimitStarts(2, 0)
	b.server.AwaitConnected(2, 0)
}

func TestPausesGrowAndHaveAnEnd(t *testing.T) {
	t.Parallel()
	d := &Discord{second: time.Second}
	for failures, most := range []int{1, 2, 4, 8, 16, 30, 30, 30} {
		least := time.Duration(most) * time.Second / 2
		for range 100 {
			if p := d.pause(errors.New("any"), failures); p < least || p > 2*least {
				t.Fatalf("after %d failures the pause is %v", failures, p)
			}
		}
	}
	for range 100 {
		if p := d.pause(errInvalidSession, 7); p < time.Second || p > 5*time.Second {
			t.Fatalf("a session is begun after %v", p)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := start(t).connect(t)
	b.stop()
	if err := <-b.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	b.server.AwaitSessions(0) // it has said that it goes
}

func TestTheGatewayIsOneWhereNobodyHearsTheToken(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"wss://gateway.discord.gg":        "wss://gateway.discord.gg/?v=10&encoding=json",
		"wss://gateway.discord.gg/?v=9":   "wss://gateway.discord.gg/?v=10&encoding=json",
		"ws://127.0.0.1:80":               "ws://127.0.0.1:80/?v=10&encoding=json",
		"ws://gateway.discord.gg":         "",
		"https://gateway.discord.gg":      "",
		"":                                "",
		"wss://":                          "",
		"ws://127.0.0.1.example.com:8080": "",
	} {
		if got, err := gatewayAddress(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q, %v", address, got, err)
		}
	}
}
