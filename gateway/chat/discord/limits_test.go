package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

func TestAWaitIsReadFromWhatStandsBeforeDiscordToo(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{"7": "busy 7s", "0.25": "busy 250ms", "": "busy 5s", "soon": "busy 5s", "-1": "busy 5s",
		"NaN": "busy 5s", "1e300": "busy 1h0m0s"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte("<html>slow down</html>"))
		}))
		d, err := New(Config{Token: token("x"), URL: s.URL, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Post(t.Context(), here, mayIt, "key"); kind(err) != want {
			t.Errorf("%q is %q, want %q", header, kind(err), want)
		}
		s.Close()
	}
}

// Discord says with every answer that the limit is used up: whoever obeyed that would
// wait where nobody can end it.
func TestNothingWaitsForALimitByItself(t *testing.T) {
	t.Parallel()
	d, _ := fixture(t)
	for n := range 20 { // with each answer the test's Discord says that nothing is left for an hour
		if _, err := d.Post(t.Context(), here, mayIt, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
}

// counting fails the first call and counts all.
func counting(fault discordtest.Fault) (calls *atomic.Int32, fail func(string) discordtest.Fault) {
	calls = new(atomic.Int32)
	return calls, func(string) discordtest.Fault {
		if calls.Add(1) == 1 {
			return fault
		}
		return discordtest.Fault{}
	}
}

func TestWhereDiscordAskedToWaitItIsNotAskedSooner(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	calls, fail := counting(discordtest.Fault{Status: 429, RetryAfter: time.Hour})
	s.Fail(fail)
	for n := range 5 {
		_, err := d.Post(t.Context(), here, mayIt, fmt.Sprint(n))
		var busy *chat.Busy
		if !errors.As(err, &busy) || busy.After > time.Hour || busy.After < 59*time.Minute {
			t.Fatal(err)
		}
	}
	other := chat.Place{Chat: s.AddChannel()}
	if _, err := d.Post(t.Context(), other, mayIt, "other"); err != nil || calls.Load() != 2 {
		t.Errorf("Discord was asked %d times, %v", calls.Load(), err)
	}
}

func TestWhoeverIsSentAwayByTheLimitOnEverythingComesBackInTurn(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	calls, fail := counting(discordtest.Fault{Status: 429, RetryAfter: time.Hour, Global: true})
	s.Fail(fail)
	var opens, opensAtTheLatest time.Time // when the limit is over
	for n := range 50 {
		before := time.Now()
		_, err := d.Post(t.Context(), chat.Place{Chat: fmt.Sprint(n)}, mayIt, "key")
		after := time.Now()
		var busy *chat.Busy
		if !errors.As(err, &busy) {
			t.Fatal(err)
		}
		if n == 0 {
			opens, opensAtTheLatest = before.Add(time.Hour), after.Add(time.Hour)
		}
		turn := time.Duration(n) * staggerStep
		if after.Add(busy.After).Before(opens.Add(turn)) || before.Add(busy.After).After(opensAtTheLatest.Add(turn)) {
			t.Errorf("call %d comes back after %v, want %v after the limit is over", n, busy.After, turn)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("Discord was asked %d times", calls.Load())
	}
	if err := d.do(t.Context(), http.MethodPost, "/interactions/1/t/callback", struct{}{}, nil); !hasCode(err, unknownInteraction) {
		t.Errorf("an answer to a click is %v", err)
	}
}

func TestTheGateOpensAgainAndForgets(t *testing.T) {
	t.Parallel()
	g := rateLimiter{}
	for n := range maxLimits + 1 {
		g.limit(fmt.Sprint(n), &tooManyRequests{after: 1})
	}
	if len(g.limits) > 2 {
		t.Errorf("%d are kept", len(g.limits))
	}
	g.limit("x", &tooManyRequests{after: time.Millisecond})
	backendtest.Await(t, "the gate opens again", func() bool { return g.check("x") == nil })
	if g.limits["x"] != nil {
		t.Errorf("it is still %v", g.limits["x"])
	}
}

func TestOneRequestDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	held, free := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !first.Swap(true) {
			close(held)
			<-free
		}
		_, _ = w.Write([]byte(`{"id": "5"}`))
	}))
	defer s.Close()
	defer close(free)
	d, err := New(Config{Token: token("x"), URL: s.URL, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := d.Post(ctx, here, mayIt, "held")
		ended <- err
	}()
	<-held
	if _, err := d.Post(t.Context(), here, mayIt, "free"); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestNoErrorRepeatsTheTokenOrAnAddress(t *testing.T) {
	t.Parallel()
	const secret = "the.bots.token"
	for name, answer := range map[string]http.HandlerFunc{
		"a refusal that repeats it": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, `{"code": 1, "message": "no %s\u001b[2J"}`, r.Header.Get("Authorization"))
		},
		"a fault that repeats it": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprint(w, "bad: "+r.Header.Get("Authorization"))
		},
		"nothing": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/stolen", http.StatusTemporaryRedirect)
		},
		"what is no JSON": func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, "{"+r.Header.Get("Authorization")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(answer)
			defer s.Close()
			d, err := New(Config{Token: token(secret), URL: s.URL, Log: quiet})
			if err != nil {
				t.Fatal(err)
			}
			err = d.do(t.Context(), http.MethodPost, "/interactions/1/interactionsecret/callback", struct{}{}, &struct{}{})
			if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "interactionsecret") ||
				strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("it is %v", err)
			}
		})
	}
}

