package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// reader reads the site of this repository from a folder, in a Chromium.
type reader struct {
	ctx  context.Context
	site *site
	base string
	t    *testing.T
}

// required ends the test where what it needs is not there; it fails where everything must be.
func required(t *testing.T, what string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "":
		t.Fatalf("%s is required here: %v", what, err)
	default:
		t.Skipf("SKIPPED WITHOUT %s: %v", what, err)
	}
}

func read(t *testing.T) *reader {
	t.Helper()
	chromium, err := exec.LookPath("chromium-headless-shell")
	required(t, "CHROMIUM (run scripts/install-deps)", err)
	r := &reader{site: repositorysSite(t), t: t, base: "file://" + t.TempDir() + "/site/"}
	if err := r.site.write(strings.TrimPrefix(r.base, "file://")); err != nil {
		t.Fatal(err)
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()), chromedp.Headless,
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-background-networking", true)}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	end, ends := t.Deadline()
	if !ends {
		end = time.Now().Add(time.Hour)
	}
	r.ctx, stop = context.WithDeadline(ctx, end.Add(-5*time.Second)) // so that a test that waits in vain says for what
	t.Cleanup(stop)
	return r
}

func (r *reader) run(actions ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	if err := chromedp.Do(r.ctx, actions...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) open(address string) { r.t.Helper(); r.run(chromedp.Navigate(r.base + address)) }

func call[P, R any](r *reader, command cdp.Command[P, R], parameters P) {
	r.t.Helper()
	if _, err := chromedp.Run(r.ctx, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, command, parameters)
	}); err != nil {
		r.t.Fatal(err)
	}
}

