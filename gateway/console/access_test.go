package console

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// axe is the script of axe-core.
func axe(t testing.TB) string {
	t.Helper()
	printed, err := exec.Command(filepath.Join("..", "..", "scripts", "install-axe"), "--where").Output()
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(strings.TrimSpace(string(printed)))
	backendtest.Needs(t, "AXE-CORE (run scripts/install-axe)", err)
	return string(script)
}

// prefer chooses the theme as the reader's system does.
func (b *tab) prefer(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// inThemes are the rules that axe-core holds a view to: to all in one theme, and in the other to
// those that a theme can break.
var inThemes = map[string]string{"light": `{}`, "dark": `{ runOnly: ['color-contrast', 'link-in-text-block'] }`}

// passesAxe wants axe-core to find nothing in a part of the page, in either theme.
func (b *tab) passesAxe(script, view, part string) {
	b.t.Helper()
	if !is[bool](b, `Boolean(window.axe)`) {
		b.run(chromedp.Evaluate[chromedp.Void](script + "; undefined"))
	}
	for scheme, rules := range inThemes {
		b.prefer(scheme)
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run(`+quoted(part)+`, `+rules+`).then(
			({ violations }) => violations.flatMap((v) => v.nodes.map((n) =>
				v.id + ' at ' + n.target.join(' ') + ': ' + n.failureSummary)))`, chromedp.EvalAwaitPromise))
		if err != nil || len(found) > 0 {
			b.t.Errorf("%s, %s: %v\n%s", view, scheme, err, strings.Join(found, "\n"))
		}
	}
}

func TestEveryViewPassesAxe(t *testing.T) {
	script := axe(t)
	o := serve(t)
	o.troubled(t)
	stranger := openTab(t)
	stranger.open(o.base() + "/#forged")
	stranger.awaitText("#login", "This link was not made by this sidecar")
	stranger.passesAxe(script, "login", "html")

	b := o.login(t, "ana")
	b.press("j" + "j")
	b.awaitApproval("rm -rf ./other")
	b.run(chromedp.Evaluate[chromedp.Void](`for (const fold of document.querySelectorAll('details')) fold.open = true`))
	b.passesAxe(script, "an approval that one must give", "html")
	b.press("k")
	b.press("k")
	b.awaitApproval("rm -rf ./build")
	for _, question := range []string{"a", "s", "w", "p", "l", "d", "f", "?"} {
		b.press(question)
		b.await(`document.querySelector('dialog[open]')`)
		b.passesAxe(script, "the question of "+question, "dialog[open]")
		b.press(kb.Escape)
		b.await(`!document.querySelector('dialog[open]')`)
	}
	for n, view := range []string{"activity", "grants", "sandboxes", "system", "report"} {
		b.press(fmt.Sprint(n + 2))
		b.await(fmt.Sprintf(`document.querySelector('#view-%s').checkVisibility()`, view))
		b.passesAxe(script, view, "html")
	}
	b.showsReport()
	b.passesAxe(script, "a report", "html")
	b.showsSession()
	b.passesAxe(script, "a session", "dialog[open]")
	b.click("#session-close")
	b.await(`document.activeElement.dataset.act?.startsWith('session-')`) // the focus is where it was
	b.press("1")
	b.run(chromedp.EmulateViewport(320, 640))
	b.passesAxe(script, "the list on a phone", "html")
	b.click("#pending li")
	b.awaitApproval("rm -rf ./build")
	b.passesAxe(script, "an approval on a phone", "html")
	o.line.cut()
	b.awaitText("#lost", "Connection lost")
	b.passesAxe(script, "without a connection", "html")
}

// troubled fills an office with one of everything that it can show.
func (o *office) troubled(t *testing.T) {
	t.Helper()
	s := &o.sidecar.status
	s.Policies.OK, s.Policies.Faults = false, []string{"policies/env.rego:12: rego_parse_error: unexpected token"}
	s.Backends[0].Ready, s.Backends[0].Message = false, "no user namespaces"
	s.Chat = append(s.Chat, api.ServiceStatus{Service: "slack", Commands: true, Message: "the token is not valid"})
	s.Warnings = []string{"messaging platform slack runs on backend local, which is not isolated"}
	s.Egress = api.EgressStatus{Opened: 2, Refused: 1, Sessions: []api.EgressSession{{Session: "agent:main:7", Last: time.Now(),
		Hosts: []api.EgressHost{{Host: "x.test", Port: 443, Opened: 2, Refused: 1, Rule: "r"}}}}}
	o.ask(t, claim("rm -rf ./build", plainly))
	o.ask(t, claim("rm -rf ./out", plainly))
	o.way.quorum = 2
	second := o.ask(t, claim("echo \u202edone\nrm -rf ./other"))
	if _, err := o.book.Answer(t.Context(), second, person("eve"), bailiff.Verdict{Approve: true, Scope: "once"}); err != nil {
		t.Fatal(err)
	}
	o.way.quorum = 1
	if _, err := o.book.Answer(t.Context(), o.ask(t, claim("make", inSession("other"))), person("eve"),
		bailiff.Verdict{Approve: true, Scope: "session"}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.book.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "frozen", Reason: "odd things happen", By: "ana"}); err != nil {
		t.Fatal(err)
	}
}

// tabbed presses Tab until it is on an element, at most as often as there is anything to stop at,
// and wants each stop before to be seen.
func (b *tab) tabbed(selector string) {
	b.t.Helper()
	const seen = `((e) => { const s = getComputedStyle(e), r = e.getBoundingClientRect()
		return s.outlineStyle === 'solid' && parseFloat(s.outlineWidth) >= 2 && r.width > 0 && r.height > 0 &&
			r.bottom > 0 && r.top < innerHeight ? '' : e.outerHTML.slice(0, 120) })(document.activeElement)`
	for range is[int](b, `document.querySelectorAll('a, button, input, summary, [tabindex]').length`) {
		b.press(kb.Tab)
		if is[bool](b, `document.activeElement === document.body`) {
			continue // the browser's own
		}
		if unseen := is[string](b, seen); unseen != "" {
			b.t.Errorf("the focus is not seen on %s", unseen)
		}
		if is[bool](b, fmt.Sprintf(`document.activeElement.matches(%s)`, quoted(selector))) {
			return
		}
	}
	b.t.Fatalf("Tab never stops at %s", selector)
}

func TestAnApprovalIsAnsweredWithTabAndEnterAlone(t *testing.T) {
	for name, width := range map[string]int64{"on a wide screen": 1280, "on a phone": 320} {
		t.Run(name, func(t *testing.T) {
			o := serve(t)
			denied := o.ask(t, claim("rm -rf ./one"))
			o.way.timeout *= 2 // the first is shown first
			approved := o.ask(t, claim("rm -rf ./two"))
			b := o.login(t, "ana")
			b.run(chromedp.EmulateViewport(width, 720))
			b.await(`document.querySelectorAll('#pending li').length === 2`)
			b.tabbed("#pending li")
			b.press(kb.Enter)
			b.awaitApproval("./one")
			b.tabbed(`[data-act="deny"]`)
			b.press(kb.Enter)
			b.await(`document.activeElement.name === 'reason'`)
			b.press("not today")
			b.tabbed("#confirm-yes")
			b.press(kb.Enter)
			b.awaitToast("Denied")
			b.await(`document.activeElement.dataset.id === "` + approved + `"`)
			b.press(kb.Enter)
			b.awaitApproval("./two")
			b.tabbed(`[data-act="once"]`)
			b.press(kb.Enter)
			b.await(`document.activeElement.id === 'confirm-yes'`)
			b.press(kb.Enter)
			b.awaitText("#none-pending", "Nothing is waiting.")
			if e := o.entry(t, denied); e.State != bailiff.ApprovalDenied || e.Votes[0].Reason != "not today" {
				t.Errorf("the first is %s", e.State)
			}
			if e := o.entry(t, approved); e.State != bailiff.ApprovalApproved {
				t.Errorf("the second is %s", e.State)
			}
			b.tabbed("#logout")
		})
	}
}

func TestTheFocusStopsInTheOrderOfThePage(t *testing.T) {
	o := serve(t)
	o.troubled(t)
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	stops := is[[]string](b, `[...document.querySelectorAll('[tabindex]')].filter((e) => e.tabIndex > 0).map((e) => e.outerHTML)`)
	if len(stops) > 0 {
		t.Errorf("out of order are %q", stops)
	}
	for _, stop := range []string{"#tab-approvals", "#freeze", "#theme", "#help", "#logout", "#frozen button", "#warned summary",
		"#pending li", `[data-act="freeze-session"]`, `[data-fold="history"] summary`, `[data-act="once"]`, `[data-act="deny"]`} {
		b.tabbed(stop)
	}
}

func TestTheFocusStaysWhereItIsAsAnApprovalChanges(t *testing.T) {
	o := serve(t)
	o.way.quorum = 3
	id := o.ask(t, claim("rm -rf ./other"))
	b := o.login(t, "ana")
	b.awaitApproval("./other")
	for n, who := range []string{"eve", "kim"} {
		stop := []string{"pre", "summary"}[n]
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('#detail ` + stop + `').focus()`))
		voter := person(who)
		voter.Credential = who
		if _, err := o.book.Answer(t.Context(), id, voter, bailiff.Verdict{Approve: true}); err != nil {
			t.Fatal(err)
		}
		b.awaitText(".votes", fmt.Sprintf("%d of 3 needed", n+1))
		b.await(`document.activeElement.matches('#detail ` + stop + `')`)
	}
}

