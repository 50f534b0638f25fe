package console

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/login/securitykey"
)

// serveWithKeys serves a console under a name, whose only route wants a security key.
func serveWithKeys(t *testing.T, change ...func(*Config)) *office {
	t.Helper()
	keys, err := securitykey.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := serve(t, append([]func(*Config){func(c *Config) { c.Address, c.Keys = "localhost:0", keys }}, change...)...)
	o.way.proof = bailiff.ProofWebAuthn
	return o
}

// plugIn gives the browser a security key, whose owner touches it whenever it is asked for.
func (b *tab) plugIn() webauthn.AuthenticatorID {
	b.t.Helper()
	call(b, webauthn.Enable, webauthn.EnableParams{})
	return call(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb, AutomaticPresenceSimulation: true,
	}}).AuthenticatorID
}

// register registers a key by the page.
func (b *tab) register(name string) {
	b.t.Helper()
	b.press("5")
	b.click("#add-key")
	b.press(name + kb.Enter)
	b.awaitText("#own-keys", name)
	b.press("1")
}

// asks runs what a page of the console could, with ask, get and the approval's id and digest at hand, and returns the
// code of the refusal; empty if there is none.
func (b *tab) asks(script string) string {
	b.t.Helper()
	code, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`(async () => {
		const { ask } = await import('/server.js')
		const get = (begun) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(begun.get) })
		const begin = (id, digest) => ask('POST', '/keys/begin', { do: 'answer', approval: id, yes: { scope: 'once', digest } })
		const end = ({ ceremony }, response) => ask('POST', '/keys/end', { ceremony, response })
		try { `+script+` } catch (error) { return error.code ?? String(error) }
		return ''
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

// responses counts what the console tells of the responses of keys.
type responses struct{ counted, refused atomic.Int64 }

func (r *responses) add(counts bool) {
	if counts {
		r.counted.Add(1)
	} else {
		r.refused.Add(1)
	}
}

func (r *responses) are(t *testing.T, counted, refused int64) {
	t.Helper()
	if c, n := r.counted.Load(), r.refused.Load(); c != counted || n != refused {
		t.Errorf("%d responses counted and %d were refused, want %d and %d", c, n, counted, refused)
	}
}

func TestAnAnswerIsConfirmedByTheSecurityKeyOfThePerson(t *testing.T) {
	var logins int
	var told responses
	o := serveWithKeys(t, func(c *Config) {
		c.Proved, c.Counted = told.add, func(string, bool) { logins++ }
	})
	id, other := o.ask(t, claim("rm -rf ./build")), o.ask(t, claim("rm -rf ./dist"))
	b := o.login(t, "ana")
	b.awaitApproval("rm -rf ./build")
	b.press("a" + kb.Enter)
	b.awaitText("#confirm-error", "You have no security key")
	b.press(kb.Escape)
	b.plugIn()
	b.register("blue key")
	b.click(`[data-id="` + id + `"]`)
	b.awaitApproval("rm -rf ./build")
	b.press("a" + kb.Enter)
	b.awaitToast("Approved")
	e := o.entry(t, id)
	if v := e.Votes[0]; e.State != bailiff.ApprovalApproved || v.Person != "ana" || !strings.HasPrefix(v.Proof, "webauthn:") {
		t.Errorf("%s: %+v", e.State, e.Votes)
	}
	grants := o.book.Grants()
	if len(grants) != 1 || !strings.Contains(grants[0].Via, "uid:1000 on console by link with webauthn:") || grants[0].Proof == "" {
		t.Errorf("the grants are %+v", grants)
	}
	b.awaitApproval("rm -rf ./dist")
	b.press("d")
	b.awaitText("#confirm", "Deny?")
	b.press("no" + kb.Enter)
	b.awaitToast("Denied")
	if e := o.entry(t, other); e.State != bailiff.ApprovalDenied || e.Votes[0].Proof == "" || e.Votes[0].Reason != "no" {
		t.Errorf("%s: %+v", e.State, e.Votes)
	}
	b.press("5")
	b.awaitText("#own-keys", "last used")
	b.picture("keys")
	told.are(t, 3, 0) // of the registration and two answers; that none can be asked for is no response
	if logins != 1 || len(b.violations()) > 0 {
		t.Errorf("%d logins, the page's policy stopped %v", logins, b.violations())
	}
}

func TestASecondKeyAndARemovalAreConfirmedByOneThatIsThere(t *testing.T) {
	var told responses
	o := serveWithKeys(t, func(c *Config) { c.Proved = told.add })
	b := o.login(t, "ana")
	if code := b.asks(`await end(await ask('POST', '/keys/begin', { do: 'add', name: 'x' }), {})`); code != "key_refused" {
		t.Errorf("a registration without a key: %q", code)
	}
	first := b.plugIn()
	if code := b.asks(`window.early = await ask('POST', '/keys/begin', { do: 'add', name: 'early' })`); code != "" {
		t.Fatal(code)
	}
	b.register("first key")
	if code := b.asks(`const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(early.create)
		await end(early, (await navigator.credentials.create({ publicKey })).toJSON())`); code != "key_refused" {
		t.Errorf("a key that began as the first: %q", code)
	}
	call(b, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: first})
	b.press("5")
	if code := b.asks(`await ask('POST', '/keys/end', { ceremony: (await ask('POST', '/keys/begin', { do: 'add', name: 'x' })).ceremony,
		response: {} })`); code != "key_refused" {
		t.Errorf("a second key without the first: %q", code)
	}
	call(b, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: first, Enabled: true})
	if code := b.asks(`const one = await ask('POST', '/keys/begin', { do: 'add', name: 'second key' })
		window.begun = await end(one, (await get(one)).toJSON())`); code != "" {
		t.Fatal(code)
	}
	call(b, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: first})
	b.plugIn()
	if code := b.asks(`const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.create)
		await end(begun, (await navigator.credentials.create({ publicKey })).toJSON())`); code != "" {
		t.Fatal(code)
	}
	b.press("15")
	b.awaitText("#own-keys", "second key")
	b.click(`[aria-label="Remove the key first key"]`)
	b.click("#confirm-yes")
	b.await(`!document.querySelector('#own-keys').innerText.includes('first key')`)
	b.awaitText("#own-keys", "second key")
	told.are(t, 4, 3) // two registrations, the question before the second, and the removal; the three that must fail
}

func TestAResponseCountsOnceForItsApprovalInItsSession(t *testing.T) {
	o := serveWithKeys(t)
	first, second := o.entry(t, o.ask(t, claim("rm -rf ./build"))), o.entry(t, o.ask(t, claim("rm -rf ./dist")))
	ana, ben := o.login(t, "ana"), o.login(t, "ben")
	anas := ana.plugIn()
	ana.register("ana's")
	ben.plugIn()
	ben.register("ben's")
	begin := func(e string) string {
		return fmt.Sprintf("await begin(%s, %s)", quoted(e), quoted(o.entry(t, e).Digest))
	}
	for name, script := range map[string]string{
		"another approval's challenge": `const one = ` + begin(first.ID) + `, two = ` + begin(second.ID) + `
			await end(two, (await get(one)).toJSON())`,
		"a question of no one": `const one = ` + begin(first.ID) + `
			await end({ ceremony: 'x' }, (await get(one)).toJSON())`,
		"another origin": `const one = ` + begin(first.ID) + `, given = (await get(one)).toJSON()
			const said = JSON.parse(atob(given.response.clientDataJSON.replaceAll('-', '+').replaceAll('_', '/')))
			given.response.clientDataJSON = btoa(JSON.stringify({ ...said, origin: 'https://evil.example.com' }))
			await end(one, given)`,
		"a response that failed once": `const one = ` + begin(first.ID) + `, given = (await get(one)).toJSON()
			await end(one, { ...given, response: { ...given.response, signature: 'MAA' } }).catch(() => {})
			await end(one, given)`,
	} {
		if code := ana.asks(script); code != "key_refused" {
			t.Errorf("%s: %q", name, code)
		}
	}
	if code := ana.asks(`window.one = ` + begin(first.ID) + `; window.given = (await get(one)).toJSON()`); code != "" {
		t.Fatal(code)
	}
	handed := is[string](ana, `JSON.stringify({ one, given })`)
	if code := ben.asks(`const { one, given } = ` + handed + `; await end(one, given)`); code != "key_refused" {
		t.Errorf("in another person's session: %q", code)
	}
	if code := ben.asks(`const one = ` + begin(first.ID) + `, { given } = ` + handed + `; await end(one, given)`); code != "key_refused" {
		t.Errorf("another person's key: %q", code)
	}
	for _, c := range call(ana, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: anas}).Credentials {
		if c.RpID != "localhost" {
			t.Errorf("the key is of %s", c.RpID)
		}
	}
	for _, e := range []string{first.ID, second.ID} {
		if o.entry(t, e).State != bailiff.ApprovalPending {
			t.Fatalf("what was refused answered: %+v", o.entry(t, e).Votes)
		}
	}
	if code := ana.asks(`await end(one, given)`); code != "" {
		t.Errorf("the right one: %q", code)
	}
	if code := ana.asks(`await end(one, given)`); code != "key_refused" {
		t.Errorf("replayed: %q", code)
	}
	if code := ana.asks(`await end(` + begin(second.ID) + `, given)`); code != "key_refused" {
		t.Errorf("replayed for another approval: %q", code)
	}
	one, two := o.entry(t, first.ID), o.entry(t, second.ID)
	if one.State != bailiff.ApprovalApproved || two.State != bailiff.ApprovalPending {
		t.Errorf("%s and %s", one.State, two.State)
	}
}

func TestWhereNoKeyCanBeAskedForThePageSaysWhy(t *testing.T) {
	o := serve(t)
	b := o.login(t, "ana")
	b.press("5")
	b.awaitText("#own-keys", "Security keys want a console with a name: set operator.tls in bailiff.yaml")
	named := serveWithKeys(t)
	url, _ := named.Link(person("ana"))
	b.open(strings.Replace(url, "localhost", "127.0.0.1", 1))
	b.await(`document.body.dataset.live === 'yes'`)
	b.press("5")
	b.awaitText("#own-keys", "Security keys answer to "+named.base()+" only")
	w := httptest.NewRecorder()
	named.enterDevice(w, person("ana"))
	_, token, _ := strings.Cut(w.Body.String(), `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	r := httptest.NewRequest(http.MethodPost, "/keys/begin", strings.NewReader(`{"do": "add", "name": "x"}`))
	r.Host = named.host
	r.Header.Set("Authorization", "Bearer "+token)
	w = httptest.NewRecorder()
	named.ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "in a browser only") {
		t.Errorf("on a command line: %d %s", w.Code, w.Body)
	}
}
