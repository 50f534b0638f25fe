package console

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
)

func TestAnApprovalIsAnsweredInTwoClicks(t *testing.T) {
	for _, c := range []struct {
		name    string
		act     string
		state   bailiff.ApprovalState
		scope   string
		shows   string // by the question
		answers string // and by what becomes of it
	}{
		{"once", "once", "approved", "once", "This request may run once, exactly as shown.", "Approved"},
		{"for the session", "session", "approved", "session",
			"whatever this user asks in this session for these reasons only may run on docker without asking: " +
				"command.deletes_recursively on ./build in /workspace", "Approved"},
		{"always", "always", "approved", "always", "Until it is revoked, whatever this user asks on telegram", "Approved"},
		{"no", "deny", "denied", "", "Reason, which the requester is told", "Denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := serve(t)
			id := o.ask(t, claim("rm -rf ./build && make"))
			b := o.login(t, "ana")
			b.awaitApproval("rm -rf ./build && make")
			b.click(`[data-act="` + c.act + `"]`)
			b.awaitText("#confirm", c.shows)
			b.click("#confirm-yes")
			b.awaitToast(c.answers)
			e := o.entry(t, id)
			if v := e.Votes[0]; e.State != c.state || e.Scope != c.scope || v.Person != "ana" || v.Channel != "console" ||
				v.Credential != "uid:1000" {
				t.Errorf("%s %s, %+v", e.State, e.Scope, e.Votes)
			}
			b.await(`document.title === 'bailiff console' && !document.querySelector('#none-pending').hidden`)
		})
	}
}

func TestAYesForASessionSaysHowLongAndHowOften(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="session"]`)
	b.awaitText("#confirm", "For requests, at most")
	is[string](b, `document.querySelector("#confirm input[name=for]").value = "a while"`)
	b.click("#confirm-yes")
	b.awaitText("#confirm-error", "For minutes is a whole number")
	is[string](b, `document.querySelector("#confirm input[name=for]").value = "999999"`)
	b.click("#confirm-yes")
	b.awaitText("#confirm-error", "at most, not for")
	if e := o.entry(t, id); e.State != bailiff.ApprovalPending {
		t.Fatalf("it is %s by terms that are wider than the decision", e.State)
	}
	is[string](b, `document.querySelector("#confirm input[name=for]").value = "1"`)
	is[string](b, `document.querySelector("#confirm input[name=times]").value = "5"`)
	b.click("#confirm-yes")
	b.awaitToast("Approved")
	if g := o.book.Grants(); len(g) != 1 || g[0].Times != 5 || time.Until(g[0].Expires) > time.Minute {
		t.Errorf("granted is %+v", g)
	}
}

func TestAnOpinionIsMarkedAsNoAnswer(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	if err := o.book.Opine(t.Context(), id, "webhook:bot", `approve it <img src=x onerror="document.title='taken'">`); err != nil {
		t.Fatal(err)
	}
	b.awaitText("#detail", "No answer, and not to be trusted")
	b.awaitText("#detail", `approve it <img src=x onerror=`)
	if e := o.entry(t, id); e.State != bailiff.ApprovalPending || len(e.Votes) > 0 {
		t.Errorf("it is %s by %+v", e.State, e.Votes)
	}
}

func TestADenialHasAReason(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="deny"]`)
	b.press("not on a Friday" + kb.Enter)
	b.awaitToast("Denied")
	if e := o.entry(t, id); e.State != bailiff.ApprovalDenied || e.Votes[0].Reason != "not on a Friday" {
		t.Errorf("%s: %+v", e.State, e.Votes)
	}
}

func TestOnlyScopesThatAreOfferedAreShown(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build", scopes("once", "session")))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	if acts := is[[]string](b, `[...document.querySelectorAll('.actions [data-act]')].map((e) => e.dataset.act)`); !slices.Equal(acts,
		[]string{"once", "session", "deny"}) {
		t.Errorf("offered are %v", acts)
	}
	b.press("w")
	b.awaitToast("Approve always is not offered here.")
	if is[bool](b, `document.querySelector('#confirm').open`) || o.entry(t, id).State != bailiff.ApprovalPending {
		t.Error("the key of a scope that is not offered asks")
	}
}

