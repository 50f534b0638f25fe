package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const blink = 50 * time.Millisecond

// holding is an enforcer whose requests run until they are released or cancelled.
type holding struct {
	enforcer
	started, cancelled chan struct{}
	release            chan struct{}
}

func newHolding() *holding {
	h := &holding{started: make(chan struct{}, 16), cancelled: make(chan struct{}, 16), release: make(chan struct{})}
	h.execute = func(ctx context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		h.started <- struct{}{}
		select {
		case <-h.release:
			return completed(req, "done")
		case <-ctx.Done():
			h.cancelled <- struct{}{}
			return bailiff.Answer{Status: bailiff.Interrupted, ExitCode: bailiff.ExitInterrupted, DecisionID: "d1"}
		}
	}
	return h
}

// later posts a request in the background.
func (c caller) later(path, body string, header ...string) <-chan answerBytes {
	answer := make(chan answerBytes, 1)
	go func() { answer <- c.post(path, body, header...) }()
	return answer
}

func rawPost(path, body string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: bailiff\r\nContent-Length: %d\r\n\r\n%s", path, length, body)
}

func knockRaw(t testing.TB, d *Listener, text string) net.Conn {
	t.Helper()
	c, err := dialListener(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if text == "" { // even no bytes cannot be written where the listener has closed already
		return c
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestATokenIsNeededOnTCP(t *testing.T) {
	d := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("s3cret")},
		agentHandler(t, agentOf(&enforcer{})))
	c := callerOf(t, d)
	const none, wrong = "was sent none", "is not that of listener"
	for name, test := range map[string]struct{ header, says string }{
		"no token":                {"", none},
		"another token":           {"Bearer other", wrong},
		"an empty token":          {"Bearer ", none},
		"the start of the token":  {"Bearer s3cre", wrong},
		"the token and more":      {"Bearer s3cret2", wrong},
		"the token without a way": {"s3cret", none},
		"the token as a password": {"Basic s3cret", none},
	} {
		t.Run(name, func(t *testing.T) {
			p := caller{t, c.client}.post("/v1/decide", telegramRequest, "Authorization", test.header).problem(t, http.StatusUnauthorized)
			if p.Code != "unauthorized" || strings.Contains(p.Message, "s3cre") || strings.Contains(p.Message, "other") ||
				!strings.Contains(p.Message, test.says) {
				t.Errorf("the problem is %+v, want one that says %q", p, test.says)
			}
		})
	}
	var decided api.Decided
	c.post("/v1/decide", telegramRequest, "Authorization", "Bearer s3cret").into(t, http.StatusOK, &decided)
}

func TestAListenerOnTCPWithoutATokenStaysShut(t *testing.T) {
	if _, err := Open(ListenerConfig{Network: "tcp", Address: "127.0.0.1:0"}, http.NotFoundHandler()); err == nil ||
		!strings.Contains(err.Error(), "token") {
		t.Errorf("opening it: %v", err)
	}
}

func TestOnlyListedUsersComeIn(t *testing.T) {
	self := uint32(os.Geteuid())
	for _, test := range []struct {
		name   string
		uids   []uint32
		status int
	}{
		{"nobody is listed, so the socket's mode decides", nil, http.StatusOK},
		{"this user is listed", []uint32{self + 1, self}, http.StatusOK},
		{"another user is listed", []uint32{self + 1}, http.StatusForbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := callerOf(t, open(t, ListenerConfig{UIDs: test.uids}, agentHandler(t, agentOf(&enforcer{}))))
			for _, path := range []string{"/v1/decide", "/v1/data/bailiff/decision", "/no/such/path"} {
				a := c.post(path, telegramRequest)
				if denied := a.status == http.StatusForbidden; denied != (test.status == http.StatusForbidden) {
					t.Errorf("%s is answered %d", path, a.status)
				}
			}
		})
	}
}

func TestASocketIsForItsUserAndGroupFromTheStart(t *testing.T) {
	d := open(t, ListenerConfig{}, http.NotFoundHandler())
	about, err := os.Stat(d.config.Address)
	if err != nil {
		t.Fatal(err)
	}
	if about.Mode().Perm() != 0o660 {
		t.Errorf("the socket's mode is %v, want 0660", about.Mode())
	}
	left, _ := os.ReadDir(filepath.Dir(d.config.Address))
	if len(left) != 1 {
		t.Errorf("beside the socket lies %v", left)
	}
}

func TestAFolderForTheSocketIsMadeSoThatListedUsersPass(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run", "bailiff")
	open(t, ListenerConfig{Network: "unix", Address: filepath.Join(folder, "a.sock")}, http.NotFoundHandler())
	if about, err := os.Stat(folder); err != nil || about.Mode().Perm() != 0o755 {
		t.Errorf("the folder is %v, %v, want mode 0755", about, err)
	}
}

func TestAListenerThatNeverServedLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	d, err := Open(ListenerConfig{Network: "unix", Address: path}, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Shutdown(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
	if _, err := d.socket.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it still listens: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestASocketOfADeadProcessIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	c := callerOf(t, open(t, ListenerConfig{Network: "unix", Address: path}, agentHandler(t, agentOf(&enforcer{}))))
	var h api.Health
	c.do(http.MethodGet, "/healthz", "").into(t, http.StatusOK, &h)
}

func TestAPathThatIsTakenIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	live := open(t, ListenerConfig{Network: "unix", Address: filepath.Join(dir, "live.sock")}, http.NotFoundHandler())
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(live.config.Address, link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, path, says string }{
		{"a socket that a process serves", live.config.Address, "in use by another process"},
		{"a file", file, "is no socket"},
		{"a link to a socket", link, "is no socket"},
		{"a folder", dir, "is no socket"},
		{"a path below a file", filepath.Join(file, "a.sock"), "not a directory"},
		{"a path that is too long", filepath.Join(dir, strings.Repeat("x", 120), "a.sock"), "making a socket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(ListenerConfig{Network: "unix", Address: test.path}, http.NotFoundHandler())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("opening it: %v, want %q", err, test.says)
			}
		})
	}
	callerOf(t, live).do(http.MethodGet, "/", "")
}

func TestAClientThatSendsSlowlyIsCutOff(t *testing.T) {
	stranger := []uint32{uint32(os.Geteuid()) + 1}
	for _, test := range []struct {
		name, sends string
		uids        []uint32
		gets        string
	}{
		{"half a header", "POST /v1/decide HTTP/1.1\r\nHost: bai", nil, ""},
		{"half a body", rawPost("/v1/decide", `{"tool": `, 100), nil, "408 Request Timeout"},
		{"half a body for a path that reads none", rawPost("/no/such/path", `{"tool": `, 100), nil, "404 Not Found"},
		{"half a body from a user that is not listed", rawPost("/v1/decide", `{"tool": `, 100), stranger, "403 Forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := open(t, ListenerConfig{HeaderTimeout: blink, BodyTimeout: blink, UIDs: test.uids}, agentHandler(t, agentOf(&enforcer{})))
			got, err := io.ReadAll(knockRaw(t, d, test.sends)) // ends when the listener hangs up
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatal(err)
			}
			if !strings.Contains(string(got), test.gets) {
				t.Errorf("answered %q, want %q", got, test.gets)
			}
		})
	}
}

func TestARequestMayRunLongerThanItsClientMayDawdle(t *testing.T) {
	t.Parallel()
	const dawdle = 2 * time.Second // which the test itself must not do on a busy machine
	e := &enforcer{execute: func(ctx context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		select {
		case <-ctx.Done():
			return bailiff.Answer{Status: bailiff.Interrupted}
		case <-time.After(dawdle + dawdle/2):
			return completed(req, "done")
		}
	}}
	d := open(t, ListenerConfig{HeaderTimeout: dawdle, BodyTimeout: dawdle, WriteTimeout: dawdle, IdleTimeout: dawdle},
		agentHandler(t, agentOf(e)))
	for _, accept := range []string{"application/json", "text/event-stream"} {
		a := callerOf(t, d).post("/v1/execute", telegramRequest, "Accept", accept)
		if a.status != http.StatusOK || !strings.Contains(string(a.body), `"completed"`) {
			t.Errorf("%s: answered %d: %s", accept, a.status, a.body)
		}
	}
}

func TestAClientThatDoesNotReadIsCutOff(t *testing.T) {
	ended := make(chan struct{})
	e := &enforcer{execute: func(ctx context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		defer close(ended)
		for ctx.Err() == nil {
			news(bailiff.Progress{Output: make([]byte, 64<<10)})
		}
		return bailiff.Answer{Status: bailiff.Interrupted}
	}}
	d := open(t, ListenerConfig{WriteTimeout: blink}, agentHandler(t, agentOf(e)))
	knockRaw(t, d, strings.Replace(rawPost("/v1/execute", telegramRequest, len(telegramRequest)), "\r\n",
		"\r\nAccept: text/event-stream\r\n", 1))
	awaittest.Value(t, "the end of the request", ended)
}

func TestAClientThatGoesAwayCancelsItsRequest(t *testing.T) {
	for _, accept := range []string{"application/json", "text/event-stream"} {
		t.Run(accept, func(t *testing.T) {
			e := newHolding()
			d := open(t, ListenerConfig{}, agentHandler(t, agentOf(e)))
			c := knockRaw(t, d, strings.Replace(rawPost("/v1/execute", telegramRequest, len(telegramRequest)), "\r\n",
				"\r\nAccept: "+accept+"\r\n", 1))
			awaittest.Value(t, "the request to start", e.started)
			_ = c.Close()
			awaittest.Value(t, "its cancellation", e.cancelled)
		})
	}
}

