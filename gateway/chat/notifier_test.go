package chat

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/summary"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

// router lets people answer, unless they asked.
type router struct {
	people   []string
	channels []string
	quorum   int
	timeout  time.Duration
}

func (r router) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{Route: "all", Approvers: r.people, Channels: r.channels, Quorum: r.quorum, Timeout: r.timeout}, nil
}

func (r router) May(who bailiff.Approver, c bailiff.Claim, _ string) error {
	switch {
	case !slices.Contains(r.people, who.Person):
		return fmt.Errorf("not yours to answer: %s belongs to no person in people; ask %s", who.Credential, strings.Join(r.people, " or "))
	case c.Request.Session.UserID == who.Person:
		return fmt.Errorf("not yours to answer: %s asked for it; ask somebody else", who.Person)
	}
	return nil
}

type journal struct{}

func (journal) Record(context.Context, api.Event) error { return nil }

// counts is an observer.
type counts struct {
	mu  sync.Mutex
	all map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[what]++
}

func (c *counts) ChatPosted(_, result string)  { c.add("posted " + result) }
func (c *counts) ChatClicked(_, result string) { c.add("clicked " + result) }
func (c *counts) ChatDown(_ string, down bool) { c.add(fmt.Sprint("down ", down)) }
func (c *counts) of(what string) int           { c.mu.Lock(); defer c.mu.Unlock(); return c.all[what] }
func identify(service, id string) bailiff.Approver {
	who := bailiff.Approver{Credential: bailiff.Account(service, id), Channel: service}
	if slices.Contains([]string{"ana", "ben"}, id) {
		who.Person = id
	}
	return who
}

// notifierTest is a book with one notifier, of which a test may change everything but the folder.
type notifierTest struct {
	t         *testing.T
	dir       string
	router    router
	poster    *fakePoster
	book      *approval.Book
	notifier  *Notifier
	notifiers *Notifiers
	counts    *counts
	stop      func()
}

func opened(t *testing.T, change ...func(*notifierTest)) *notifierTest {
	o := &notifierTest{t: t, dir: t.TempDir(), poster: newFakePoster(), counts: &counts{},
		router: router{people: []string{"ana", "ben"}, channels: []string{"slack"}, quorum: 1, timeout: time.Minute}}
	for _, f := range change {
		f(o)
	}
	o.start()
	t.Cleanup(func() { o.stop() })
	return o
}

func (o *notifierTest) start() {
	o.t.Helper()
	var err error
	o.book, err = approval.Open(approval.Config{Path: filepath.Join(o.dir, "approvals.db"), Router: o.router, Recorder: journal{}})
	if err != nil {
		o.t.Fatal(err)
	}
	o.notifier, err = NewNotifier(NotifierConfig{Service: "slack", At: Place{Chat: "C1"}, Poster: o.poster, Approvals: o.book,
		Identify: identify,
		Dir:      filepath.Join(o.dir, "posts"), Observer: o.counts, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		o.t.Fatal(err)
	}
	o.notifiers = NewNotifiers(o.book, slog.New(slog.DiscardHandler))
	o.notifiers.Add(o.notifier)
	ctx, cancel := context.WithCancel(o.t.Context())
	var running sync.WaitGroup
	running.Go(func() { o.notifier.Run(ctx) })
	running.Go(func() { o.notifiers.Run(ctx) })
	o.notifier.Connected(nil)
	o.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		if err := o.book.Close(); err != nil {
			o.t.Error(err)
		}
	})
}

func (o *notifierTest) restart() {
	o.t.Helper()
	o.stop()
	o.start()
}

func TestANoticeNamesTheRuntimeWhereThereIsOne(t *testing.T) {
	t.Parallel()
	c := claim("rm -r build", "42")
	for runtime, want := range map[string]string{"": "docker debian, network none", "runsc": "docker debian, runtime runsc, network none"} {
		c.Decision.Backend.Runtime = runtime
		if said := summary.Place(c.Decision); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
}

func claim(command, user string) bailiff.Claim {
	return bailiff.Claim{
		DecisionID: "d-1", Plain: true,
		Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Caller: "hermes",
			Session: bailiff.Session{ID: "s", Platform: "telegram", ChatType: "group", ChatID: "-7", UserID: user, UserName: "Zoe"}},
		Decision: bailiff.Decision{Outcome: bailiff.Ask, Obligations: bailiff.Obligations{
			Backend: bailiff.BackendTerms{Name: "docker", Image: "debian"}, Env: bailiff.EnvTerms{Forward: []string{"GITHUB_TOKEN"}}},
			Approval: &bailiff.ApprovalTerms{Scopes: []string{"once", "session"}, GrantSeconds: 60,
				Reasons: []bailiff.Reason{{Rule: "command.deletes_recursively", Message: "It deletes a folder", Match: "rm -r ./build"}}}},
	}
}

