package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

// awaitApproval waits until the approval is shown whole, ready to be answered.
func (b *tab) awaitApproval(text string) {
	b.t.Helper()
	b.awaitText("#detail pre", text)
	b.await(`document.querySelector('[data-act="deny"]')?.disabled === false`)
}

func TestALinkLogsInOnce(t *testing.T) {
	o := serve(t)
	url, _ := o.Link(person("ana"))
	first := openTab(t)
	first.open(url)
	first.await(`document.body.dataset.live === 'yes'`)
	if at := is[string](first, "location.href"); at != o.base()+"/" {
		t.Errorf("the link's token stays in the address: %s", at)
	}
	second := openTab(t)
	second.open(url)
	second.awaitText("#login", "This link was used already; run \"bailiff console\" for a new one, and restart the sidecar if it was not you")
	second.open("about:blank")
	second.open(o.base() + "/#forged")
	second.awaitText("#login", "This link was not made by this sidecar since it started; run \"bailiff console\" for a new one.")
	first.run(chromedp.Reload())
	first.await(`document.body.dataset.live === 'yes'`)
	first.click("#logout")
	first.awaitText("#login", "Run this on the machine of the sidecar")
	if n := len(live(o.Console)); n != 0 {
		t.Errorf("%d sessions live after the logout", n)
	}
}

func TestAnAddressNamesTheApprovalThatIsShown(t *testing.T) {
	o := serve(t)
	first := o.ask(t, claim("rm -rf ./first"))
	second := o.ask(t, claim("rm -rf ./second"))
	b := openTab(t)
	b.open(o.base() + "/?approval=" + second)
	b.awaitText("#login", "Run this on the machine of the sidecar")
	url, _ := o.Link(person("ana"))
	b.open(url)
	b.awaitApproval("rm -rf ./second")
	b.open(o.base() + "/?approval=" + first)
	b.awaitApproval("rm -rf ./first")
	b.open(o.base() + "/?approval=" + second)
	b.awaitApproval("rm -rf ./second")
	if at := is[string](b, "location.href"); at != o.base()+"/" {
		t.Errorf("the address stays %s", at)
	}
	for _, unknown := range []string{"a-nobody", "../v1/grants", "%3Cb%3E"} {
		b.open(o.base() + "/?approval=" + unknown)
		b.await(`document.body.dataset.live === 'yes' && document.querySelectorAll('#pending .row').length === 2`)
	}
	if e := o.entry(t, second); len(e.Votes) > 0 {
		t.Errorf("to look at it gave %+v", e.Votes)
	}
}

func TestAnAddressNamesTheViewAndWhatIsFoundThere(t *testing.T) {
	o := serve(t)
	for _, rule := range []string{"command.destroys_system", "env.loader"} {
		denied := bailiff.Event{DecisionID: rule, Timestamp: time.Now(), Result: bailiff.Denied(rule, "No."), Custom: bailiff.Custom{Event: bailiff.DecisionEvent}}
		if err := o.log.Record(t.Context(), denied); err != nil {
			t.Fatal(err)
		}
	}
	b := openTab(t)
	b.open(o.base() + "/?view=activity&find=command.destroys_system")
	b.awaitText("#login", "Run this on the machine of the sidecar")
	url, _ := o.Link(person("ana"))
	b.open(url)
	b.await(`document.querySelector('#view-activity').checkVisibility() && document.querySelector('#find').value === 'command.destroys_system'`)
	b.awaitText("#activity", "command.destroys_system")
	b.await(`document.querySelectorAll('#activity .event').length === 1`)
	b.open(o.base() + "/?view=activity&find=nobody.said_so")
	b.awaitText("#view-activity", "No recent decision says that")
	for _, unknown := range []string{"views", "%3Cb%3E", ""} {
		b.open(o.base() + "/?view=" + unknown)
		b.await(`document.body.dataset.live === 'yes' && document.querySelector('#view-approvals').checkVisibility()`)
	}
}

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
		{"for the session", "session", "approved", "session", "whatever this user asks in this session for these reasons only may run on docker without asking: command.deletes_recursively on ./build in /workspace", "Approved"},
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
			b.awaitText("#toasts", c.answers)
			e := o.entry(t, id)
			if v := e.Votes[0]; e.State != c.state || e.Scope != c.scope || v.Person != "ana" || v.Channel != "console" || v.Credential != "uid:1000" {
				t.Errorf("%s %s, %+v", e.State, e.Scope, e.Votes)
			}
			b.await(`document.title === 'bailiff console' && !document.querySelector('#none-pending').hidden`)
		})
	}
}