func TestOneRequestTooManyIsToldToComeAgain(t *testing.T) {
	e := newHolding()
	d := open(t, ListenerConfig{MaxRequests: 1}, agentHandler(t, agentOf(e)))
	first := callerOf(t, d).later("/v1/execute", telegramRequest)
	awaittest.Value(t, "the first request to start", e.started)
	a := callerOf(t, d).post("/v1/decide", telegramRequest)
	if p := a.problem(t, http.StatusServiceUnavailable); p.Code != "busy" || a.header.Get("Retry-After") == "" {
		t.Errorf("the problem is %+v, the header %v", p, a.header)
	}
	close(e.release)
	awaittest.Value(t, "the first answer", first)
	var decided api.Decided
	callerOf(t, d).post("/v1/decide", telegramRequest).into(t, http.StatusOK, &decided)
}

func TestAConnectionWaitsForItsPlace(t *testing.T) {
	d := open(t, ListenerConfig{MaxConnections: 1}, agentHandler(t, agentOf(&enforcer{})))
	first := callerOf(t, d)
	first.post("/v1/decide", telegramRequest) // and keeps its connection
	second := callerOf(t, d).later("/v1/decide", telegramRequest)
	if taken := len(d.socket.(*boundedListener).places); taken != 1 {
		t.Errorf("%d places are taken, want 1", taken)
	}
	first.client.CloseIdleConnections()
	if a := awaittest.Value(t, "the second answer", second); a.status != http.StatusOK {
		t.Errorf("the second is answered %d", a.status)
	}
}