func (o *notifierTest) ask(command string) string {
	o.t.Helper()
	a, err := o.book.Ask(o.t.Context(), claim(command, "42"))
	if err != nil {
		o.t.Fatal(err)
	}
	return a.ID
}

// knows waits until the notifier knows where an approval is shown.
func (o *notifierTest) knows(id string) {
	o.t.Helper()
	backendtest.Await(o.t, "the notifier knows where "+id+" is shown", func() bool { return o.notifier.Shows(id) })
}

// click clicks the button of the only message that begins so.
func (o *notifierTest) click(who, label string) string {
	o.t.Helper()
	shown, refs := o.poster.await(o.t, "a message", func(m []Message) bool { return len(m) == 1 })
	return o.clickOn(who, tokenOf(o.t, shown[0], label), refs[0])
}

func (o *notifierTest) clickOn(who, token string, on Ref) string {
	return plain(o.notifier.Clicked(o.t.Context(), Click{By: Person{ID: who}, On: on, Token: token}))
}

func tokenOf(t *testing.T, m Message, label string) string {
	t.Helper()
	for _, b := range m.Buttons {
		if strings.HasPrefix(b.Label, label) {
			return b.Token
		}
	}
	t.Fatalf("there is no button %q in %v", label, m.Buttons)
	return ""
}

func (o *notifierTest) state(id string) bailiff.ApprovalState {
	e, _ := o.book.Get(id)
	return e.State
}

func TestAnApprovalIsPostedAnsweredAndSaysSo(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("cd src && rm -r ./build")
	shown, _ := o.poster.await(t, "the question", buttons(4))
	text := plain(shown[0].Text)
	for _, want := range []string{id, `telegram:42 in group -7, by hermes, called "Zoe"`,
		"cd src && rm -r ./build\n          ^^^^^^^^^^^^^",
		"It deletes a folder. (command.deletes_recursively)", "docker debian, network none", "GITHUB_TOKEN", "ana, ben", "UTC"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %s", want, text)
		}
	}
	if told := o.click("ana", "Approve once"); told != "You approved "+id+"." {
		t.Errorf("ana is told %q", told)
	}
	shown, refs := o.poster.await(t, "the answer", buttons(0))
	if text := plain(shown[0].Text); !strings.Contains(text, "approved by ana, once") ||
		!strings.Contains(text, "ana on slack: yes, once") {
		t.Errorf("it says %s", text)
	}
	if o.state(id) != bailiff.ApprovalApproved || o.poster.edits[refs[0]] != 1 {
		t.Errorf("it is %s after %d edits", o.state(id), o.poster.edits[refs[0]])
	}
}

func TestADenialHasItsReason(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	shown, refs := o.poster.await(t, "the question", buttons(4))
	why := shown[0].Buttons[3]
	if why.Asks == "" {
		t.Fatalf("no button asks why: %v", shown[0].Buttons)
	}
	o.notifier.Clicked(t.Context(), Click{By: Person{ID: "ben"}, On: refs[0], Token: why.Token, Reason: "it is prod"})
	o.poster.await(t, "the answer", func(m []Message) bool { return strings.Contains(plain(m[0].Text), "denied by ben: it is prod") })
	if o.state(id) != bailiff.ApprovalDenied {
		t.Errorf("it is %s", o.state(id))
	}
}

func TestWhoMayNotAnswerIsToldWhoMayAndChangesNothing(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	for range 2 {
		if told := o.click("mallory",
			"Approve once"); told != "Not yours to answer: slack:mallory belongs to no person in people; ask ana or ben." {
			t.Errorf("a stranger is told %q", told)
		}
	}
	if o.state(id) != bailiff.ApprovalPending || o.counts.of("clicked barred") != 2 {
		t.Errorf("it is %s, %v", o.state(id), o.counts.all)
	}
	if told := o.click("ana", "Approve once"); !strings.HasPrefix(told, "You approved") {
		t.Errorf("then ana is told %q", told)
	}
}

