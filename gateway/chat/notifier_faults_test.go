package chat

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

func TestAfterARestartWhatIsPendingStandsThereOnceAndWhatWasAnsweredSaysSo(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	o.knows(id)
	o.restart()
	o.ask("rm -r ./dist")
	o.poster.await(t, "the second question", func(m []Message) bool { return len(m) == 2 && len(m[1].Buttons) == 5 })
	if o.poster.posts != 2 {
		t.Errorf("%d messages were posted", o.poster.posts)
	}
	// answered elsewhere while the notifier is not there
	o.stop()
	book, err := approval.Open(approval.Config{Path: filepath.Join(o.dir, "approvals.db"), Router: o.router, Recorder: journal{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := book.Answer(t.Context(), id, identify("slack", "ben"), bailiff.Verdict{}); err != nil {
		t.Fatal(err)
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	o.start()
	o.poster.await(t, "the answer", func(m []Message) bool {
		return strings.Contains(plain(m[0].Text), "denied by ben") && len(m[0].Buttons) == 0
	})
}

func TestAMessageThatSomebodyTookAwayIsPostedAgain(t *testing.T) {
	t.Parallel()
	o := opened(t, func(o *notifierTest) { o.router.quorum = 2 })
	o.ask("rm -r ./build")
	_, refs := o.poster.await(t, "the question", buttons(4))
	e, _ := o.book.List(api.Query{})
	o.knows(e[0].ID)
	o.poster.remove(refs[0])
	if _, err := o.book.Answer(t.Context(), e[0].ID, identify("slack", "ana"), bailiff.Verdict{Approve: true}); err != nil {
		t.Fatal(err)
	}
	o.poster.await(t, "another message", func(m []Message) bool {
		return len(m) == 1 && strings.Contains(plain(m[0].Text), "ana on slack: yes")
	})
}

func TestFaultsLeaveNoApprovalUnshownAndNoneTwice(t *testing.T) {
	t.Parallel()
	o := opened(t)
	n := 0
	o.poster.setFault(func(call string, after bool) error {
		switch n++; {
		case n%9 == 0 && !after: // a service that is busy does nothing
			return &Busy{After: time.Millisecond}
		case n%13 == 0:
			return errDown
		}
		return nil
	})
	const many = 30
	ids := map[string]bool{}
	for i := range many {
		c := claim(fmt.Sprintf("rm -r ./build%d", i), fmt.Sprint("u", i))
		c.Request.Session.ID = fmt.Sprint("s", i)
		a, err := o.book.Ask(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		ids[a.ID] = true
	}
	o.poster.await(t, "all questions", func(m []Message) bool { return len(m) == many })
	for id := range ids {
		if _, err := o.book.Answer(t.Context(), id, identify("slack", "ana"), bailiff.Verdict{Approve: true}); err != nil {
			t.Fatal(err)
		}
	}
	o.poster.await(t, "all answers", func(m []Message) bool {
		return !slices.ContainsFunc(m, func(m Message) bool { return len(m.Buttons) > 0 })
	})
	if o.poster.posts != many {
		t.Errorf("%d messages were posted", o.poster.posts)
	}
}

func TestWhatNoChannelCouldShowEndsAsUnreachable(t *testing.T) {
	t.Parallel()
	o := opened(t)
	shown := o.ask("rm -r ./build")
	o.knows(shown)
	o.poster.setFault(func(string, bool) error { return &Refused{"the token is not valid; set slack.bot_token"} })
	id := o.ask("rm -r ./dist")
	got := o.book.Await(t.Context(), id)
	if got.State != bailiff.ApprovalUnreachable || !strings.Contains(got.Message, "slack (the token is not valid; set slack.bot_token)") {
		t.Errorf("it is %s: %s", got.State, got.Message)
	}
	if o.notifiers.Down("slack") == nil || o.notifiers.Down("operator") != nil {
		t.Errorf("down are %v, %v", o.notifiers.Down("slack"), o.notifiers.Down("operator"))
	}
	if o.state(shown) != bailiff.ApprovalPending {
		t.Errorf("what stands there is %s", o.state(shown))
	}
	o.poster.setFault(func(string, bool) error { return nil })
	o.notifier.Connected(errors.New("cut"))
	o.notifier.Connected(nil)
	third := o.ask("rm -r ./third")
	o.poster.await(t, "the next question", func(m []Message) bool { return len(m) == 2 })
	o.knows(third) // and so that the post went well
	if err := o.notifiers.Down("slack"); err != nil || o.state(third) != bailiff.ApprovalPending {
		t.Errorf("it is still down: %v", err)
	}
}

func TestALongRequestGoesAlongAsAFile(t *testing.T) {
	t.Parallel()
	o := opened(t)
	long := strings.Repeat("echo line\n", 200) + "rm -r ./build\u202e"
	o.ask(long)
	shown, _ := o.poster.await(t, "the question", buttons(4))
	m := shown[0]
	if m.File == nil || !strings.Contains(string(m.File.Content), `rm -r ./build\u202e`) || len([]rune(plain(m.Text))) > 2000 {
		t.Errorf("it has %d characters and %v", len([]rune(plain(m.Text))), m.File)
	}
}

func TestWhatIsNotShownGoesAlongWhateverItIs(t *testing.T) {
	t.Parallel()
	for name, hidden := range map[string]string{
		"letters that are not seen": strings.Repeat("\U000e0041", 200),
		"one long line":             strings.Repeat("x", 3000),
		"many lines":                strings.Repeat("true\n", 100),
		"marks all over":            strings.Repeat("rm -r ./build ", 120),
	} {
		t.Run(name, func(t *testing.T) {
			c := claim(hidden+"; rm -rf /", "42")
			for range 5 {
				c.Decision.Approval.Reasons = append(c.Decision.Approval.Reasons,
					bailiff.Reason{Rule: "command." + strings.Repeat("r", 100), Message: strings.Repeat("m", 500),
						Match: strings.Repeat("n", 500)})
			}
			e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Request: c.Request, Decision: c.Decision,
				Reasons: c.Decision.Approval.Reasons}
			m := notice(e, "", offer{Answers: []option{{Token: "t", Scope: "once"}}})
			if n := len([]rune(plain(m.Text))); n > 2000 || m.File == nil || !strings.Contains(string(m.File.Content), "; rm -rf /") {
				t.Errorf("it has %d characters, and a file: %v", n, m.File != nil)
			}
			if text := plain(m.Text); !strings.Contains(text, "request.txt has all of it") || !strings.Contains(text, "runs in: docker") {
				t.Errorf("it says %s", text)
			}
		})
	}
}

func TestWhatIsAskedElsewhereByNowSaysSoAndMayComeBack(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	o.knows(id)
	e, _ := o.book.Get(id)
	e.Plan.Channels = []string{"console"}
	p := o.notifier.find(id).render(e, "", false, nil)
	if text := plain(p.message.Text); len(p.message.Buttons) > 0 || !strings.Contains(text, "asked elsewhere by now, on console") {
		t.Errorf("it says %s", text)
	}
	again := p.render(e, "", true, nil)
	if len(again.message.Buttons) != 4 || again.Answers[0].Token == o.notifier.find(id).Answers[0].Token {
		t.Errorf("asked here again it offers %v", again.Answers)
	}
}

func TestAServiceThatAsksToWaitReachesPeopleStill(t *testing.T) {
	t.Parallel()
	o := opened(t)
	o.poster.setFault(func(string, bool) error { return &Busy{After: 20 * time.Second} })
	id := o.ask("rm -r ./build")
	backendtest.Await(t, "it is tried", func() bool { return o.counts.of("posted again") > 0 })
	o.notifier.posting.mu.Lock()
	err := o.notifier.posting.err
	o.notifier.posting.mu.Unlock()
	if err != nil || o.state(id) != bailiff.ApprovalPending {
		t.Errorf("it counts as %v, and the question is %s", err, o.state(id))
	}
}

func TestADisplayNameNamesNobody(t *testing.T) {
	t.Parallel()
	c := claim("rm -r ./build", "43")
	c.Request.Session.UserName = `ana (telegram:42) in dm 42, by telegram`
	e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Caller: "hermes", Request: c.Request, Decision: c.Decision}
	for person, want := range map[string]string{
		"":    `who asks: telegram:43 in group -7, by hermes, called "ana (telegram:42) in dm 42, by telegram"`,
		"ben": "who asks: ben (telegram:43) in group -7, by hermes\n",
	} {
		if text := plain(notice(e, person, offer{}).Text); !strings.Contains(text, want) {
			t.Errorf("of %q it says %s", person, text)
		}
	}
}

func TestWhatPeopleSaidToTheSameBeforeStandsWithAQuestion(t *testing.T) {
	t.Parallel()
	c := claim("rm -r ./build", "43")
	e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Request: c.Request, Decision: c.Decision, Answered: []api.Answered{
		{Person: "ana", Yes: 14}, {Person: "ben", Yes: 1, No: 2}, {Person: "cleo", No: 1}, {Person: "dora", No: 1}}}
	text := plain(notice(e, "", offer{}).Text)
	if !strings.Contains(text, "ana said yes 14× and no 0×") || !strings.Contains(text, "ben said yes 1× and no 2×") ||
		strings.Contains(text, "dora") {
		t.Errorf("it says %s", text)
	}
	e.State = bailiff.ApprovalDenied
	if text := plain(notice(e, "", offer{}).Text); strings.Contains(text, "14") {
		t.Errorf("once it was answered it says %s", text)
	}
}

func TestAQuestionAboutAConnectionSaysThatItsRequestRunsAndHowLongItWaits(t *testing.T) {
	t.Parallel()
	c := claim("curl x.test", "43")
	e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Request: c.Request, Decision: c.Decision,
		Reasons: []bailiff.Reason{{Rule: "egress.new_host", Message: "New.", Match: "x.test:443"}}}
	here := offer{Answers: []option{{Token: "t", Scope: "once"}}}
	if text := plain(notice(e, "", here).Text); strings.Contains(text, "runs already") {
		t.Errorf("of a request that has not begun it says %s", text)
	}
	e.HeldUntil = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if text := plain(notice(e, "", here).Text); !strings.Contains(text,
		"\nruns already: its connection to x.test:443 waits until 03:04:05 UTC\n") {
		t.Errorf("it says %s", text)
	}
}
