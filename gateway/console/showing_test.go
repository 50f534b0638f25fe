package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

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
		"This deletes a folder with all that is in it. command.deletes_recursively found ./build Without asking: Delete the files by " +
			"their names.", "Standard input", "2 lines, 43 characters",
		"docker for the session", "debian@sha256:5f2c1b8a90d74c3e", "only to github.com:443", "/srv/cache at /cache read only",
		"180 s, 5120 MB, 1 CPU", "folder /workspace",
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

func TestAConnectionThatWaitsIsShownWithHowLongItStillDoes(t *testing.T) {
	o := serve(t)
	held := func(until time.Duration) func(*bailiff.Claim) {
		return func(c *bailiff.Claim) { c.HeldUntil = time.Now().Add(until) }
	}
	to := func(host string) func(*bailiff.Claim) {
		return reasons(bailiff.Reason{Rule: "egress.new_host", Message: "No row names this host.", Match: host})
	}
	o.ask(t, claim("curl one.test", to("one.test:443"), held(time.Hour)))
	b := o.login(t, "ana")
	b.awaitApproval("curl one.test")
	b.awaitText("#detail", "The request runs already. Its connection to one.test:443 waits for the answer, for 59:")
	o = serve(t)
	o.ask(t, claim("curl two.test", to("two.test:443"), held(-time.Second)))
	b = o.login(t, "ana")
	b.awaitApproval("curl two.test")
	b.awaitText("#detail", "The connection to two.test:443 was refused for want of an answer.")
}

func TestACallOfAScriptIsShownWithItsArguments(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("", reasons(bailiff.Reason{Rule: "tool.called", Message: "A script calls a tool of the agent.", Match: "send_mail"}),
		func(c *bailiff.Claim) {
			c.Request.Tool, c.Request.Args = bailiff.Call, bailiff.Args{Name: "send_mail", Arguments: `{"to":"eve@example.com"}`}
		}))
	b := o.login(t, "ana")
	b.awaitApproval("eve@example.com")
	for _, part := range []string{"wants a script to call send_mail", "Arguments for send_mail", `{"to":"eve@example.com"}`,
		"tool.called found send_mail"} {
		b.awaitText("#detail", part)
	}
}

func TestWhatAScriptMayCallIsShown(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("", func(c *bailiff.Claim) {
		c.Request.Tool, c.Request.Args, c.Decision.Tools = bailiff.ExecuteCode, bailiff.Args{Code: "print('./build')"},
			[]string{"terminal", "web_search"}
	}))
	b := o.login(t, "ana")
	b.awaitApproval("print('./build')")
	b.awaitText("#detail", "may call terminal, web_search")
}

func TestMarksAndOffsetsAgreeInEveryScript(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("echo 'Grüße 漢字 🎉' && rm -rf ./build # ende", reasons(
		bailiff.Reason{Rule: "a", Message: "It deletes.", Match: "rm -rf ./build"}, bailiff.Reason{Rule: "b", Message: "It says so.",
			Match: "漢字 🎉"})))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	if got := is[[]string](b, `[...document.querySelectorAll('#detail mark')].map((e) => e.textContent)`); !slices.Equal(got,
		[]string{"漢字 🎉", "rm -rf ./build"}) {
		t.Errorf("marked are %q", got)
	}
}

func TestWhatCannotBeSeenIsShown(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
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
		id := o.ask(t, claim(c.text, inSession(c.name), func(of *bailiff.Claim) { of.Request.Session.UserID = c.name }))
		b.await(`document.querySelector('#detail pre')`)
		if got := b.text("#detail pre"); got != c.shows {
			t.Errorf("%s: shows %.200q", c.name, got)
		}
		if n := is[int](b, `document.querySelectorAll('#detail pre span').length`); n > 2000 {
			t.Errorf("%s: it costs %d elements", c.name, n)
		}
		o.deny(t, b, id)
	}
}

// deny answers what waits, and has the page choose what comes next.
func (o *office) deny(t *testing.T, b *tab, id string) {
	t.Helper()
	if _, err := o.book.Answer(t.Context(), id, person("eve"), bailiff.Verdict{}); err != nil {
		t.Fatal(err)
	}
	b.await(`document.title === 'bailiff console'`)
	b.run(chromedp.Reload())
	b.await(`document.body.dataset.live === 'yes'`)
}

