package bundle

import (
	"context"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// server has one archive, or a fault.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	text   string
	status int
	asked  []*http.Request
}

func serve(t *testing.T, text string) *server {
	t.Helper()
	s := &server{text: text}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	tag := `"` + s.text + `"`
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		_, _ = w.Write([]byte(s.text))
	}
}

func (s *server) has(text string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.status = text, status
}

// questions are the ETags that were named when the server was asked.
func (s *server) questions() (tags []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		tags = append(tags, r.Header.Get("If-None-Match"))
	}
	return tags
}

// counter counts how often the server vouched.
type counter struct{ atomic.Int64 }

func (c *counter) BundleConfirmed() { c.Add(1) }

// config trusts the server.
func (s *server) config(t *testing.T) Config {
	t.Helper()
	folder := t.TempDir()
	roots := filepath.Join(folder, "ca.pem")
	must(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return Config{Server: httpapi.Server{URL: s.URL + "/bundles/chat.tar.gz", CAFile: roots},
		Poll: 5 * time.Millisecond, Dir: folder, Observer: &counter{}, Log: slog.New(slog.DiscardHandler)}
}

func source(t *testing.T, c Config) *Source {
	t.Helper()
	s, err := New(c)
	must(t, err)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// taker takes every archive that does not begin with "bad".
type taker chan string

var errBad = errors.New("p.rego:3: rego_parse_error")

func (k taker) Offer(_ context.Context, archive []byte) error {
	k <- string(archive)
	if strings.HasPrefix(string(archive), "bad") {
		return errBad
	}
	return nil
}

func (k taker) next(t *testing.T) string {
	t.Helper()
	return awaittest.Value(t, "an offer", k)
}

// follow follows until the test ends.
func follow(t *testing.T, s *Source) taker {
	t.Helper()
	offered := make(taker, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Follow(ctx, offered) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return offered
}

// opened are the archives that a start opened.
func opened(t *testing.T, s *Source) (texts []string, err error) {
	t.Helper()
	return openedBy(t, s, false)
}

// openedBy are they where policies are in force all the same, or are not.
func openedBy(t *testing.T, s *Source, rolledBack bool) (texts []string, err error) {
	t.Helper()
	err = s.Start(t.Context(), func(archive []byte, file string) (inForce bool, wrong error) {
		if file != "" && file != File(s.config.Dir) {
			t.Errorf("%s is said to lie in %q", archive, file)
		}
		texts = append(texts, string(archive))
		if strings.HasPrefix(string(archive), "bad") {
			return rolledBack, errBad
		}
		return true, nil
	})
	return texts, err
}

func TestAServersPoliciesAreFollowedByTheirETag(t *testing.T) {
	t.Parallel()
	at := serve(t, "v1")
	c := at.config(t)
	s := source(t, c)
	if texts, err := opened(t, s); err != nil || !slices.Equal(texts, []string{"v1"}) || s.Status().Confirmed.IsZero() {
		t.Fatalf("opened %v, %v, %+v", texts, err, s.Status())
	}
	offered := follow(t, s)
	awaittest.Until(t, "an unchanged bundle", func() bool { return len(at.questions()) > 2 })
	if tags := at.questions(); tags[0] != "" || tags[1] != `"v1"` || len(offered) > 0 {
		t.Errorf("asked with %q, offered %d", tags, len(offered))
	}
	at.has("v2", 0)
	if text := offered.next(t); text != "v2" {
		t.Errorf("offered %s", text)
	}
	awaittest.Until(t, "what is kept", func() bool { kept, _ := LastGood(c.Dir); return string(kept) == "v2" })
}

func TestABundleThatIsNotSoundIsOfferedAgainAndNotKept(t *testing.T) {
	t.Parallel() // it waits
	at := serve(t, "v1")
	c := at.config(t)
	s := source(t, c)
	_, err := opened(t, s)
	must(t, err)
	offered := follow(t, s)
	at.has("bad", 0)
	for range 2 {
		if text := offered.next(t); text != "bad" {
			t.Errorf("offered %s", text)
		}
	}
	awaittest.Until(t, "the fault", func() bool { return errors.Is(s.Status().Fault, errBad) })
	if kept, err := LastGood(c.Dir); string(kept) != "v1" {
		t.Errorf("kept is %s, %v", kept, err)
	}
	at.has("v2", 0)
	for offered.next(t) != "v2" {
	}
	awaittest.Until(t, "the end of the fault", func() bool { return s.Status().Fault == nil })
}

func TestAServerThatFailsLeavesWhatIsInForce(t *testing.T) {
	t.Parallel() // it waits
	at := serve(t, "v1")
	s := source(t, at.config(t))
	_, err := opened(t, s)
	must(t, err)
	confirmed := s.Status().Confirmed
	at.has("v1", http.StatusForbidden)
	offered := follow(t, s)
	awaittest.Until(t, "the fault", func() bool { return s.Status().Fault != nil })
	if why := s.Status(); !strings.Contains(why.Fault.Error(), "the bundle server ") || strings.Contains(why.Fault.Error(), at.URL) ||
		why.Confirmed.Before(confirmed) || len(offered) > 0 {
		t.Errorf("got %+v, offered %d", why, len(offered))
	}
	at.has("v1", 0)
	awaittest.Until(t, "the end of the fault", func() bool { return s.Status().Fault == nil })
}

func TestTheServerIsNotAskedSoonerThanItWants(t *testing.T) {
	t.Parallel()
	answers := []string{"600", "864000", ""} // the second is too long to be meant
	at := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if wait := answers[0]; wait != "" {
			answers = answers[1:]
			w.Header().Set("Retry-After", wait)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	at.Config.SetKeepAlivesEnabled(false) // so that the test's clock has nobody to wait for
	at.StartTLS()
	defer at.Close()
	c := (&server{Server: at}).config(t)
	must(t, os.WriteFile(File(c.Dir), []byte("v1"), 0o600))
	synctest.Test(t, func(t *testing.T) {
		begun, asked := time.Now(), []time.Duration{}
		s := source(t, c)
		roots, err := httpapi.Roots(c.Server.CAFile)
		must(t, err)
		s.client = httpapi.New(httpapi.Config{Name: "the server", Roots: roots, Credential: func() (bailiff.Secret, error) {
			asked = append(asked, time.Since(begun))
			return bailiff.NewSecret("token"), nil
		}})
		_, err = opened(t, s)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		s.Follow(ctx, ending{cancel})
		if want := []time.Duration{0, 10 * time.Minute, 70 * time.Minute}; !slices.Equal(asked, want) {
			t.Errorf("it was asked after %v, want %v", asked, want)
		}
	})
}

// ending has what follows end with the first archive.
type ending struct{ end func() }

func (e ending) Offer(context.Context, []byte) error {
	e.end()
	return nil
}

func TestTheServerMustBeVouchedFor(t *testing.T) {
	t.Parallel()
	at := serve(t, "v1")
	c := at.config(t)
	c.Server.CAFile = ""
	if texts, err := opened(t, source(t, c)); err == nil || len(texts) > 0 || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("opened %v, %v", texts, err)
	}
	c.Server.CAFile = filepath.Join(c.Dir, "none")
	must(t, os.WriteFile(c.Server.CAFile, []byte("hello"), 0o600))
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "holds no certificate") {
		t.Errorf("got %v", err)
	}
}

func TestTheTokenIsSentAndReadAnew(t *testing.T) {
	t.Parallel()
	at := serve(t, "v1")
	c := at.config(t)
	c.Server.Token.File = filepath.Join(c.Dir, "token")
	s := source(t, c)
	for _, want := range []string{"the-first-of-tokens", "the-second-of-tokens"} {
		must(t, os.WriteFile(c.Server.Token.File, []byte(want), 0o600))
		_, err := s.fetch(t.Context())
		must(t, err)
		if got := at.asked[len(at.asked)-1].Header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("sent was %q", got)
		}
	}
}

func TestAnArchiveWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	endless := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	at := server{Server: endless}
	if _, err := source(t, at.config(t)).fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("got %v", err)
	}
}