func TestAThousandWaitAtOnce(t *testing.T) {
	o := serve(t)
	for n := range 1000 {
		o.ask(t, claim(fmt.Sprintf("rm -rf ./build-%03d", n), inSession(fmt.Sprint("s", n)),
			func(c *bailiff.Claim) { c.Request.Session.UserID = fmt.Sprint(n) }))
	}
	b := o.login(t, "ana")
	b.run(chromedp.EmulateViewport(320, 720))
	b.awaitText("#pending", "1000 of a kind")
	b.click("#each")
	b.await(`document.querySelectorAll('#pending li').length === 1000`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`)) // keys are the box's else
	b.awaitText("#news", "1000 approvals pending.")
	if width := is[int](b, `document.scrollingElement.scrollWidth`); width > 320 {
		t.Errorf("the list is %d wide", width)
	}
	if stops := is[int](b, `document.querySelectorAll('#pending [tabindex="0"]').length`); stops != 1 {
		t.Errorf("Tab stops %d times in the list", stops)
	}
	b.press("j" + "j" + kb.Enter)
	b.awaitApproval("./build-002")
	b.press("a")
	b.await(`document.activeElement.id === 'confirm-yes'`)
	b.press(kb.Enter)
	b.awaitToast("Approved: rm -rf ./build-002")
	b.await(`document.querySelectorAll('#pending li').length === 999 && document.title === '(999) bailiff console'`)
	b.await(`document.querySelector('#count-approvals').textContent === '999 waiting'`)
}