func TestARefusalIsSaid(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "bob")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="once"]`)
	b.click("#confirm-yes")
	b.awaitText("#confirm-error", "Bob asked for it; ana or eve can answer.")
}

func TestAQuorumIsCounted(t *testing.T) {
	o := serve(t)
	o.way.quorum = 2
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="once"]`)
	b.click("#confirm-yes")
	b.awaitToast("Your yes counts; 2 people must say so.")
	b.awaitText(".votes", "1 of 2 needed yes, once ana on console")
	b.awaitText("#pending", "1 of 2")
	eve := person("eve")
	eve.Credential = "uid:1001"
	if _, err := o.book.Answer(t.Context(), id, eve, bailiff.Verdict{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.awaitText("#detail", "approved by ana, eve")
}

func TestKeys(t *testing.T) {
	o := serve(t)
	first := o.ask(t, claim("rm -rf ./one"))
	second := o.ask(t, claim("rm -rf ./two"))
	b := o.login(t, "ana")
	b.awaitApproval("./one")
	b.press("j")
	b.awaitApproval("./two")
	if focus := is[string](b, `document.activeElement.dataset.id`); focus != second {
		t.Errorf("the focus is on %q", focus)
	}
	b.press("j" + "k")
	b.awaitApproval("./one")
	b.press("a")
	b.await(`document.querySelector('#confirm').open`)
	b.press("a" + "d" + "j") // answers nothing while a question is open
	if e := o.entry(t, first); e.State != bailiff.ApprovalPending {
		t.Errorf("one key answered: %s", e.State)
	}
	b.press(kb.Escape)
	b.await(`!document.querySelector('#confirm').open`)
	b.press(kb.Enter) // confirms nothing where nothing is asked
	b.press("s" + kb.Enter)
	b.awaitToast("Approved")
	if e := o.entry(t, first); e.Scope != "session" {
		t.Errorf("%s %s", e.State, e.Scope)
	}
	b.awaitApproval("./two")
	b.press("d" + "a reason with a j, an f and a ?" + kb.Enter)
	b.awaitToast("Denied")
	if e := o.entry(t, second); e.State != bailiff.ApprovalDenied || !strings.HasSuffix(e.Votes[0].Reason, "a j, an f and a ?") {
		t.Errorf("%s %+v", e.State, e.Votes)
	}
	b.press("?")
	b.await(`document.querySelector('#keys').open`)
	b.press(kb.Escape)
	b.press("4")
	b.await(`!document.querySelector('#view-sandboxes').hidden`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('#tab-sandboxes').focus()`))
	b.press(kb.ArrowRight)
	b.await(`!document.querySelector('#view-system').hidden && document.activeElement.id === 'tab-system'`)
	outline := is[string](b, `getComputedStyle(document.activeElement).outlineStyle`)
	if outline != "solid" {
		t.Errorf("the focus is shown by outline %s", outline)
	}
}

func TestAKeyHeldDownConfirmsNothing(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	b.press("a")
	b.await(`document.activeElement.id === 'confirm-yes'`)
	held := is[bool](b, `!document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', repeat: true, bubbles: true, `+
		`cancelable: true}))`)
	if !held || o.entry(t, id).State != bailiff.ApprovalPending {
		t.Error("Enter that repeats confirms")
	}
}

func TestASecondClickConfirmsNothing(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	// The page looks at once: in 300 ms the question can be confirmed.
	b.run(chromedp.Evaluate[chromedp.Void](`window.over = null; new MutationObserver(() => { const r = document.querySelector(` +
		`'#confirm-yes').getBoundingClientRect(); over ??= document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).id })` +
		`.observe(document.querySelector('#confirm'), {attributeFilter: ['open']})`))
	b.click(`[data-act="once"]`)
	b.await(`over !== null`)
	if got := is[string](b, `over`); got == "confirm-yes" {
		t.Error("a question can be confirmed by the click that opened it")
	}
	b.click("#confirm-yes")
	b.awaitToast("Approved")
	if e := o.entry(t, id); e.State != bailiff.ApprovalApproved {
		t.Errorf("it is %s", e.State)
	}
}
