package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// visitor sends requests as a browser with a session does, unless told otherwise.
type visitor struct {
	*Console
	cookie, token string
}

// visit asks for something; a header that is given as empty is not sent.
func (v *visitor) visit(method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+v.host+path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://"+v.host)
	}
	if v.cookie != "" {
		r.Header.Set("Cookie", v.Console.cookie+"="+v.cookie)
		r.Header.Set(tokenHeader, v.token)
	}
	for i := 0; i < len(header); i += 2 {
		switch name, value := header[i], header[i+1]; {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w
}

func code(w *httptest.ResponseRecorder) string {
	var p api.Problem
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return p.Code
}

func (v *visitor) loginBy(link string) *httptest.ResponseRecorder {
	at, err := url.Parse(link)
	if err != nil {
		panic(err)
	}
	return v.visit("POST", "/login", fmt.Sprintf(`{"token": %q}`, at.Fragment))
}

// enter logs somebody in.
func enter(t testing.TB, c *Console, name string) *visitor {
	t.Helper()
	v := &visitor{Console: c}
	link, _ := c.Link(person(name))
	w := v.loginBy(link)
	var in loggedIn
	if err := json.Unmarshal(w.Body.Bytes(), &in); err != nil || w.Code != http.StatusOK || len(w.Result().Cookies()) != 1 {
		t.Fatalf("logging in: %d %s", w.Code, w.Body)
	}
	v.token, v.cookie = in.Token, w.Result().Cookies()[0].Value
	return v
}

// echo is an operator API that says who asks.
func echo(who bailiff.Approver) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s as %s by %s on %s", r.Method, r.URL.Path, who.Person, who.Credential, who.Channel)
	}), nil
}

func openEcho(t testing.TB) *Console {
	t.Helper()
	c, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: echo})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
	return c
}

func TestASessionAnswersAsWhoAskedForItsLink(t *testing.T) {
	c := openEcho(t)
	v := enter(t, c, "ana")
	if got := v.visit("POST", "/v1/approvals/a1/approve",
		"{}").Body.String(); got != "POST /v1/approvals/a1/approve as ana by uid:1000 on console" {
		t.Errorf("answered %q", got)
	}
	w := v.visit("GET", "/session", "")
	var who about
	if err := json.Unmarshal(w.Body.Bytes(), &who); err != nil || who.Person != "ana" || who.Credential != "uid:1000" ||
		who.Groups[0] != "security" {
		t.Errorf("told %s", w.Body)
	}
}

