package console

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// browser is one Chromium for all tests; each gets a profile of its own in it. Without the windows of a desktop, of which a new profile
// takes seconds.
var browser struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(browser.stop) - 1; i >= 0; i-- {
		browser.stop[i]()
	}
	os.Exit(code)
}

func startBrowser() {
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		browser.err = err
		return
	}
	folder, err := os.MkdirTemp("", "bailiff-chromium")
	if err != nil {
		browser.err = err
		return
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(folder), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"),
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser.stop = []func(){func() { _ = os.RemoveAll(folder) }, stop, cancel}
	browser.ctx, browser.err = ctx, chromedp.Do(ctx)
}

// tab is a page of a browser, whose profile knows nothing yet. What goes wrong in
// it fails its test.
type tab struct {
	ctx    context.Context
	t      testing.TB
	clicks int

	mu      sync.Mutex
	dialogs []string
	thrown  []string
}

// watchViolations remembers what the page's policy stopped.
const watchViolations = `window.violations = []; addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective ` +
	`+ ' ' + e.blockedURI))`

// keepToasts remembers what toasts said: each stays for a few seconds only.
const keepToasts = `window.toasts = []; new MutationObserver((changes) => { for (const c of changes) for (const n of c.addedNodes) ` +
	`if (n.classList?.contains('toast') && n.checkVisibility()) toasts.push(n.innerText.replace(/\s+/g, ' ')) })` +
	`.observe(document, {childList: true, subtree: true})`

// openTab opens a tab. Where a browser is required, its absence is a failure.
func openTab(t testing.TB) *tab {
	t.Helper()
	backendtest.Starts(t)
	browser.once.Do(startBrowser)
	switch {
	case browser.err == nil:
	case os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "":
		t.Fatalf("Chromium is required here, run scripts/install-deps: %v", browser.err)
	default:
		t.Skipf("SKIPPED WITHOUT CHROMIUM: run scripts/install-deps: %v", browser.err)
	}
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithDeadline(ctx, awaittest.End(t))
	t.Cleanup(stop)
	b.ctx = ctx
	for _, script := range []string{watchViolations, keepToasts} {
		call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	}
	b.run(chromedp.EmulateViewport(1280, 860))
	t.Cleanup(b.check)
	return b
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, e.Message)
	case *runtime.EventExceptionThrown:
		b.thrown = append(b.thrown, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	}
}

// check fails the test if a script opened a dialog or failed.
func (b *tab) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.dialogs)+len(b.thrown) > 0 {
		b.t.Errorf("the page opened dialogs %q and threw %q", b.dialogs, b.thrown)
	}
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%v; the page shows:\n%s", err, b.shows())
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], parameters P) R {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, command,
			parameters)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *tab) open(url string) { b.t.Helper(); b.run(chromedp.Navigate(url)) }

// shows is the page's text, for messages.
func (b *tab) shows() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body?.innerText ?? ''`))
	if err != nil {
		return err.Error()
	}
	return text
}

// is evaluates an expression.
func is[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// await waits until an expression is true. A page that is just being left answers
// nothing; the one after it will.
func (b *tab) await(expression string) {
	b.t.Helper()
	var err error
	fault := func() string { return fmt.Sprintf("%s (%v); the page shows:\n%s", expression, err, b.shows()) }
	awaittest.UntilOr(b.t, fault, func() (is bool) {
		is, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return err == nil && is
	})
}

// awaitText waits until a visible element's text, in which spaces are single,
// contains another, whatever their case.
func (b *tab) awaitText(selector, part string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`((e) => e?.checkVisibility() && e.innerText.replace(/\s+/g, ' `+
		`').toLowerCase().includes(%s.toLowerCase()))(document.querySelector(%s))`, quoted(part), quoted(selector)))
}

// awaitToast waits until a toast that was not awaited yet says this.
func (b *tab) awaitToast(part string) {
	b.t.Helper()
	b.await(fmt.Sprintf(`((n) => n >= 0 && toasts.splice(0, n + 1))(toasts.findIndex((t) => t.includes(%s)))`, quoted(part)))
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return is[string](b, fmt.Sprintf(`document.querySelector(%s)?.textContent ?? ''`, quoted(selector)))
}

// settle waits until no question is being carried out: the page may tell what came of it before the question closes, and until then
// keys and clicks reach nothing behind it.
func (b *tab) settle() {
	b.t.Helper()
	b.await(`!document.querySelector('dialog[open] [aria-busy=true]')`)
}

// click clicks with the mouse where what is visible and enabled lies, once nothing lies over it: as a hand does, for which an element
// that was drawn anew meanwhile is the same one.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.settle()
	b.await(fmt.Sprintf(`((e) => {
		if (!e || e.disabled || !e.checkVisibility() || getComputedStyle(e).pointerEvents === 'none') return false;
		const place = () => e.getClientRects()[0];
		const seen = place();
		if (seen.top < 0 || seen.left < 0 || seen.bottom > innerHeight || seen.right > innerWidth)
			e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
		const at = place();
		globalThis.hand = [at.x + at.width / 2, at.y + at.height / 2];
		return e.contains(document.elementFromPoint(...hand));
	})(document.querySelector(%s))`, quoted(selector)))
	at := is[[]float64](b, "hand")
	b.run(chromedp.MouseClickXY(at[0], at[1]))
	b.clicks++
}

// press types keys, wherever the focus is: as a keyboard does, where a key that
// the page takes for itself writes nothing.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.settle()
	for _, key := range keys {
		strokes := kb.Encode(key)
		down, up := *strokes[0], *strokes[len(strokes)-1]
		if len(strokes) == 3 {
			down.Text, down.UnmodifiedText = strokes[1].Text, strokes[1].UnmodifiedText
		}
		call(b, input.DispatchKeyEvent, down)
		call(b, input.DispatchKeyEvent, up)
	}
}

// violations are what the page's policy stopped.
func (b *tab) violations() []string { b.t.Helper(); return is[[]string](b, `window.violations`) }

// picture writes what the page looks like, if the environment names a folder for
// that.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("BAILIFF_SHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// login opens a console as somebody.
func (o *office) login(t testing.TB, name string) *tab {
	t.Helper()
	b := openTab(t)
	url, _ := o.Link(person(name))
	b.open(url)
	b.await(`document.body.dataset.live === 'yes'`)
	return b
}

func quoted(text string) string {
	quoted, err := json.Marshal(strings.ToValidUTF8(text, "?"))
	if err != nil {
		panic(err) // a string: cannot fail
	}
	return string(quoted)
}