func is[T any](r *reader, expression string) T {
	r.t.Helper()
	value, err := chromedp.Run(r.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		r.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func (r *reader) await(expression string) {
	r.t.Helper()
	for ; ; time.Sleep(10 * time.Millisecond) {
		done, err := chromedp.Run(r.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && done {
			return
		}
		if r.ctx.Err() != nil {
			r.t.Fatalf("this never came true: %s (%v)", expression, err)
		}
	}
}

// press types keys, wherever the focus is: one that the page takes for itself writes nothing.
func (r *reader) press(keys string) {
	r.t.Helper()
	for _, key := range keys {
		strokes := kb.Encode(key)
		down, up := *strokes[0], *strokes[len(strokes)-1]
		if len(strokes) == 3 {
			down.Text, down.UnmodifiedText = strokes[1].Text, strokes[1].UnmodifiedText
		}
		call(r, input.DispatchKeyEvent, down)
		call(r, input.DispatchKeyEvent, up)
	}
}

func TestThePagesAreFoundByKeysWithoutAServer(t *testing.T) {
	r := read(t)
	r.open("docs/approvals.html")
	r.press("/")
	r.await(`document.activeElement.id === 'find'`)
	r.press("break-glass order")
	r.await(`document.querySelector('#hits a')`)
	r.press(kb.Escape)
	r.await(`document.querySelector('#results').hidden && document.activeElement.value === ''`)
	r.press("shipped signed heads nonsense")
	r.await(`document.querySelector('#count').textContent === '0 places'`)
	r.press(kb.Escape + "words that are not used")
	r.await(`document.querySelector('#hits a')?.textContent === 'Words: Words that are not used'`)
	r.press(kb.Tab)
	r.await(`document.activeElement.closest('#hits') && getComputedStyle(document.activeElement).outlineStyle === 'solid'`)
	r.press(kb.Enter)
	r.await(`location.href.endsWith('/docs/words.html#words-that-are-not-used') && document.querySelector('h1').textContent === 'Words'`)
}

func TestASearchFindsThePageThatIsAboutItFirstAndShowsWholeWords(t *testing.T) {
	r := read(t)
	r.open("index.html")
	r.press("/approval timeout")
	r.await(`document.querySelector('#hits a')`)
	first := is[[]string](r, `[...document.querySelectorAll('#hits a')].slice(0, 3).map((a) => a.getAttribute('href').split('#')[0])`)
	if len(first) == 0 || first[0] != "docs/approvals.html" {
		t.Errorf("the first pages are %q", first)
	}
	for _, search := range []string{"approval timeout", "the", "seconds"} {
		r.press(kb.Escape + search)
		r.await(`document.querySelector('#hits a')`)
		for _, shown := range is[[]string](r, `[...document.querySelectorAll('#hits .where')].map((w) => w.textContent)`) {
			words := strings.TrimSuffix(strings.TrimPrefix(shown, "… "), " …")
			if !r.standsWholly(words) {
				t.Errorf("%q begins or ends inside a word", shown)
			}
		}
	}
}

// standsWholly says whether words of a page stand there between other words.
func (r *reader) standsWholly(words string) bool {
	for _, p := range r.site.pages {
		for _, part := range p.parts {
			if strings.Contains(" "+part.text+" ", " "+words+" ") {
				return true
			}
		}
	}
	return false
}

func TestThePictureOnTheFirstPageCanBeReadOnAPhone(t *testing.T) {
	r := read(t)
	r.run(chromedp.EmulateViewport(360, 640))
	r.open("readme.html")
	// Its letters are 11 and more where it is as wide as it was drawn.
	if scale := is[float64](r, `(() => { const way = document.querySelector('img[src$="way.svg"]');
		return way.getBoundingClientRect().width / way.naturalWidth })()`); scale < 0.9 {
		t.Errorf("it is drawn at %v of its size", scale)
	}
}

func TestTheFirstStopLeadsToTheText(t *testing.T) {
	r := read(t)
	r.open("docs/approvals.html")
	r.press(kb.Tab)
	r.await(`document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().top >= 0`)
	r.press(kb.Enter)
	r.await(`document.activeElement.id === 'content'`)
}

func TestEveryPageFitsAPhoneAndAsksNoOtherHost(t *testing.T) {
	r := read(t)
	r.run(chromedp.EmulateViewport(320, 640))
	for _, p := range r.site.pages {
		r.open(address(p.file))
		if width := is[int](r, `document.scrollingElement.scrollWidth`); width > 320 {
			t.Errorf("%s is %d wide", p.file, width)
		}
		others := is[[]string](r, `performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('file:'))`)
		if len(others) > 0 {
			t.Errorf("%s asks for %q", p.file, others)
		}
	}
}

func TestThePagesPassAxe(t *testing.T) {
	printed, err := exec.Command(filepath.Join("..", "scripts", "install-axe"), "--where").Output()
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(strings.TrimSpace(string(printed)))
	required(t, "AXE-CORE (run scripts/install-axe)", err)
	r := read(t)
	pages := []string{"index.html", "docs/policies.html", "docs/operations.html", "docs/clients/index.html", "docs/design/judging.html"}
	if os.Getenv("BAILIFF_TEST_ALL") != "" {
		pages = nil
		for _, p := range r.site.pages {
			pages = append(pages, address(p.file))
		}
	}
	for _, page := range pages {
		r.open(page)
		r.run(chromedp.Evaluate[chromedp.Void](string(axe) + "; undefined"))
		r.passes(page, "light", `{}`)
		r.passes(page, "dark", `{ runOnly: ['color-contrast', 'link-in-text-block'] }`)
	}
	r.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('#find').focus()`))
	r.press("sandbox")
	r.await(`document.querySelector('#hits a')`)
	r.passes("the search", "light", `{}`)
}

// passes wants axe-core to find nothing by some of its rules, in a theme.
func (r *reader) passes(page, scheme, rules string) {
	r.t.Helper()
	call(r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if found := is[[]string](r, fmt.Sprintf(`axe.run(%s).then(({ violations }) => violations.flatMap((v) => v.nodes.map((n) =>
		v.id + ' at ' + n.target.join(' ') + ': ' + n.failureSummary)))`, rules)); len(found) > 0 {
		r.t.Errorf("%s, %s:\n%s", page, scheme, strings.Join(found[:min(len(found), 20)], "\n"))
	}
}