func TestManyBotsInOneProcess(t *testing.T) {
	t.Parallel()
	var bots []*bot
	for range 3 {
		bots = append(bots, start(t))
	}
	var work sync.WaitGroup
	for _, b := range bots {
		b.connect(t)
		for n := range 10 {
			work.Go(func() {
				if _, err := b.Post(t.Context(), here, mayIt, fmt.Sprint(n)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	for n, b := range bots {
		if len(b.server.Shown(here.Chat)) != 10 {
			t.Errorf("bot %d has shown %d messages", n, len(b.server.Shown(here.Chat)))
		}
	}
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "lacks Log, Token") {
		t.Errorf("it is %v", err)
	}
	d, err := New(Config{Token: func() (bailiff.Secret, error) { return bailiff.Secret{}, errors.New("no file") }, Log: quiet})
	if err != nil || d.cfg.URL != "https://discord.com/api/v10" {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, err := d.Post(t.Context(), here, mayIt, "key"); err == nil || err.Error() != "no file" {
		t.Errorf("it is %v", err)
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	missing := func(d *Discord) (all []string) {
		for _, f := range d.Check(context.Background(), []chat.Person{{ID: ana, Name: "ana"}, {ID: bob, Name: "bob"}}) {
			if f.Err == nil {
				all = append(all, f.What)
			} else {
				all = append(all, f.What+": "+f.Err.Error())
			}
		}
		return all
	}
	d, s := fixture(t)
	s.Join(ana)
	s.Join(bob)
	const id = discordtest.Channel
	well := []string{
		"token", "Message Content Intent", "channel " + id, "permission View Channel", "permission Send Messages",
		"permission Read Message History",
		"permission Attach Files", "permission Create Public Threads", "permission Send Messages in Threads", "ana (42) sees channel " + id,
		"bob (43) sees channel " + id,
	}
	if got := missing(d); !slices.Equal(got, well) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
	s.SwitchOffContent()
	s.Forbid(id, discordtest.Bot, discordtest.AttachFiles|discordtest.CreatePublicThreads)
	s.Forbid(id, bob, discordtest.ViewChannel)
	got := strings.Join(missing(d), "\n")
	for _, want := range []string{
		"Message Content Intent: Discord does not tell the bot what messages say: switch on Message Content Intent",
		"permission Attach Files: the bot lacks the permission Attach Files in channel " + id,
		"permission Create Public Threads: the bot lacks", "\npermission Send Messages\n",
		"bob (43) sees channel " + id + ": 43 may not see",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	s.Forbid(id, discordtest.Bot, discordtest.ViewChannel)
	if got := strings.Join(missing(d), "\n"); !strings.Contains(got, "channel "+id+": the bot may not see") {
		t.Errorf("found\n%s", got)
	}
	s.Renew()
	if got := missing(d); len(got) != 1 || !strings.HasPrefix(got[0], "token: Discord does not know the bot's token") {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
}

func TestCheckNamesWhoIsNotReached(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	s.Join(ana)
	all := d.Check(t.Context(), []chat.Person{{ID: "nobody", Name: "eve"}, {ID: "99", Name: "zoe"}, {ID: ana, Name: "ana"}})
	var got []string
	for _, f := range all[len(all)-3:] {
		got = append(got, fmt.Sprint(f.Err))
	}
	want := []string{
		`"nobody" is no id of Discord's: want the number that Copy User ID gives in Discord with Developer Mode on`,
		"nobody in the server has the id 99: invite them, or correct the id in people", "<nil>",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
	d.cfg.Approvals = s.DM(ana)
	if all := d.Check(t.Context(), nil); !strings.Contains(fmt.Sprint(all[len(all)-1].Err), "is a direct message") {
		t.Errorf("found %v", all)
	}
	d.cfg.Approvals = ""
	if all := d.Check(t.Context(), []chat.Person{{ID: "99"}}); len(all) != 2 {
		t.Errorf("found %v", all)
	}
}
