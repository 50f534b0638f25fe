package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
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

// fixture is a bot that nobody has connected: what it shows needs no gateway.
func fixture(t *testing.T) (*Discord, *discordtest.Server) {
	s := discordtest.New(t)
	return newDiscord(t, s), s
}

func TestAPostThatIsRepeatedIsShownOnce(t *testing.T) {
	d, s := fixture(t)
	var refs []chat.Ref
	for range 3 {
		ref, err := d.Post(t.Context(), here, mayIt, "one key, which is longer than what Discord takes for a nonce")
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if len(s.Shown(here.Chat)) != 1 || refs[0] != refs[1] || refs[1] != refs[2] {
		t.Errorf("shown is %+v as %v", s.Shown(here.Chat), refs)
	}
}

// Counted: 300 messages, of which one in twenty tries fails, a third of those after
// Discord has done it.
func TestThreeHundredPostsAreEachShownOnceThroughFaults(t *testing.T) {
	d, s := fixture(t)
	const posts = 300
	var calls, faults atomic.Int32
	s.Fail(func(string) discordtest.Fault {
		n := calls.Add(1)
		if n%20 != 7 {
			return discordtest.Fault{}
		}
		switch faults.Add(1) % 3 {
		case 0:
			return discordtest.Fault{Drop: true, After: true}
		case 1:
			return discordtest.Fault{Status: 429, RetryAfter: time.Millisecond}
		}
		return discordtest.Fault{Status: 502}
	})
	var work sync.WaitGroup
	for worker := range 4 {
		work.Go(func() {
			for n := worker; n < posts; n += 4 {
				text := fmt.Sprintf("message %d", n)
				insist(t, func() error {
					_, err := d.Post(t.Context(), here, chat.Message{Text: plain(text)}, text)
					return err
				})
			}
		})
	}
	work.Wait()
	shown := map[string]int{}
	for _, m := range s.Shown(here.Chat) {
		shown[m.Text]++
	}
	for n := range posts {
		if text := fmt.Sprintf("message %d", n); shown[text] != 1 {
			t.Errorf("%q is shown %d times", text, shown[text])
		}
	}
	if len(shown) != posts || faults.Load() < 15 {
		t.Errorf("%d texts are shown, and %d tries failed", len(shown), faults.Load())
	}
	t.Logf("%d posts by %d calls, of which %d failed", posts, calls.Load(), faults.Load())
}

// insist is a caller that tries again.
func insist(t *testing.T, try func() error) {
	for range 20 {
		err := try()
		if err == nil {
			return
		}
		var busy *chat.Busy
		if errors.As(err, &busy) {
			time.Sleep(busy.After)
		}
	}
	t.Error("twenty tries failed")
}

func TestAFileGoesAlongAndStays(t *testing.T) {
	d, s := fixture(t)
	ref, err := d.Post(t.Context(), here, chat.Message{Text: plain("Long:"),
		File: &chat.File{Name: `out "1".txt`, Content: []byte("a\nb\n")}}, "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Edit(t.Context(), ref, chat.Message{Text: plain("Done.")}); err != nil {
		t.Fatal(err)
	}
	want := []discordtest.Message{{
		ID: ref.Message, Text: "Done.", Source: "Done.", File: &discordtest.File{Name: `out "1".txt`, Content: "a\nb\n"}, Edits: 1,
	}}
	if shown := s.Shown(here.Chat); !reflect.DeepEqual(shown, want) {
		t.Errorf("shown is %+v", shown)
	}
}

func TestManyAndLongButtonsAreCutNotRefused(t *testing.T) {
	d, s := fixture(t)
	var all []chat.Button
	for n := range 30 {
		all = append(all, chat.Button{Label: strings.Repeat("é😀", 60), Token: fmt.Sprint("t", n), Asks: strings.Repeat("why? ", 40)})
	}
	if _, err := d.Post(t.Context(), here, chat.Message{Text: plain("x"), Buttons: all}, "key"); err != nil {
		t.Fatal(err)
	}
	if shown := s.Shown(here.Chat); len(shown[0].Buttons) != 25 {
		t.Errorf("shown is %+v", shown)
	}
}

func TestAThreadIsMadeOrFound(t *testing.T) {
	d, s := fixture(t)
	from := chat.Ref{Place: here, Message: s.Write(ana, here.Chat, "", "ls")}
	want := chat.Place{Chat: here.Chat, Thread: from.Message}
	for _, title := range []string{"ls\n\t-l " + strings.Repeat("x😀", 100), " ", "again"} {
		if at, err := d.Thread(t.Context(), from, title); at != want || err != nil {
			t.Errorf("it is %+v, %v", at, err)
		}
	}
	if title := s.Title(from.Message); !strings.HasPrefix(title, "ls -l x") || !strings.HasSuffix(title, "…") {
		t.Errorf("it is called %q", title)
	}
	in := chat.Ref{Place: want, Message: s.Write(ana, here.Chat, want.Thread, "pwd")}
	if at, err := d.Thread(t.Context(), in, "x"); at != want || err != nil {
		t.Errorf("in a thread it is %+v, %v", at, err)
	}
	alone := chat.Ref{Place: chat.Place{Chat: s.DM(ana)}}
	alone.Message = s.Write(ana, alone.Chat, "", "id")
	if at, err := d.Thread(t.Context(), alone, "x"); at != alone.Place || err != nil {
		t.Errorf("where there are none it is %+v, %v", at, err)
	}
	if _, err := d.Post(t.Context(), want, mayIt, "key"); err != nil || len(s.Shown(want.Thread)) != 1 {
		t.Errorf("in it is shown %+v, %v", s.Shown(want.Thread), err)
	}
}

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

func TestAWaitIsReadFromWhatStandsBeforeDiscordToo(t *testing.T) {
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
	d, s := fixture(t)
	calls, fail := counting(discordtest.Fault{Status: 429, RetryAfter: time.Hour, Global: true})
	s.Fail(fail)
	last := time.Duration(0)
	for n := range 50 {
		_, err := d.Post(t.Context(), chat.Place{Chat: fmt.Sprint(n)}, mayIt, "key")
		var busy *chat.Busy
		if !errors.As(err, &busy) || busy.After < last {
			t.Fatalf("after %v it is %v", last, err)
		}
		last = busy.After
	}
	if last < time.Hour+time.Second || last > time.Hour+2*time.Second || calls.Load() != 1 {
		t.Errorf("Discord was asked %d times, and the last comes back after %v", calls.Load(), last)
	}
	if err := d.do(t.Context(), http.MethodPost, "/interactions/1/t/callback", struct{}{}, nil); !hasCode(err, unknownInteraction) {
		t.Errorf("an answer to a click is %v", err)
	}
}

func TestTheGateOpensAgainAndForgets(t *testing.T) {
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
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "lacks Token, Log") {
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