func TestTokensThatAreForgedUsedOrOldChangeNothing(t *testing.T) {
	t.Parallel()
	o := opened(t, func(o *notifierTest) { o.router.quorum = 2 })
	id := o.ask("rm -r ./build")
	shown, refs := o.poster.await(t, "the question", buttons(4))
	first := tokenOf(t, shown[0], "Approve once")
	o.knows(id)
	if told := o.clickOn("ana", "abcdefghijklmnopqrstuvwxyz", refs[0]); !strings.Contains(told, "nothing was changed") {
		t.Errorf("for a forged one ana is told %q", told)
	}
	if told := o.clickOn("ana", "abcdefghijklmnopqrstuvwxyz", Ref{}); !strings.Contains(told, "Nothing was changed") {
		t.Errorf("for a forged one at no message ana is told %q", told)
	}
	if told := o.clickOn("ana", first, refs[0]); !strings.Contains(told, "1 of 2") {
		t.Errorf("ana is told %q", told)
	}
	if told := o.clickOn("ben", first, refs[0]); !strings.Contains(told, "nothing was changed") {
		t.Errorf("for a used one ben is told %q", told)
	}
	o.poster.await(t, "the vote", func(m []Message) bool {
		return strings.Contains(plain(m[0].Text), "ana on slack: yes") && tokenOf(t, m[0], "Approve once") != first
	})
	if told := o.clickOn("ben", first, refs[0]); !strings.Contains(told, "nothing was changed") {
		t.Errorf("for an old one ben is told %q", told)
	}
	if o.state(id) != bailiff.ApprovalPending {
		t.Fatalf("it is %s", o.state(id))
	}
	if told := o.click("ben", "Approve once"); !strings.HasPrefix(told, "You approved") {
		t.Errorf("by the new one ben is told %q", told)
	}
}

func TestAnApprovalOfAnotherDigestIsNotAnswered(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	shown, refs := o.poster.await(t, "the question", buttons(4))
	o.knows(id) // after which the notifier saves it no more
	p := o.notifier.find(id)
	p.Digest = "another"
	if err := o.notifier.save(p); err != nil {
		t.Fatal(err)
	}
	if told := o.clickOn("ana", tokenOf(t, shown[0], "Approve"), refs[0]); !strings.Contains(told, "nothing was changed") ||
		o.state(id) != bailiff.ApprovalPending {
		t.Errorf("ana is told %q, and it is %s", told, o.state(id))
	}
}

func TestALateClickSaysExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := opened(t, func(o *notifierTest) { o.router.timeout = 300 * time.Millisecond })
		id := o.ask("rm -r ./build")
		shown, refs := o.poster.await(t, "the question", buttons(4))
		token := tokenOf(t, shown[0], "Approve once")
		o.poster.await(t, "the end", buttons(0))
		told := o.clickOn("ana", token, refs[0])
		if !strings.HasPrefix(told, "Too late: Nobody answered within") || strings.Contains(told, "pproved") ||
			o.state(id) != bailiff.ApprovalExpired {
			t.Errorf("ana is told %q, and it is %s", told, o.state(id))
		}
		if told := o.clickOn("ana", token, Ref{}); !strings.HasPrefix(told, "Too late: Nobody answered within") {
			t.Errorf("by the token alone ana is told %q", told)
		}
		o.restart()
		if told := o.clickOn("ana", token, refs[0]); !strings.HasPrefix(told, "Too late: Nobody answered within") {
			t.Errorf("after a restart ana is told %q", told)
		}
	})
}

func TestAnswersInWordsAreTaken(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	_, refs := o.poster.await(t, "the question", buttons(4))
	o.knows(id)
	say := func(word, reason string) string {
		return plain(o.notifier.Clicked(t.Context(), Click{By: Person{ID: "ana"}, On: refs[0], Word: word, Reason: reason}))
	}
	if told := say("maybe", ""); !strings.Contains(told, "nothing was changed") {
		t.Errorf("for a word that means nothing ana is told %q", told)
	}
	if say("deny", "it is prod"); o.state(id) != bailiff.ApprovalDenied {
		t.Errorf("it is %s", o.state(id))
	}
	o.poster.await(t, "the reason", func(m []Message) bool { return strings.Contains(plain(m[0].Text), "denied by ana: it is prod") })
}
