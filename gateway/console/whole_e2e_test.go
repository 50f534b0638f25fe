package console

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/login/logintest"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// whole is a sidecar in a process of its own, whose console is called by its name.
type whole struct {
	*apptest.Sidecar
	base string
}

// serveWhole serves one. What else its operators' section says follows, as do other sections.
func serveWhole(t *testing.T, operator string, sections ...string) *whole {
	t.Helper()
	_, port, _ := strings.Cut(porttest.Address(t), ":")
	w := &whole{base: "http://localhost:" + port}
	w.Sidecar = apptest.Serve(t, append(sections,
		fmt.Sprintf("operator: {listen: <operator>, allow_same_user: true, console: %q%s}", "localhost:"+port, operator))...)
	return w
}

// enter opens its console in a tab, by a link that the operator asks for.
func (w *whole) enter(t *testing.T, b *tab) {
	t.Helper()
	link, err := w.Operators(t).ConsoleLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.open("about:blank") // a new fragment alone loads no page
	b.open(link.URL)
	b.await(`document.body.dataset.live === 'yes'`)
}

// asked is a request of an agent's that a person must answer.
type asked struct {
	id    string
	ended chan ended
}

type ended struct {
	api.Answer
	err error
}

// ask sends a command, and returns when people are asked about it.
func (w *whole) ask(t *testing.T, command string) *asked {
	t.Helper()
	a, pending := &asked{ended: make(chan ended, 1)}, make(chan string, 1)
	req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, WaitSeconds: 120,
		Session: bailiff.Session{ID: "s1", Platform: "telegram", ChatType: "dm", ChatID: "42", UserID: "42"}}
	agent, ctx := w.Client(t), t.Context()
	go func() {
		answer, err := agent.Execute(ctx, req, client.News{Approval: func(a api.Approval) {
			if a.State == bailiff.ApprovalPending {
				pending <- a.ID
			}
		}})
		a.ended <- ended{answer, err}
	}()
	select {
	case a.id = <-pending:
	case e := <-a.ended:
		t.Fatalf("no person was asked: %s (%s), %v", e.Status, e.Message, e.err)
	}
	return a
}

// prints wants the request to have run to its end, and to have printed this.
func (a *asked) prints(t *testing.T, want string) {
	t.Helper()
	e := <-a.ended
	if e.err != nil || e.Status != bailiff.Completed || e.Output != want {
		t.Errorf("it ended as %s (%s), %v, and printed %q; want %q", e.Status, e.Message, e.err, e.Output, want)
	}
}

// answers are the ways by which the answers to an approval came, as its events in the decision log say, each once.
func (w *whole) answers(t *testing.T, id string) (via []string) {
	t.Helper()
	state := filepath.Join(filepath.Dir(w.Config), "state")
	if err := audit.Read(t.Context(), []string{state}, func(_ string, _ int, text []byte) error {
		line, err := api.ReadLine(text)
		if a := line.Custom.Approval; err == nil && line.Custom.Event == api.ApprovalEvent && a.ID == id && a.Via != "" {
			via = append(via, a.Via)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return slices.Compact(via)
}

const keyedRoutes = `approvals: {routes: [{name: grave, when: 'request.args.command.startsWith("rm ")', proof: webauthn}, {name: rest}]}`

func TestAWholeSidecarRunsWhatASecurityKeyApproved(t *testing.T) {
	w := serveWhole(t, "", keyedRoutes, apptest.WithRules(t, apptest.AskedAbout))
	first := w.ask(t, "rm -r asked-about 2>/dev/null; echo ran")
	const socket = "route grave takes answers by console only, with a security key"
	if _, err := w.Operators(t).Approve(t.Context(), first.id, bailiff.ScopeOnce); err == nil || !strings.Contains(err.Error(), socket) {
		t.Errorf("on the operators' socket: %v, want %q", err, socket)
	}
	b := openTab(t)
	w.enter(t, b)
	b.awaitApproval("rm -r asked-about")
	b.press("a" + kb.Enter)
	b.awaitText("#confirm-error", "You have no security key that counts at localhost")
	b.press(kb.Escape)
	if shown, err := w.Operators(t).Approval(t.Context(), first.id); err != nil ||
		shown.Approval.State != bailiff.ApprovalPending || len(shown.Approval.Votes) > 0 {
		t.Fatalf("without a key it is %+v, %v", shown.Approval, err)
	}
	b.plugIn()
	b.register("blue key")
	b.click(`[data-id="` + first.id + `"]`)
	w.approves(t, b, first, "rm -r asked-about", "ran\n")

	w.Stop()
	w.Start(t)
	second := w.ask(t, "rm -r asked-about-again 2>/dev/null; echo ran again")
	w.enter(t, b)
	w.approves(t, b, second, "rm -r asked-about-again", "ran again\n")

	b.showsReport()
	b.awaitText("#report", "bubblewrap 2 0")
	b.picture("whole-report")
	b.showsSession()
	b.awaitText("#session-body", "requests 2 within a day")
	b.awaitText("#session-body .timeline", "rm -r asked-about-again")
	b.picture("whole-session")
}

// approves has the person approve what waits with their one key, wants it to run, and the decision log to name the key.
func (w *whole) approves(t *testing.T, b *tab, a *asked, command, prints string) {
	t.Helper()
	b.awaitApproval(command)
	b.press("a" + kb.Enter)
	b.awaitToast("Approved")
	a.prints(t, prints)
	keys, err := filepath.Glob(filepath.Join(filepath.Dir(w.Config), "state", "keys", "*.json"))
	if err != nil || len(keys) != 1 {
		t.Fatalf("the keys are %q, %v", keys, err)
	}
	want := fmt.Sprintf("uid:%d on console by link with webauthn:%s", os.Getuid(), strings.TrimSuffix(filepath.Base(keys[0]), ".json"))
	if via := w.answers(t, a.id); len(via) != 1 || via[0] != want {
		t.Errorf("the decision log says %q, want %q", via, want)
	}
}

// Between a browser that knows nothing and the first answer are a click to the provider, the one on its page, and two here.
func TestThreeClicksHereApproveFromTheLoginOn(t *testing.T) {
	provider := logintest.Open(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(logintest.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	oidc := fmt.Sprintf(", oidc: {issuer: %q, client_id: %s, client_secret: {file: %q}}", provider.URL, logintest.ClientID, secret)
	w := serveWhole(t, oidc,
		"people: [{name: ana, oidc: [ana-at-work]}]", apptest.WithRules(t, apptest.AskedAbout))
	a := w.ask(t, "echo asked-about")
	b := openTab(t)
	b.open(w.base)
	b.awaitText("#login-provider", "Log in with "+strings.TrimPrefix(provider.URL, "http://"))
	b.click("#login-provider a")
	b.click("#in")
	b.awaitApproval("echo asked-about")
	b.click(`[data-act="once"]`)
	b.click("#confirm-yes")
	b.awaitToast("Approved")
	a.prints(t, "asked-about\n")
	if b.clicks != 4 {
		t.Errorf("it took %d clicks, want 4: 3 here and 1 at the provider", b.clicks)
	}
	if via := w.answers(t, a.id); len(via) != 1 || via[0] != "oidc:ana-at-work on console by oidc" {
		t.Errorf("the decision log says %q", via)
	}
	if violations := b.violations(); len(violations) > 0 {
		t.Errorf("the page's policy stopped %q", violations)
	}
}
