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
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
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
	second.awaitText("#login", "This link was used already; run \"bailiff console\" for a new one, and restart the sidecar if it was "+
		"not you")
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
		denied := api.Event{DecisionID: rule, Timestamp: time.Now(), Result: bailiff.Denial(rule, "No."),
			Custom: api.Custom{Event: api.DecisionEvent}}
		if err := o.log.Record(t.Context(), denied); err != nil {
			t.Fatal(err)
		}
	}
	b := openTab(t)
	b.open(o.base() + "/?view=activity&find=command.destroys_system")
	b.awaitText("#login", "Run this on the machine of the sidecar")
	url, _ := o.Link(person("ana"))
	b.open(url)
	b.await(`document.querySelector('#view-activity').checkVisibility() && document.querySelector('#find').value === ` +
		`'command.destroys_system'`)
	b.awaitText("#activity", "command.destroys_system")
	b.await(`document.querySelectorAll('#activity .event').length === 1`)
	b.open(o.base() + "/?view=activity&find=nobody.said_so")
	b.awaitText("#view-activity", "No recent decision says that")
	for _, unknown := range []string{"views", "%3Cb%3E", ""} {
		b.open(o.base() + "/?view=" + unknown)
		b.await(`document.body.dataset.live === 'yes' && document.querySelector('#view-approvals').checkVisibility()`)
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
	if _, err := o.book.Answer(t.Context(), id, person("eve"), bailiff.Verdict{Reason: "no"}); err != nil {
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
	o.way.timeout = 30 * time.Minute
	o.ask(t, claim("rm -rf ./soon"))
	asked := time.Now()
	b := o.login(t, "ana")
	b.awaitApproval("./soon")
	if got := is[[]string](b, `[...document.querySelectorAll('#pending .row-text')].map((e) => e.textContent)`); !slices.Equal(got,
		[]string{"rm -rf ./soon", "rm -rf ./later"}) {
		t.Errorf("the order is %q", got)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`window.left = document.querySelector('#pending li:last-child .countdown').textContent`))
	b.await(`document.querySelector('#pending li:last-child .countdown').textContent !== left`)
	o.line.dates(asked.Add(o.way.timeout - 30*time.Second))
	b.press("4") // asks for what is there, and so hears of the time
	b.press("1")
	b.awaitText("#detail .countdown.urgent", "0:")
	o.line.dates(asked.Add(o.way.timeout + time.Minute))
	b.press("4")
	b.press("1")
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
	if !is[bool](b, `document.querySelector('[data-act="once"]').disabled &&
		getComputedStyle(document.querySelector('#views')).outlineStyle === 'dashed'`) {
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
	o := serve(t)
	o.ask(t, claim("rm -rf ./build"))
	b := o.login(t, "ana")
	b.awaitText("#detail", "./build")
	for _, s := range live(o.Console) { // as if it was not used for long
		s.mu.Lock()
		s.idle = 0
		s.mu.Unlock()
		o.sessions.use(s)
	}
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
	if _, err := o.book.Answer(t.Context(), o.ask(t, claim("rm -rf ./build")), person("eve"),
		bailiff.Verdict{Approve: true, Scope: "always"}); err != nil {
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
	b.picture("sandboxes")
	b.click("#sandboxes button")
	b.click("#confirm-yes")
	b.awaitText("#sandboxes", "None lives.")
}

func TestTheSystemIsShownWithItsFaults(t *testing.T) {
	o := serve(t)
	s := &o.sidecar.status
	s.Policies.OK, s.Policies.Faults = false, []string{"policies/env.rego:12: rego_parse_error: unexpected token"}
	s.Backends[0].Ready, s.Backends[0].Message = false, "no user namespaces"
	s.Chat = append(s.Chat, api.ServiceStatus{Service: "slack", Commands: true, Message: "the token is not valid"})
	s.Egress = api.EgressStatus{Opened: 2, Refused: 1, Sessions: []api.EgressSession{{Session: "agent:main:7", Last: time.Now(),
		Hosts: []api.EgressHost{{Host: "pypi.org", Port: 443, Opened: 2, Received: 90},
			{Host: "x.test", Port: 443, Refused: 1, Rule: "r"}}}}}
	s.Warnings = []string{"messaging platform slack runs on backend local, which is not isolated"}
	b := o.login(t, "ana")
	b.awaitText("#warned", "3 warnings: the last reload of the policies failed")
	b.press("5")
	for _, part := range []string{"the last reload failed: the policies before it stay in force", "policies/env.rego:12: rego_parse_error",
		"not ready isolated · no user namespaces", "session agent:main:7 · 2 hosts · 1 refusal",
		s.Policies.Revision, "version 1.2.3", "you are ana by uid:1000 in security",
		"hermes unix:///run/bailiff/agent.sock for telegram, discord",
		"telegram connected approvals in -1001, commands", "slack reaches nobody commands · the token is not valid"} {
		b.awaitText("#system", part)
	}
	b.picture("system")
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
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"scope": "once"}'})`,
			o.base()+"/v1/approvals/"+id+"/approve"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', credentials: 'include', headers: {'Bailiff-Token': 'x'}, body: '{}'})`,
			o.base()+"/v1/approvals/"+id+"/approve"),
		fmt.Sprintf(`fetch(%q, {mode: 'no-cors', credentials: 'include'}).then((r) => r.text()).then((t) => { if (t) throw t })`,
			o.base()+"/v1/approvals"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"token": "x"}'})`, o.base()+"/login"),
		fmt.Sprintf(`fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include'})`, o.base()+"/logout"),
	} {
		outcome, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](request+
			`.then((r) => 'status ' + (r?.status ?? '')).catch((e) => 'failed')`, chromedp.EvalAwaitPromise))
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
	awaittest.Until(t, "the frame shows something", func() bool {
		for _, child := range call(b, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
			framed = child.Frame.URL
		}
		return framed != ""
	})
	if !strings.HasPrefix(framed, "chrome-error://") {
		t.Errorf("the frame shows %s", framed)
	}
}