func TestADenialHasAReason(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="deny"]`)
	b.press("not on a Friday" + kb.Enter)
	b.awaitText("#toasts", "Denied")
	if e := o.entry(t, id); e.State != bailiff.ApprovalDenied || e.Votes[0].Reason != "not on a Friday" {
		t.Errorf("%s: %+v", e.State, e.Votes)
	}
}

func TestOnlyScopesThatAreOfferedAreShown(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build", scopes("once", "session")))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	if acts := is[[]string](b, `[...document.querySelectorAll('.actions [data-act]')].map((e) => e.dataset.act)`); !slices.Equal(acts, []string{"once", "session", "deny"}) {
		t.Errorf("offered are %v", acts)
	}
	b.press("w")
	b.awaitText("#toasts", "Approve always is not offered here.")
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
	b.awaitText("#toasts", "Your yes counts; 2 people must say so.")
	b.awaitText(".votes", "1 of 2 needed yes, once ana on console")
	b.awaitText("#pending", "1 of 2")
	eve := person("eve")
	eve.Credential = "uid:1001"
	if _, err := o.book.Answer(t.Context(), id, eve, approval.Verdict{Approve: true}); err != nil {
		t.Fatal(err)
	}
	b.awaitText("#detail", "approved by ana, eve")
}

func TestEverythingOfAnApprovalIsShown(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("echo earlier", inSession("s9"), func(c *bailiff.Claim) { c.DecisionID = "d-earlier" }))
	o.way.timeout = time.Minute * 30
	o.ask(t, claim("cd /workspace\nrm -rf ./build && ./deploy.sh", inSession("s9"), func(c *bailiff.Claim) {
		c.Request.Args.Stdin, c.Request.Session.ThreadID, c.Request.Session.Unattended = "y\n", "77", true
	}))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build && ./deploy.sh")
	for _, part := range []string{
		"Kim 42 on telegram", "chat dm 42", "thread 77", "session s9", "unattended yes", "by way of hermes uid:1001",
		"This deletes a folder with all that is in it. command.deletes_recursively found ./build Without asking: Delete the files by their names.", "Standard input", "2 lines, 43 characters",
		"docker for the session", "debian@sha256:5f2c1b8a90d74c3e", "only to github.com:443", "/srv/cache at /cache read only", "180 s, 5120 MB, 1 CPU", "folder /workspace",
		"enter GITHUB_TOKEN", "withheld AWS_SECRET_ACCESS_KEY by env.cloud_keys",
		"/workspace/deploy.sh sha256 " + strings.Repeat("9f86d081884c7d65", 4), "ana, eve on operator, console by route all",
	} {
		b.awaitText("#detail", part)
	}
	if got := b.text("#detail mark"); got != "./build" {
		t.Errorf("marked is %q", got)
	}
	b.click(`[data-fold="history"] summary`)
	b.awaitText(`[data-fold="history"]`, "waiting echo earlier")
}

func TestACallOfAScriptIsShownWithItsArguments(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("", reasons(bailiff.Reason{Rule: "tool.called", Message: "A script calls a tool of the agent.", Match: "send_mail"}), func(c *bailiff.Claim) {
		c.Request.Tool, c.Request.Args = bailiff.Call, bailiff.Args{Name: "send_mail", Arguments: `{"to":"eve@example.com"}`}
	}))
	b := o.login(t, "ana")
	b.awaitApproval("eve@example.com")
	for _, part := range []string{"wants a script to call send_mail", "Arguments for send_mail", `{"to":"eve@example.com"}`, "tool.called found send_mail"} {
		b.awaitText("#detail", part)
	}
}

func TestWhatAScriptMayCallIsShown(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("", func(c *bailiff.Claim) {
		c.Request.Tool, c.Request.Args, c.Decision.Tools = bailiff.ExecuteCode, bailiff.Args{Code: "print('./build')"}, []string{"terminal", "web_search"}
	}))
	b := o.login(t, "ana")
	b.awaitApproval("print('./build')")
	b.awaitText("#detail", "may call terminal, web_search")
}

func TestMarksAndOffsetsAgreeInEveryScript(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("echo 'Grüße 漢字 🎉' && rm -rf ./build # ende", reasons(
		bailiff.Reason{Rule: "a", Message: "It deletes.", Match: "rm -rf ./build"}, bailiff.Reason{Rule: "b", Message: "It says so.", Match: "漢字 🎉"})))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	if got := is[[]string](b, `[...document.querySelectorAll('#detail mark')].map((e) => e.textContent)`); !slices.Equal(got, []string{"漢字 🎉", "rm -rf ./build"}) {
		t.Errorf("marked are %q", got)
	}
}

func TestWhatCannotBeSeenIsShown(t *testing.T) {
	for _, c := range []struct{ name, text, shows string }{
		{"an order of characters turned around", "echo \u202etxt.exe\u2066", "echo U+202Etxt.exeU+2066"},
		{"nothing between two letters", "r\u200bm", "rU+200Bm"},
		{"a carriage return", "rm x\recho hi", "rm xU+000Decho hi"},
		{"an escape sequence", "echo \x1b[2K", "echo U+001B[2K"},
		{"a space that is none", "rm\u00a0x", "rmU+00A0x"},
		{"invisible tags", "a\U000e0041b", "aU+E0041b"},
		{"a filler that is a letter", "a\u3164b", "aU+3164b"},
		{"a byte order mark", "\ufeffrm", "U+FEFFrm"},
		{"an end pushed to the right", "true" + strings.Repeat(" ", 400) + "; rm -rf /", "true400 blanks; rm -rf /"},
		{"an end pushed down", "true" + strings.Repeat(" \n", 400) + "rm -rf /", "true\n399 empty lines\nrm -rf /"},
		{"marks piled on a letter", "a" + strings.Repeat("\u0301", 30), "a30 marks"},
		{"more than there is room for", strings.Repeat("\u202e", 5000), strings.Repeat("U+202E", 5000)},
		{"nothing of all that", "if true; then\n\techo 'ok  fine'\nfi", "if true; then\n\techo 'ok  fine'\nfi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := serve(t)
			o.ask(t, claim(c.text))
			b := o.login(t, "ana")
			b.await(`document.querySelector('#detail pre')`)
			if got := b.text("#detail pre"); got != c.shows {
				t.Errorf("shows %.200q", got)
			}
			if n := is[int](b, `document.querySelectorAll('#detail pre span').length`); n > 2000 {
				t.Errorf("it costs %d elements", n)
			}
		})
	}
}

func TestLongTextsDoNotStopThePage(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
	for name, piece := range map[string]string{
		"letters": "x", "words": "word ", "lines": "x\n", "overrides": "\u202e", "marks": "a\u0301\u0301\u0301\u0301\u0301", "accents": "é", "almost empty lines": strings.Repeat(" ", 32) + "\n\n\nx",
		"blanks": " \t", "matches": "./build ",
	} {
		text := strings.Repeat(piece, (1<<19)/len(piece)) + "the end"
		id := o.ask(t, claim(text, inSession(name), func(c *bailiff.Claim) { c.Request.Session.UserID = name }))
		b.awaitApproval("the end")
		if _, err := o.book.Answer(t.Context(), id, person("eve"), approval.Verdict{}); err != nil {
			t.Fatal(err)
		}
		b.await(`document.title === 'bailiff console'`)
		b.run(chromedp.Reload()) // chooses what comes next
		b.await(`document.body.dataset.live === 'yes'`)
	}
}

func TestLettersThatAreNotASCIIStandOut(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("/usr/bin/\u0430pt install"))
	b := o.login(t, "ana")
	b.awaitText("#detail pre", "install")
	if got := is[string](b, `document.querySelector('#detail pre .odd').title`); got != "U+0430, not ASCII" {
		t.Errorf("says %q", got)
	}
}

// hostile are texts that would do something where markup is made of text.
var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `javascript:alert(1)`, `</pre><iframe srcdoc="<script>alert(1)</script>">`, `'-alert(1)-'`, `${alert(1)}`, `{{alert(1)}}`,
}

func TestNoTextOfARequestIsMarkup(t *testing.T) {
	o := serve(t)
	o.sidecar.status.Warnings = hostile
	o.sidecar.status.Policies.OK, o.sidecar.status.Policies.Faults = false, hostile
	for i, text := range hostile {
		o.ask(t, claim(text, func(c *bailiff.Claim) {
			r, d := &c.Request, &c.Decision
			r.Session = bailiff.Session{ID: text, Platform: text, ChatType: text, ChatID: text, ThreadID: text, UserID: text, UserName: text, Profile: text}
			r.Caller, r.Peer, r.Args.Stdin, r.Args.Workdir, r.Env = text, text, text, text, []string{text}
			d.Approval.Reasons = []bailiff.Reason{{Rule: text, Message: text, Match: text, Instead: text}}
			d.Backend.Name, d.Backend.Image, d.Backend.Scope, d.Backend.Egress, d.Revision = text, text, text, []string{text}, text
			d.Backend.Mounts = []bailiff.Mount{{Source: text, Target: text}}
			d.Env = bailiff.EnvTerms{Forward: []string{text}, Withheld: []bailiff.Withheld{{Name: text, Rule: text}}, Set: map[string]string{text: text}, Sealed: []string{text}}
			c.DecisionID, c.Files = fmt.Sprint(text, i), []bailiff.File{{Path: text, SHA256: text}}
		}))
	}
	granted := o.ask(t, claim(hostile[1], inSession(hostile[1]), reasons(bailiff.Reason{Rule: hostile[1], Message: hostile[1], Match: hostile[1]})))
	if _, err := o.book.Answer(t.Context(), granted, person(hostile[1]), approval.Verdict{Approve: true, Scope: "session", Reason: hostile[0]}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.book.Freeze(t.Context(), approval.Freeze{Kind: "session", ID: "other" + hostile[2], Reason: hostile[1], By: hostile[1]}); err != nil {
		t.Fatal(err)
	}
	b := o.login(t, hostile[1])
	for range hostile {
		b.await(`document.querySelector('[data-act="deny"]')?.disabled === false`)
		b.run(chromedp.Evaluate[chromedp.Void](`for (const fold of document.querySelectorAll('details')) fold.open = true`))
		for _, act := range []string{"once", "session", "deny", "freeze-user"} {
			b.click(fmt.Sprintf(`[data-act=%q]`, act))
			b.press(kb.Escape)
		}
		b.press("j")
	}
	for n := 2; n <= 5; n++ {
		b.press(fmt.Sprint(n))
	}
	if v := b.violations(); len(v) > 0 {
		t.Errorf("the page's policy stopped %q", v)
	}
	if n := is[int](b, `document.querySelectorAll('#app :is(script, iframe, [onerror], [onload]), #app img:not([src="/icon.svg"]), #app a').length`); n > 0 {
		t.Errorf("%d elements were made of text", n)
	}
	b.press("1")
	b.awaitText("#detail", hostile[7])
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
	b.awaitText("#toasts", "Approved")
	if e := o.entry(t, first); e.Scope != "session" {
		t.Errorf("%s %s", e.State, e.Scope)
	}
	b.awaitApproval("./two")
	b.press("d" + "a reason with a j, an f and a ?" + kb.Enter)
	b.awaitText("#toasts", "Denied")
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
	held := is[bool](b, `!document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', repeat: true, bubbles: true, cancelable: true}))`)
	if !held || o.entry(t, id).State != bailiff.ApprovalPending {
		t.Error("Enter that repeats confirms")
	}
}

