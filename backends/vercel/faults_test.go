package vercel

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// nothingLeft wants no machine to be there.
func nothingLeft(t *testing.T, f *fake) {
	t.Helper()
	backendtest.Await(t, "no machine is left", func() bool { return len(f.names("")) == 0 })
}

func TestWhatPassesIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		name, call string
		fault      func(*fake) func(http.ResponseWriter, *http.Request) bool
	}{
		{"too many machines at once", "POST /v3/sandboxes", status(http.StatusTooManyRequests, "Retry-After", "1")},
		{"too busy", "POST /v3/sandboxes", status(http.StatusServiceUnavailable)},
		{"a machine that cannot be looked at", "GET /v2/sandboxes/sessions/sbx", status(http.StatusBadGateway)},
		{"a runner that is not brought", "/fs/write", status(http.StatusInternalServerError)},
		{"too many starts", "/cmd", status(http.StatusTooManyRequests)},
		{"an answer that is lost on the way", "/fs/write",
			func(f *fake) func(http.ResponseWriter, *http.Request) bool { return f.unheard }},
		{"a removal that fails", "DELETE /v2/sandboxes/", status(http.StatusInternalServerError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			b := account(t, f)
			f.inject(c.call, 2, c.fault(f))
			s, err := b.Open(t.Context(), testSpec())
			backendtest.Must(t, err)
			backendtest.Says(t, s, "echo fine", "fine\n")
			backendtest.NoError(t, s.Close(t.Context()))
			nothingLeft(t, f)
		})
	}
}

func status(number int, header ...string) func(*fake) func(http.ResponseWriter, *http.Request) bool {
	return func(*fake) func(http.ResponseWriter, *http.Request) bool { return answering(number, header...) }
}

func TestWhatMayHaveHappenedIsNotAskedAgainAndLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name, call string
		fault      func(*fake) func(http.ResponseWriter, *http.Request) bool
	}{
		{"making a machine fails", "POST /v3/sandboxes", status(http.StatusInternalServerError)},
		{"making a machine is not answered", "POST /v3/sandboxes",
			func(f *fake) func(http.ResponseWriter, *http.Request) bool { return f.unheard }},
		{"a start is not answered", "/cmd", func(f *fake) func(http.ResponseWriter, *http.Request) bool { return f.unheard }},
		{"a start is refused", "/cmd", status(http.StatusUnprocessableEntity)},
		{"a log cannot be followed", "/logs", status(http.StatusInternalServerError)},
		{"the machine has ended already", "/fs/write", status(http.StatusGone)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			b := account(t, f)
			f.inject(c.call, 1, c.fault(f))
			if _, err := b.Open(t.Context(), testSpec()); !errors.Is(err, backends.ErrUnavailable) {
				t.Errorf("opening it came to %v", err)
			}
			if n := f.count(c.call); n != 1 {
				t.Errorf("%s was asked %d times", c.call, n)
			}
			nothingLeft(t, f)
		})
	}
}

func TestARunnerThatDoesNotStartSaysWhy(t *testing.T) {
	f := newFake(t)
	b := account(t, f)
	f.inject("/cmd", 1, func(_ http.ResponseWriter, r *http.Request) bool {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		text := strings.Replace(body.String(), `"settle"`, `"unsettle"`, 1)
		r.Body = http.NoBody
		*r = *httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(text)).WithContext(r.Context())
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+fakeToken)
		return true
	})
	if _, err := b.Open(t.Context(), testSpec()); !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), `unsettle`) {
		t.Errorf("opening it came to %v", err)
	}
	nothingLeft(t, f)
}

func TestWhoGoesAwayLeavesNoMachine(t *testing.T) {
	for _, call := range []string{"POST /v3/sandboxes", "/fs/write", "/cmd", "/logs"} {
		t.Run(call, func(t *testing.T) {
			f := newFake(t)
			b := account(t, f)
			hold := make(chan struct{})
			f.inject(call, 1, func(_ http.ResponseWriter, r *http.Request) bool {
				select {
				case <-hold:
				case <-r.Context().Done():
				}
				return false
			})
			ctx, cancel := context.WithCancel(t.Context())
			opened := backendtest.Opening(ctx, b, testSpec())
			awaitCall(t, f, call)
			cancel()
			if err := <-opened; !errors.Is(err, context.Canceled) {
				t.Errorf("opening it came to %v", err)
			}
			close(hold)
			nothingLeft(t, f)
		})
	}
}