func TestOnlyThePageItselfIsServedToEverybody(t *testing.T) {
	c := openEcho(t)
	stranger := &visitor{Console: c}
	for _, path := range []string{"/", "/index.html", "/console.css", "/console.js", "/text.js", "/icon.svg"} {
		if w := stranger.visit("GET", path, "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/session", "/v1/status", "/v1/approvals", "/v1/events", "/healthz", "/v1/console/links",
		"/page/index.html", "/..", "//", "/nothing"} {
		if w := stranger.visit("GET", path, ""); w.Code != http.StatusUnauthorized || code(w) != "not_logged_in" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestWhatASessionNeeds(t *testing.T) {
	c := openEcho(t)
	v, other := enter(t, c, "ana"), enter(t, c, "eve")
	host, _ := strings.CutPrefix(c.host, "127.0.0.1")
	for _, w := range []struct {
		name   string
		method string
		header []string
		status int
		code   string
	}{
		{"nothing more", "POST", nil, 200, ""},
		{"by its name of a tunnel", "POST", []string{"Host", "localhost" + host, "Origin", "http://localhost" + host}, 200, ""},
		{"by its address of another family", "GET", []string{"Host", "[::1]" + host}, 200, ""},
		{"the token", "POST", []string{tokenHeader, ""}, 401, "not_logged_in"},
		{"the token, for reading too", "GET", []string{tokenHeader, ""}, 401, "not_logged_in"},
		{"its own token", "POST", []string{tokenHeader, other.token}, 401, "not_logged_in"},
		{"the cookie", "POST", []string{"Cookie", ""}, 401, "not_logged_in"},
		{"its own cookie", "POST", []string{"Cookie", c.cookie + "=" + other.cookie}, 401, "not_logged_in"},
		{"the cookie of this port", "POST", []string{"Cookie", "bailiff_console_1=" + v.cookie}, 401, "not_logged_in"},
		{"one cookie only", "POST", []string{"Cookie", c.cookie + "=" + v.cookie + "; " + c.cookie + "=x"}, 401, "not_logged_in"},
		{"an origin", "POST", []string{"Origin", ""}, 403, "cross_origin"},
		{"an origin that is somebody", "POST", []string{"Origin", "null"}, 403, "cross_origin"},
		{"its own origin", "POST", []string{"Origin", "http://127.0.0.1:9"}, 403, "cross_origin"},
		{"its own scheme", "POST", []string{"Origin", "https://" + c.host}, 403, "cross_origin"},
		{"its own origin, for reading too", "GET", []string{"Origin", "http://evil.test"}, 403, "cross_origin"},
		{"its own page, not one of another port", "GET", []string{"Sec-Fetch-Site", "same-site"}, 403, "cross_origin"},
		{"its own page, not one of another site", "GET", []string{"Sec-Fetch-Site", "cross-site"}, 403, "cross_origin"},
		{"its own page, not the address bar", "GET", []string{"Sec-Fetch-Site", "none"}, 403, "cross_origin"},
		{"its own host", "GET", []string{"Host", "rebound.test" + host}, 421, "wrong_host"},
		{"its own port", "GET", []string{"Host", "127.0.0.1"}, 421, "wrong_host"},
	} {
		got := v.visit(w.method, "/v1/approvals/a1/approve", "{}", w.header...)
		if got.Code != w.status || code(got) != w.code {
			t.Errorf("%s: %d %s", w.name, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/", "/login"} {
		if got := v.visit("POST", path, "{}", "Host", "rebound.test"+host, "Origin",
			"http://rebound.test"+host); got.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s by another name: %d", path, got.Code)
		}
	}
}

func TestWhatBrowsersAreTold(t *testing.T) {
	c := openEcho(t)
	v := enter(t, c, "ana")
	for _, w := range []*httptest.ResponseRecorder{
		v.visit("GET", "/", ""), v.visit("GET", "/console.js", ""), v.visit("GET", "/v1/status", ""),
		v.visit("GET", "/session", "", "Cookie", ""),
		v.visit("GET", "/", "", "Host", "rebound.test"), v.visit("POST", "/", ""),
	} {
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
				"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%d: %s is %q", w.Code, name, got)
			}
		}
	}
	if w := v.visit("POST", "/", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("the page takes POST: %d", w.Code)
	}
	if got := v.visit("GET", "/console.js", "").Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("a script is %s", got)
	}
	link, _ := c.Link(person("ana"))
	set := (&visitor{Console: c}).loginBy(link).Header().Get("Set-Cookie")
	_, attributes, _ := strings.Cut(set, "; ")
	if attributes != "Path=/; HttpOnly; SameSite=Strict" || !strings.HasPrefix(set, c.cookie+"=") {
		t.Errorf("the cookie is %s", attributes)
	}
}

func TestThePageHasNoMarkupMadeOfText(t *testing.T) {
	for path, file := range pages() {
		text := string(file.body)
		for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function(",
			"javascript:", "style=\"", "onclick=", "https://", "//cdn"} {
			if strings.Contains(text, way) {
				t.Errorf("%s holds %s", path, way)
			}
		}
	}
}

func TestLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: echo})
		if err != nil {
			t.Fatal(err)
		}
		v := &visitor{Console: c}
		fresh, expires := c.Link(person("ana"))
		if got := time.Until(expires); got != 5*time.Minute {
			t.Errorf("a link works for %s", got)
		}
		late, _ := c.Link(person("ana"))
		time.Sleep(5*time.Minute - time.Second)
		if w := v.loginBy(fresh); w.Code != http.StatusOK {
			t.Errorf("a link in time: %s", w.Body)
		}
		time.Sleep(time.Second)
		for link, want := range map[string]string{fresh: "link_used", late: "link_expired", fresh + "x": "link_unknown",
			"http://x/#": "link_unknown"} {
			if w := v.loginBy(link); w.Code != http.StatusForbidden || code(w) != want {
				t.Errorf("%s: %d %s", want, w.Code, w.Body)
			}
		}
		time.Sleep(time.Hour)
		c.Link(person("ana"))
		if w := v.loginBy(fresh); code(w) != "link_unknown" || len(c.links.known) != 1 {
			t.Errorf("an hour later %s, %d are known", w.Body, len(c.links.known))
		}
		for range 3 * maxLinks {
			c.Link(person("ana"))
		}
		if len(c.links.known) != maxLinks {
			t.Errorf("%d links are known", len(c.links.known))
		}
		endSessions(c)
		_ = c.Shutdown(t.Context())
	})
}

// live are the sessions of those who are logged in.
func live(c *Console) []*session {
	c.sessions.mu.Lock()
	defer c.sessions.mu.Unlock()
	return slices.Collect(maps.Values(c.sessions.all))
}

// endSessions leaves no timer behind.
func endSessions(c *Console) {
	for _, s := range live(c) {
		c.sessions.end(s)
	}
}

func TestWrongLinksAreLimitedAndRightOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: echo})
		if err != nil {
			t.Fatal(err)
		}
		v := &visitor{Console: c}
		count := map[int]int{}
		for range 50 {
			count[v.loginBy("http://x/#wrong").Code]++
		}
		if count[403] != refusalsAtOnce || count[429] != 50-refusalsAtOnce {
			t.Errorf("answers are %v", count)
		}
		right, _ := c.Link(person("ana"))
		if w := v.loginBy(right); w.Code != http.StatusOK {
			t.Errorf("a right one: %d %s", w.Code, w.Body)
		}
		w := v.loginBy("http://x/#wrong")
		wait, _ := time.ParseDuration(w.Header().Get("Retry-After") + "s")
		time.Sleep(wait)
		if w := v.loginBy("http://x/#wrong"); w.Code != http.StatusForbidden {
			t.Errorf("after %s: %d", wait, w.Code)
		}
		endSessions(c)
		_ = c.Shutdown(t.Context())
	})
}

func TestSessionsEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  time.Duration
		every  time.Duration
		doing  string
		method string
		alive  bool
	}{
		{"not while somebody uses it", 11 * time.Hour, 29 * time.Minute, "/alive", "POST", true},
		{"when nobody has for half an hour", 31 * time.Minute, time.Hour, "/alive", "POST", false},
		{"though the page reads", 31 * time.Minute, 5 * time.Minute, "/v1/status", "GET", false},
		{"after twelve hours in any case", 12*time.Hour + time.Second, 10 * time.Minute, "/alive", "POST", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				console, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: echo})
				if err != nil {
					t.Fatal(err)
				}
				v := enter(t, console, "ana")
				for begin := time.Now(); time.Since(begin) < c.after; {
					time.Sleep(min(c.every, c.after-time.Since(begin)))
					if time.Since(begin) < c.after {
						v.visit(c.method, c.doing, "")
					}
				}
				w := v.visit("GET", "/session", "")
				if (w.Code == http.StatusOK) != c.alive || (len(live(console)) == 1) != c.alive {
					t.Errorf("%d, %d sessions", w.Code, len(live(console)))
				}
				endSessions(console)
				_ = console.Shutdown(t.Context())
			})
		})
	}
}