func TestASecondClickConfirmsNothing(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	b.click(`[data-act="once"]`)
	if got := is[string](b, `((e) => { const r = e.getBoundingClientRect(); return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).id })(document.querySelector('#confirm-yes.fresh'))`); got == "confirm-yes" {
		t.Error("a question can be confirmed by the click that opened it")
	}
	b.click("#confirm-yes")
	b.awaitText("#toasts", "Approved")
	if e := o.entry(t, id); e.State != bailiff.ApprovalApproved {
		t.Errorf("it is %s", e.State)
	}
}

func TestNewApprovalsAppearByThemselves(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
	b.awaitText("#none-pending", "Nothing is waiting.")
	id := o.ask(t, claim("rm -rf ./build"))
	b.await(`document.title === '(1) bailiff console'`)
	b.awaitText("#news", "New: 42 on telegram: rm -rf ./build. 1 approval pending.")
	b.awaitApproval("rm -rf ./build")
	b.click(`[data-act="once"]`)
	if _, err := o.book.Answer(t.Context(), id, person("eve"), approval.Verdict{Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	b.awaitText("#confirm-error", "It is denied already: denied by eve: no.")
	if !is[bool](b, `document.querySelector('#confirm-yes').disabled`) {
		t.Error("it can be confirmed still")
	}
	b.press(kb.Escape)
	b.awaitText("#detail", "denied by eve: no")
	if is[bool](b, `Boolean(document.querySelector('.actions'))`) {
		t.Error("it can be answered still")
	}
	b.press("2")
	b.awaitText("#activity", "denied rm -rf ./build")
}

func TestTheMostUrgentComesFirstAndCountsDown(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./later"))
	o.way.timeout = 6 * time.Second
	o.ask(t, claim("rm -rf ./soon"))
	b := o.login(t, "ana")
	b.awaitApproval("./soon")
	if got := is[[]string](b, `[...document.querySelectorAll('#pending .row-text')].map((e) => e.textContent)`); !slices.Equal(got, []string{"rm -rf ./soon", "rm -rf ./later"}) {
		t.Errorf("the order is %q", got)
	}
	b.awaitText("#pending li:last-child .countdown", "59:")
	if !is[bool](b, `document.querySelector('#detail .countdown').classList.contains('urgent')`) {
		t.Error("seconds before its end it is not urgent")
	}
	b.awaitText("#detail .pill", "0:01")
	b.awaitText("#detail .pill", "expired")
	b.await(`!document.querySelector('.actions') && document.title === '(1) bailiff console'`)
}

func TestALostConnectionIsShown(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	o.line.cut()
	b.awaitText("#lost", "Connection lost. What is shown may be old, and nothing can be answered.")
	if !is[bool](b, `document.querySelector('[data-act="once"]').disabled && getComputedStyle(document.querySelector('#views')).opacity < 1`) {
		t.Error("what may be old can be answered, or does not look old")
	}
	b.press("a")
	if is[bool](b, `document.querySelector('#confirm').open`) {
		t.Error("a key asks while nothing is heard")
	}
	b.picture("lost")
	id := o.ask(t, claim("rm -rf ./meanwhile"))
	o.line.mend()
	b.click("#lost button")
	b.await(`document.body.dataset.live === 'yes' && document.querySelector('#lost').hidden`)
	b.await(fmt.Sprintf(`document.querySelector('[data-id=%q]')`, id))
}

func TestASessionThatEndsShowsTheLogin(t *testing.T) {
	o := serve(t, func(c *Config) { c.idleTimeout = 5 * time.Second })
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitText("#detail", "./build")
	b.awaitText("#login", "Run this on the machine of the sidecar")
	if text := is[string](b, `document.documentElement.textContent`); strings.Contains(text, "./build") {
		t.Error("what was shown is in the page still")
	}
}

func TestFreezeAndThaw(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	b.press("f")
	b.await(`document.querySelector('#confirm').open`)
	b.press("odd things happen" + kb.Enter)
	b.awaitText("#frozen", "everything by ana")
	b.awaitText("#frozen", ": odd things happen")
	b.await(`document.title === 'FROZEN bailiff console'`)
	if f := o.book.Freezes(); len(f) != 1 || f[0].Kind != "all" || f[0].By != "ana" {
		t.Errorf("frozen is %+v", f)
	}
	b.picture("frozen")
	b.click("#frozen button")
	b.click("#confirm-yes")
	b.await(`document.querySelector('#frozen').hidden && document.title === 'bailiff console'`)
	o.ask(t, claim("rm -rf ./other"))
	b.awaitText("#pending", "./other")
	b.click("#pending li")
	b.awaitApproval("./other")
	b.click(`[data-act="freeze-user"]`)
	if got := is[string](b, `document.querySelector('#confirm [name=id]').value`); got != "telegram:42" {
		t.Errorf("it would freeze %q", got)
	}
	b.click(`#confirm [value="session"]`)
	b.click("#confirm-yes")
	b.awaitText("#frozen", "session agent:main:telegram:dm:42 by ana")
	if f := o.book.Freezes(); len(f) != 1 || f[0].Kind != "session" || f[0].ID != "agent:main:telegram:dm:42" {
		t.Errorf("frozen is %+v", f)
	}
}

func TestGrantsAndSandboxesAreTakenAway(t *testing.T) {
	o := serve(t)
	if _, err := o.book.Answer(t.Context(), o.ask(t, claim("rm -rf ./build")), person("eve"), approval.Verdict{Approve: true, Scope: "always"}); err != nil {
		t.Fatal(err)
	}
	b := o.login(t, "ana")
	b.press("3")
	b.awaitText("#grants", "always 42 on telegram, docker command.deletes_recursively on ./build")
	b.awaitText("#grants", "by eve (uid:1000 on operator)")
	b.awaitText("#grants", "used 0 times · until revoked")
	b.picture("grants")
	b.click("#grants button")
	b.click("#confirm-yes")
	b.awaitText("#grants", "There are none")
	if g := o.book.Grants(); len(g) != 0 {
		t.Errorf("granted is %+v", g)
	}
	b.press("4")
	b.awaitText("#sandboxes", "4be1c0ffee4be1c0 in use by 1 2 background processes docker")
	b.click("#sandboxes button")
	b.click("#confirm-yes")
	b.awaitText("#sandboxes", "None lives.")
}

func TestTheSystemIsShownWithItsFaults(t *testing.T) {
	o := serve(t)
	s := &o.sidecar.status
	s.Policies.OK, s.Policies.Faults = false, []string{"policies/env.rego:12: rego_parse_error: unexpected token"}
	s.Backends[0].Ready, s.Backends[0].Message = false, "no user namespaces"
	s.Warnings = []string{"messaging platform slack runs on backend local, which is not isolated"}
	b := o.login(t, "ana")
	b.awaitText("#warned", "3 warnings: the last reload of the policies failed")
	b.press("5")
	for _, part := range []string{"the last reload failed: the policies before it stay in force", "policies/env.rego:12: rego_parse_error", "not ready isolated · no user namespaces",
		s.Policies.Revision, "version 1.2.3", "you are ana by uid:1000 in security", "hermes unix:///run/bailiff/agent.sock for telegram, discord"} {
		b.awaitText("#system", part)
	}
	b.picture("system")
}

func TestEveryViewFitsAPhone(t *testing.T) {
	o := serve(t)
	for _, text := range []string{strings.Repeat("x", 3000), "rm -rf ./build " + strings.Repeat("--very-long-option ", 30)} {
		o.ask(t, claim(text, inSession(strings.Repeat("s", 400)), func(c *bailiff.Claim) { c.Request.Session.UserName = strings.Repeat("W", 200) }))
	}
	if _, err := o.book.Answer(t.Context(), o.ask(t, claim("make", inSession(strings.Repeat("t", 400)))), person("eve"), approval.Verdict{Approve: true, Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	o.sidecar.status.Warnings = []string{strings.Repeat("warned ", 40)}
	if _, err := o.book.Freeze(t.Context(), approval.Freeze{Kind: "session", ID: strings.Repeat("f", 300), Reason: strings.Repeat("r", 300), By: "ana"}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{320, 390, 768, 1280} {
		b := o.login(t, "ana")
		b.run(chromedp.EmulateViewport(width, 720))
		fits := func(where string) {
			t.Helper()
			if got := is[int64](b, `document.scrollingElement.scrollWidth`); got > width {
				t.Errorf("%s is %d wide at %d", where, got, width)
			}
		}
		fits("the list")
		b.click("#pending li")
		b.await(`document.querySelector('.actions')?.checkVisibility()`)
		fits("an approval")
		for _, act := range []string{"session", "deny", "freeze-session"} {
			b.click(fmt.Sprintf(`[data-act=%q]`, act))
			fits("the question of " + act)
			if got := is[float64](b, `document.querySelector('#confirm').getBoundingClientRect().right`); got > float64(width) {
				t.Errorf("the question of %s ends at %.0f of %d", act, got, width)
			}
			b.press(kb.Escape)
		}
		for n := 2; n <= 5; n++ {
			b.press(fmt.Sprint(n))
			fits(fmt.Sprint("view ", n))
		}
	}
}

func TestLightAndDark(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	background := func() string {
		return is[string](b, `getComputedStyle(document.body).backgroundColor`)
	}
	prefer := func(scheme string) {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	}
	prefer("light")
	light := background()
	contrast(t, b, "light")
	prefer("dark")
	dark := background()
	contrast(t, b, "dark")
	if light == dark {
		t.Errorf("both are %s", light)
	}
	b.click("#theme")
	if background() != light {
		t.Error("the switch does not leave dark")
	}
	b.run(chromedp.Reload())
	b.awaitApproval("./build")
	if background() != light {
		t.Error("the choice is forgotten")
	}
	b.click("#theme")
	if background() != dark {
		t.Error("the switch does not lead back")
	}
}

// contrast finds texts with less contrast to their ground than 4.5 to 1.
func contrast(t *testing.T, b *tab, scheme string) {
	t.Helper()
	poor := is[[]string](b, `(() => {
		const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
		const over = (colour, under) => { canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return 'rgb(' + [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3) + ')' }
		const parts = (rgb) => rgb.match(/\d+/g).map(Number)
		const luminance = (rgb) => parts(rgb).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
		const ground = (e) => e ? over(getComputedStyle(e).backgroundColor, ground(e.parentElement)) : 'rgb(255,255,255)'
		const poor = []
		for (const e of document.querySelectorAll('#app *')) {
			if (!e.checkVisibility() || e.disabled || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue
			const under = ground(e)
			const [a, b] = [luminance(over(getComputedStyle(e).color, under)), luminance(under)].sort((x, y) => y - x)
			const ratio = (a + 0.05) / (b + 0.05)
			if (ratio < 4.5) poor.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30))
		}
		return poor
	})()`)
	if len(poor) > 0 {
		t.Errorf("%s has too little contrast: %q", scheme, poor)
	}
}

func TestEverythingHasANameAndARole(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitApproval("./build")
	nameless := is[[]string](b, `[...document.querySelectorAll('button, input, [role]:not([role=status], [role=alert]), dialog')].filter((e) => e.checkVisibility() &&
		!(e.ariaLabel || e.textContent.trim() || e.labels?.length || e.getAttribute('aria-labelledby'))).map((e) => e.outerHTML.slice(0, 80))`)
	if len(nameless) > 0 {
		t.Errorf("without a name are %q", nameless)
	}
	for _, want := range []string{
		`document.querySelectorAll('[role=listbox] > [role=option][aria-selected=true]').length === 1`,
		`document.querySelectorAll('[role=option][tabindex="0"]').length === 1`,
		`document.querySelectorAll('[role=tab][aria-selected=true][tabindex="0"]').length === 1`,
		`document.querySelector('#news').ariaLive === 'polite'`,
		`document.documentElement.lang === 'en'`,
	} {
		if !is[bool](b, want) {
			t.Errorf("not so: %s", want)
		}
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}})
	b.press("w" + kb.Escape)
	if got := is[int](b, `document.getAnimations().length`); got > 0 {
		t.Errorf("%d animations run", got)
	}
}

// elsewhere is a page of another server of this machine.
func elsewhere(t *testing.T, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAPageOfAnotherServerCanDoNothing(t *testing.T) {
	o := serve(t)
	id := o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana") // whose cookie this browser sends to every port of the machine
	b.awaitApproval("./build")
	b.open(elsewhere(t, `<!doctype html><title>elsewhere</title>`))
	for _, request := range []string{
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"scope": "once"}'})`, o.base()+"/v1/approvals/"+id+"/approve"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', credentials: 'include', headers: {'Bailiff-Token': 'x'}, body: '{}'})`, o.base()+"/v1/approvals/"+id+"/approve"),
		fmt.Sprintf(`fetch(%q, {mode: 'no-cors', credentials: 'include'}).then((r) => r.text()).then((t) => { if (t) throw t })`, o.base()+"/v1/approvals"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"token": "x"}'})`, o.base()+"/login"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include'})`, o.base()+"/logout"),
	} {
		outcome, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](request+`.then((r) => 'status ' + (r?.status ?? '')).catch((e) => 'failed')`, chromedp.EvalAwaitPromise))
		if err != nil || outcome != "failed" && outcome != "status 0" {
			t.Errorf("%s: %s, %v", request, outcome, err)
		}
	}
	if e := o.entry(t, id); len(e.Votes) > 0 || len(live(o.Console)) != 1 {
		t.Errorf("%+v, %d sessions", e.Votes, len(live(o.Console)))
	}
}