func TestAPanicIsAnswered500AndEndsNothingElse(t *testing.T) {
	e := &enforcer{execute: func(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
		panic("a bug with a s3cret")
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	for _, accept := range []string{"application/json", "text/event-stream"} {
		a := c.post("/v1/execute", telegramRequest, "Accept", accept)
		if p := a.problem(t, http.StatusInternalServerError); p.Code != "internal" || strings.Contains(p.Message, "s3cret") {
			t.Errorf("the problem is %+v", p)
		}
	}
	var decided api.Decided
	c.post("/v1/decide", telegramRequest).into(t, http.StatusOK, &decided)
}

// lines remembers what was logged, and about which request.
type lines struct {
	slog.Handler
	mu    sync.Mutex
	about []bailiff.Concern
	text  strings.Builder
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

func (l *lines) Handle(ctx context.Context, line slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.about = append(l.about, bailiff.ConcernOf(ctx))
	line.Attrs(func(a slog.Attr) bool { fmt.Fprintln(&l.text, a); return true })
	return nil
}

func brokenDown(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
	panic("a bug")
}

// fragile panics whatever it is to do.
type fragile struct{ enforcer }

func (*fragile) Decide(ctx context.Context, req bailiff.Request) bailiff.Decided {
	brokenDown(ctx, req, nil)
	return bailiff.Decided{}
}

func TestAPanicIsLoggedWithItsRequestAndWhereItWas(t *testing.T) {
	log := &lines{Handler: slog.DiscardHandler}
	c := callerOf(t, open(t, ListenerConfig{Log: slog.New(log)}, agentHandler(t, agentOf(&fragile{enforcer{execute: brokenDown}}))))
	for _, accept := range []string{"application/json", "text/event-stream"} {
		c.post("/v1/execute", strings.Replace(telegramRequest, "{", `{"request_id": "r", `, 1), "Accept", accept)
	}
	c.post("/v1/decide", strings.Replace(telegramRequest, "{", `{"request_id": "r", `, 1))
	log.mu.Lock()
	defer log.mu.Unlock()
	if want := (bailiff.Concern{RequestID: "r"}); len(log.about) != 3 || log.about[0] != want || log.about[1] != want ||
		log.about[2] != want {
		t.Errorf("what is logged is about %v", log.about)
	}
	if text := log.text.String(); strings.Count(text, "cause=a bug\n") != 3 || strings.Count(text, "gateway.brokenDown(") != 3 {
		t.Errorf("the log says %s", text)
	}
}

func TestClosingLetsRequestsFinish(t *testing.T) {
	e := newHolding()
	d := open(t, ListenerConfig{}, agentHandler(t, agentOf(e)))
	c := callerOf(t, d)
	running := []<-chan answerBytes{c.later("/v1/execute", telegramRequest), c.later("/v1/execute", telegramRequest, "Accept",
		"text/event-stream")}
	for range running {
		awaittest.Value(t, "the request to start", e.started)
	}
	closed := make(chan error, 1)
	go func() { closed <- d.Shutdown(context.Background()) }()
	awaittest.Until(t, "no client comes in any more", func() bool {
		other, err := dialListener(t.Context(), d)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	})
	if _, err := os.Lstat(d.config.Address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("while requests run, the socket is still there: %v", err)
	}
	close(e.release)
	for _, r := range running {
		if a := awaittest.Value(t, "the answer", r); !strings.Contains(string(a.body), `"completed"`) {
			t.Errorf("answered %s", a.body)
		}
	}
	if err := awaittest.Value(t, "the listener to close", closed); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func TestClosingInTheEndCancelsRequestsAndTheyAreAnswered(t *testing.T) {
	before := runtime.NumGoroutine()
	e := newHolding()
	d := open(t, ListenerConfig{}, agentHandler(t, agentOf(e)))
	c := callerOf(t, d)
	running := []<-chan answerBytes{c.later("/v1/execute", telegramRequest), c.later("/v1/execute", telegramRequest, "Accept",
		"text/event-stream")}
	for range running {
		awaittest.Value(t, "the request to start", e.started)
	}
	ctx, cancel := context.WithTimeout(context.Background(), blink)
	defer cancel()
	if err := d.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("closing: %v", err)
	}
	for _, r := range running {
		awaittest.Value(t, "the cancellation", e.cancelled)
		if a := awaittest.Value(t, "the answer", r); !strings.Contains(string(a.body), `"interrupted"`) {
			t.Errorf("answered %s", a.body)
		}
	}
	c.client.CloseIdleConnections()
	awaittest.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func TestClosingLeavesTheSocketOfASuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	first, err := Open(ListenerConfig{Network: "unix", Address: path}, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	_ = first.socket.Close() // as if it had died
	second := open(t, ListenerConfig{Network: "unix", Address: path}, http.NotFoundHandler())
	if err := first.Shutdown(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
	callerOf(t, second).do(http.MethodGet, "/", "")
}

// echoing decides with the command for an id, so that an answer can be told from
// another request's.
type echoing struct{ enforcer }

func (*echoing) Decide(_ context.Context, req bailiff.Request) bailiff.Decided {
	return bailiff.Decided{ID: req.Args.Command, Decision: allowed}
}

func TestManyClientsAtOnceGetTheirOwnAnswers(t *testing.T) {
	d := open(t, ListenerConfig{}, agentHandler(t, agentOf(&echoing{enforcer{execute: func(_ context.Context, req bailiff.Request,
		news func(bailiff.Progress)) bailiff.Answer {
		if news != nil {
			news(bailiff.Progress{Output: []byte(req.Args.Command)})
		}
		return completed(req, req.Args.Command)
	}}})))
	var clients sync.WaitGroup
	for n := range 8 {
		clients.Go(func() {
			c := callerOf(t, d)
			for i := range 40 {
				command := strings.Repeat(fmt.Sprintf("%d-%d ", n, i), 1+i*50)
				for _, a := range []answerBytes{
					c.post("/v1/decide", replace("git status", command)),
					c.post("/v1/execute", replace("git status", command)),
					c.post("/v1/execute", replace("git status", command), "Accept", "text/event-stream"),
				} {
					if a.status != http.StatusOK || !strings.Contains(string(a.body), `"`+command+`"`) {
						t.Errorf("asked %.20q…, answered %d: %.80s…", command, a.status, a.body)
					}
				}
			}
		})
	}
	clients.Wait()
}

func TestAListenerThatFellShutIsAnErrorAndCanBeOpenedAgain(t *testing.T) {
	config := ListenerConfig{Name: "chats", Network: "tcp", Address: "127.0.0.1:0", Login: true}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	greeted := func(d *Listener) {
		answer, err := http.Get("http" + strings.TrimPrefix(d.Address(), "tcp"))
		if err != nil {
			t.Error(err)
			return
		}
		_ = answer.Body.Close()
	}
	err := ServeUntil(ctx, config, hello, func(d *Listener) {
		config.Address = strings.TrimPrefix(d.Address(), "tcp://")
		greeted(d)
		_ = d.socket.Close()
	})
	if err == nil || !strings.Contains(err.Error(), "serving tcp://") {
		t.Errorf("it fell shut with %v", err)
	}
	if err := ServeUntil(ctx, config, hello, func(d *Listener) { greeted(d); cancel() }); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if err := ServeUntil(ctx, ListenerConfig{Network: "tcp", Address: "127.0.0.1:99999", Login: true}, hello,
		func(*Listener) { t.Error("it is open") }); err == nil {
		t.Error("nowhere is open")
	}
}