func TestAStreamThatBreaksIsTheEndOfItsSandbox(t *testing.T) {
	for _, c := range []struct {
		name  string
		sever func(*fake, *sandbox)
	}{
		{"the connection is cut", func(f *fake, _ *sandbox) { f.server.CloseClientConnections() }},
		{"the machine's time is over", func(f *fake, s *sandbox) {
			f.mu.Lock()
			l := f.sandboxes[s.name]
			f.mu.Unlock()
			l.stop()
		}},
		{"the runner is killed", func(f *fake, s *sandbox) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, c := range f.sandboxes[s.name].commands {
				c.process.Kill()
			}
		}},
		{"nothing can be written any more", func(f *fake, _ *sandbox) { f.inject("/fs/write", 1000, answering(http.StatusForbidden)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			s := open(t, account(t, f), testSpec())
			ended := make(chan error, 1)
			started := make(chan struct{})
			go func() {
				cmd := runner.Shell("echo started; exec sleep 1000")
				cmd.HeadBytes, cmd.Timeout = 100, time.Hour
				_, err := s.Run(context.Background(), cmd, func([]byte) { close(started) })
				ended <- err
			}()
			<-started
			c.sever(f, s)
			_, _ = s.Alive(t.Context()) // where nothing is said, nothing is noticed
			if err := <-ended; err == nil || errors.Is(err, backends.ErrNotStarted) {
				t.Errorf("the command ended with %v", err)
			}
			<-s.Done()
			nothingLeft(t, f)
			if n := f.count("/cmd/"); n != 1 {
				t.Errorf("its log was asked for %d times", n)
			}
		})
	}
}

func TestFilesThatAreSlowOrBroughtTwiceArriveOnce(t *testing.T) {
	f := newFake(t)
	s := open(t, account(t, f), testSpec())
	f.inject("/fs/write", 1, f.unheard)
	f.inject("/fs/write", 1, answering(http.StatusTooManyRequests, "Retry-After", "1"))
	f.inject("/fs/write", 1, answering(http.StatusInternalServerError))
	for range 3 {
		backendtest.Says(t, s, "echo once >>file; wc -l <file | tr -d ' '; rm file", "1\n")
	}
}

func TestASandboxIsRemovedForWhoHasGone(t *testing.T) {
	f := newFake(t)
	s := open(t, account(t, f), testSpec())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	backendtest.NoError(t, s.Close(ctx))
	if left := f.names(""); len(left) > 0 {
		t.Errorf("there is %q", left)
	}
}

func TestAMachineOfAnotherKindIsNotTaken(t *testing.T) {
	order := wanted{Timeout: 1000, Resources: resources{2}, Network: network{"deny-all"}, Image: "x@sha256:1"}
	good := made{named{Image: "x@sha256:1"}, session{VCPUs: 2, Memory: 4096, Timeout: 1000, Network: network{"deny-all"}}}
	if err := verify(order, good); err != nil {
		t.Errorf("what was asked for came to %v", err)
	}
	for name, change := range map[string]func(*made){
		"cpus":      func(m *made) { m.Session.VCPUs = 4 },
		"memory_mb": func(m *made) { m.Session.Memory = 8192 },
		"network":   func(m *made) { m.Session.Network.Mode = "allow-all" },
		"end":       func(m *made) { m.Session.Timeout = 5000 },
		"disk":      func(m *made) { m.Sandbox.Persistent = true },
		"image":     func(m *made) { m.Sandbox.Image = "x@sha256:2" },
	} {
		m := good
		change(&m)
		if err := verify(order, m); !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("another %s came to %v", name, err)
		}
	}
}