func TestThePageShowsInNoFrame(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.open(elsewhere(t, fmt.Sprintf(`<!doctype html><iframe src=%q></iframe>`, o.base()+"/")))
	var framed string
	for deadline := time.Now().Add(10 * time.Second); framed == "" && time.Now().Before(deadline); {
		for _, child := range call(b, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
			framed = child.Frame.URL
		}
	}
	if !strings.HasPrefix(framed, "chrome-error://") {
		t.Errorf("the frame shows %s", framed)
	}
}

func TestPictures(t *testing.T) {
	o := serve(t)
	o.sidecar.status.Warnings = []string{"messaging platform slack runs on backend local, which is not isolated"}
	o.ask(t, claim("pip install -r requirements.txt && pytest -q", inSession("agent:main:slack:dm:7"), reasons(bailiff.Reason{Rule: "command.installs", Message: "This installs what others published.", Match: "pip install"}),
		func(c *bailiff.Claim) { c.Request.Session.Platform, c.Request.Session.UserName = "slack", "Robin" }))
	o.way.timeout, o.way.quorum = 4*time.Minute, 2
	id := o.ask(t, claim("set -e\ncurl -fsSL https://get.example.test/install.sh | sudo sh\nrm -rf ./build ~/.cache\necho \u202edone", reasons(
		bailiff.Reason{Rule: "command.pipes_to_shell", Message: "This runs what a server answers, whatever that is.", Match: "curl -fsSL https://get.example.test/install.sh | sudo sh"},
		bailiff.Reason{Rule: "command.deletes_recursively", Message: "This deletes a folder with all that is in it.", Match: "./build"})))
	if _, err := o.book.Answer(t.Context(), id, person("eve"), approval.Verdict{Approve: true, Scope: "once", Reason: "looked at the script"}); err != nil {
		t.Fatal(err)
	}
	o.way.timeout, o.way.quorum = 50*time.Second, 1
	o.ask(t, claim("", inSession("agent:main:discord:group:9"), func(c *bailiff.Claim) {
		c.Request.Tool, c.Request.Args = bailiff.ExecuteCode, bailiff.Args{Code: "import shutil\n\nshutil.rmtree('/workspace/old')\nprint('gone')\n"}
		c.Request.Session.Platform, c.Request.Session.ChatType, c.Request.Session.UserID, c.Request.Session.UserName = "discord", "group", "81724", ""
		c.Decision.Approval.Reasons = []bailiff.Reason{{Rule: "code.deletes", Message: "This deletes files.", Match: "shutil.rmtree"}}
		c.Decision.Backend.Network, c.Decision.Backend.Mounts = "none", nil
	}))
	b := o.login(t, "ana")
	b.await(`document.querySelectorAll('#pending li').length === 3`)
	shoot := func(scheme, name string, width, height int64, act func()) {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		b.run(chromedp.EmulateViewport(width, height))
		act()
		b.picture(name)
	}
	second := func() { b.press("1"); b.click("#pending li:nth-child(2)"); b.awaitApproval("get.example.test") }
	shoot("light", "light", 1360, 900, second)
	shoot("dark", "dark", 1360, 900, second)
	shoot("dark", "dark-question", 1360, 900, func() { b.click(`[data-act="session"]`) })
	b.press(kb.Escape)
	shoot("light", "light-freeze", 1360, 900, func() { b.press("f") })
	b.press(kb.Escape)
	shoot("light", "light-activity", 1360, 900, func() { b.press("2") })
	b.press("1")
	shoot("light", "phone-detail", 320, 700, func() {})
	shoot("light", "phone-list", 320, 700, func() { b.click(".back") })
	shoot("dark", "phone-dark", 390, 800, second)
	if v := b.violations(); len(v) > 0 {
		t.Errorf("the page's policy stopped %q", v)
	}
}