func TestLongTextsDoNotStopThePage(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
	for name, piece := range map[string]string{
		"letters": "x", "words": "word ", "lines": "x\n", "overrides": "\u202e", "marks": "a\u0301\u0301\u0301\u0301\u0301",
		"accents": "é", "almost empty lines": strings.Repeat(" ", 32) + "\n\n\nx",
		"blanks": " \t", "matches": "./build ",
	} {
		text := strings.Repeat(piece, (1<<19)/len(piece)) + "the end"
		id := o.ask(t, claim(text, inSession(name), func(c *bailiff.Claim) { c.Request.Session.UserID = name }))
		b.awaitApproval("the end")
		o.deny(t, b, id)
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
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `javascript:alert(1)`,
	`</pre><iframe srcdoc="<script>alert(1)</script>">`, `'-alert(1)-'`, `${alert(1)}`, `{{alert(1)}}`,
}

func TestNoTextOfARequestIsMarkup(t *testing.T) {
	o := serve(t)
	o.past = pasts(hostile)
	o.sidecar.status.Warnings = hostile
	o.sidecar.status.Policies.OK, o.sidecar.status.Policies.Faults = false, hostile
	for _, text := range hostile {
		o.sidecar.status.Chat = append(o.sidecar.status.Chat, api.ServiceStatus{Service: text, Approvals: true, At: text, Message: text})
	}
	for i, text := range hostile {
		o.ask(t, claim(text, func(c *bailiff.Claim) {
			r, d := &c.Request, &c.Decision
			r.Session = bailiff.Session{ID: text, Platform: text, ChatType: text, ChatID: text, ThreadID: text, UserID: text,
				UserName: text, Profile: text}
			r.Caller, r.Peer, r.Args.Stdin, r.Args.Workdir, r.Env = text, text, text, text, []string{text}
			d.Approval.Reasons = []bailiff.Reason{{Rule: text, Message: text, Match: text, Instead: text}}
			d.Backend.Name, d.Backend.Image, d.Backend.Scope, d.Backend.Egress, d.Revision = text, text, text, []string{text}, text
			d.Backend.Runtime = text
			d.Backend.Mounts = []bailiff.Mount{{Source: text, Target: text}}
			d.Env = bailiff.EnvTerms{Forward: []string{text}, Withheld: []bailiff.Withheld{{Name: text, Rule: text}},
				Set: map[string]string{text: text}, Sealed: []string{text}}
			c.DecisionID, c.Files = fmt.Sprint(text, i), []bailiff.File{{Path: text, SHA256: text}}
		}))
	}
	granted := o.ask(t, claim(hostile[1], inSession(hostile[1]),
		reasons(bailiff.Reason{Rule: hostile[1], Message: hostile[1], Match: hostile[1]})))
	if _, err := o.book.Answer(t.Context(), granted, person(hostile[1]), bailiff.Verdict{Approve: true, Scope: "session",
		Reason: hostile[0]}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.book.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "other" + hostile[2], Reason: hostile[1],
		By: hostile[1]}); err != nil {
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
	for n := 2; n <= 6; n++ {
		b.press(fmt.Sprint(n))
	}
	b.showsReport()
	b.awaitText("#report", hostile[0])
	b.showsSession()
	b.awaitText("#session-body .timeline", hostile[0])
	b.press(kb.Escape)
	if v := b.violations(); len(v) > 0 {
		t.Errorf("the page's policy stopped %q", v)
	}
	if n := is[int](b, `document.querySelectorAll(':is(#app, #session) :is(script, iframe, [onerror], [onload], `+
		`img:not([src="/icon.svg"]), a)').length`); n > 0 {
		t.Errorf("%d elements were made of text", n)
	}
	b.press("1")
	b.awaitText("#detail", hostile[7])
}

// Requests about which people were to be asked and were not are told from those that wait for an answer.
func TestRequestsThatAreTurnedAwayAreToldAsSuch(t *testing.T) {
	o := serve(t)
	o.ask(t, claim("rm -r waits"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -r waits")
	if !is[bool](b, `document.querySelector('#turned-away').hidden`) {
		t.Error("without one there is a banner")
	}
	c := claim("rm -r away")
	backendtest.Must(t, o.log.Record(t.Context(), api.Event{DecisionID: c.DecisionID, Timestamp: time.Now().UTC(), Input: c.Input,
		Result: c.Decision, Custom: api.Custom{Event: api.DecisionEvent}}))
	o.log.Note(api.Event{DecisionID: c.DecisionID, Timestamp: time.Now().UTC(), Custom: api.Custom{Event: api.ExecutionEvent,
		Status: bailiff.Unavailable, Message: `Asking for approval: user "42" has 5 approvals pending.`}})
	b.awaitText("#turned-away", "1 request of the last ten minutes was not asked about: Asking for approval: user")
	b.click("#tab-activity")
	b.awaitText("#activity", "not asked rm -r away")
	b.awaitText("#activity", "waiting rm -r waits")
}

func TestNothingEmptyIsShownOfWhatHasNoImage(t *testing.T) {
	o := serve(t)
	o.sidecar.status.Platforms = []api.PlatformStatus{{Platform: "cli", Backend: "bubblewrap", Isolated: true}}
	o.sidecar.noImage = true
	b := o.login(t, "ana")
	for _, view := range []string{"system", "sandboxes"} {
		b.click("#tab-" + view)
		b.awaitText("#view-"+view, "bubblewrap")
		boxes := `[...document.querySelectorAll('#view-` + view + ` code')]`
		if empty := is[int](b, boxes+`.filter((c) => !c.textContent.trim()).length`); empty > 0 {
			t.Errorf("%s shows %d empty boxes", view, empty)
		}
	}
}

// Who changes a project by hand while a command runs does not read the answer that tells of it.
func TestWhatWasPutBackInAProjectIsToldToThePerson(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
	b.click("#tab-system")
	b.awaitText("#system", "Policies")
	if said := b.text("#system"); strings.Contains(said, "Put back") {
		t.Errorf("before anything was it says %s", said)
	}
	o.log.Note(api.Event{DecisionID: "d1", Timestamp: time.Now().UTC(), Custom: api.Custom{Event: api.ExecutionEvent, Session: "s1",
		Status: bailiff.Completed, Message: "Put back, since programs start by it later and the change was not asked about: " +
			"/src/.claude (the changed one is .claude.refused)."}})
	b.run(chromedp.Reload())
	b.click("#tab-system")
	b.awaitText("#system", "/src/.claude (the changed one is .claude.refused). · session s1")
}