func TestASessionsStreamsEndWithIt(t *testing.T) {
	for name, end := range map[string]func(v *visitor){
		"at the logout":     func(v *visitor) { v.visit("POST", "/logout", "") },
		"at the next login": func(v *visitor) { link, _ := v.Link(person("eve")); v.loginBy(link) },
	} {
		t.Run(name, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan struct{})
			c, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: func(bailiff.Approver) (http.Handler, error) {
				return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(began); <-r.Context().Done() }), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Shutdown(context.Background()) }()
			v := enter(t, c, "ana")
			go func() { v.visit("GET", "/v1/events", ""); close(ended) }()
			<-began
			end(v)
			awaittest.Value(t, "the end of a stream with its session", ended)
		})
	}
}

func TestThereAreNotTooManySessions(t *testing.T) {
	c := openEcho(t)
	first := enter(t, c, "ana")
	for range maxSessions {
		enter(t, c, "ana")
	}
	if w := first.visit("GET", "/session", ""); w.Code != http.StatusUnauthorized || len(live(c)) != maxSessions {
		t.Errorf("%d, %d sessions", w.Code, len(live(c)))
	}
}

func TestSecretsAreKeptAsHashesOnly(t *testing.T) {
	c := openEcho(t)
	link, _ := c.Link(person("ana"))
	v := enter(t, c, "ana")
	_, token, _ := strings.Cut(link, "#")
	kept := fmt.Sprintf("%+v", c.links.known)
	for _, s := range live(c) {
		kept += fmt.Sprintf(" %+v", s)
	}
	for _, secret := range []string{token, v.cookie, v.token} {
		if len(secret) != 43 || strings.Contains(kept, secret) {
			t.Errorf("a secret of %d characters is kept: %s", len(secret), kept)
		}
	}
}

func TestTheConsolesAddress(t *testing.T) {
	for _, c := range []struct{ configured, opened, link, also, not string }{
		{"127.0.0.1:8642", "tcp://127.0.0.1:8642", "127.0.0.1:8642", "localhost:8642", "127.0.0.2:8642"},
		{"localhost:0", "tcp://127.0.0.1:4711", "localhost:4711", "127.0.0.1:4711", "localhost:0"},
		{"0.0.0.0:8642", "tcp://[::]:8642", "127.0.0.1:8642", "[::1]:8642", "0.0.0.0:8642"},
		{":8642", "tcp://[::]:8642", "127.0.0.1:8642", "localhost:8642", ":8642"},
		{"Console.Lan:8642", "tcp://10.0.0.1:8642", "Console.Lan:8642", "console.lan:8642", "10.0.0.1:8642"},
	} {
		console := &Console{}
		console.at(c.configured, c.opened)
		if console.host != c.link || !slices.Contains(console.hosts, c.also) || slices.Contains(console.hosts, c.not) {
			t.Errorf("%s: links to %s, answers to %v", c.configured, console.host, console.hosts)
		}
	}
}

func TestTheConsoleNeedsAnOperatorAPI(t *testing.T) {
	if _, err := Open(Config{Address: "127.0.0.1:0"}); err == nil || err.Error() != "console config lacks Known, Operator" {
		t.Errorf("got %v", err)
	}
	if _, err := Open(Config{Address: "127.0.0.1:notaport", Known: anyone, Operator: echo}); err == nil {
		t.Error("it opens nowhere")
	}
}

func TestALoginThatIsNone(t *testing.T) {
	c := openEcho(t)
	v := &visitor{Console: c}
	for _, body := range []string{"", "{", `{"token": 1}`, `{"token": "x", "more": 1}`, strings.Repeat("x", 1<<20)} {
		if w := v.visit("POST", "/login", body); w.Code != http.StatusBadRequest || code(w) != "invalid_request" {
			t.Errorf("%.20s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := v.visit("GET", "/login", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestAListenerServesThePage(t *testing.T) {
	o := serve(t)
	resp, err := http.Get(o.base() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "<title>bailiff console</title>") {
		t.Errorf("%d %v: %.100s", resp.StatusCode, err, body)
	}
}
