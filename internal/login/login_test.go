package login_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/login"
	"github.com/bailiff-dev/bailiff/internal/login/logintest"
)

const redirect = "http://127.0.0.1:8642/oidc/callback"

func provider(issuer string, change ...func(*login.Config)) *login.Provider {
	c := login.Config{Issuer: issuer, ClientID: logintest.ClientID, AccountClaim: "sub", GroupsClaim: "groups",
		Secret: func() (bailiff.Secret, error) { return bailiff.NewSecret(logintest.Secret), nil }}
	for _, f := range change {
		f(&c)
	}
	return login.New(c)
}

// enter logs ana in.
func enter(t *testing.T, p *login.Provider, s *logintest.Server) (login.Account, error) {
	t.Helper()
	begun, kept, err := p.Begin(t.Context(), redirect)
	if err != nil {
		return login.Account{}, err
	}
	back := s.Login(t, begun, "ana").Query()
	return p.Finish(t.Context(), redirect, kept, back.Get("state"), back.Get("code"))
}

func TestWhoLogsInIsWhoTheProviderSays(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	s.Give("ana", "security", "ops")
	p := provider(s.URL)
	want := login.Account{ID: "ana", Groups: []string{"security", "ops"}}
	for _, step := range []string{"at first", "with another key"} {
		if got, err := enter(t, p, s); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", step, got, err)
		}
		s.Rotate(t)
	}
	none := provider(s.URL, func(c *login.Config) { c.GroupsClaim = "" })
	if got, err := enter(t, none, s); err != nil || got.Groups != nil {
		t.Errorf("where no groups are taken over: %+v, %v", got, err)
	}
}

func TestATokenThatProvesNothingLogsNobodyIn(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	p := provider(s.URL)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(name string, value any) func(map[string]any) string {
		return func(claims map[string]any) string {
			claims[name] = value
			return s.Sign(claims)
		}
	}
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprint("group", i)
	}
	for name, c := range map[string]struct {
		alter func(map[string]any) string
		says  string
	}{
		"forged":              {func(c map[string]any) string { return logintest.SignWith("x", other, c) }, "failed to verify signature"},
		"alg none":            {logintest.UnsignedToken, "malformed jwt"},
		"expired":             {with("exp", time.Now().Add(-2*time.Minute).Unix()), "token is expired"},
		"of another audience": {with("aud", "another-client"), `expected audience "bailiff"`},
		"of two audiences": {func(claims map[string]any) string {
			claims["aud"] = []string{"bailiff", "another-client"}
			delete(claims, "azp")
			return s.Sign(claims)
		}, "another client"},
		"of another party":    {with("azp", "another-client"), "another client"},
		"of another issuer":   {with("iss", "https://elsewhere.example.com"), "issued by a different provider"},
		"of another login":    {with("nonce", "another"), "made for another login"},
		"of the future":       {with("iat", time.Now().Add(5*time.Minute).Unix()), "clocks"},
		"not valid yet":       {with("nbf", time.Now().Add(10*time.Minute).Unix()), "before the nbf"},
		"with 10,000 groups":  {with("groups", many), "has 10000 groups, want 1000 at most"},
		"with groups of what": {with("groups", map[string]any{"a": 1}), "want a list of names"},
		"with a long group":   {with("groups", []string{strings.Repeat("g", 257)}), "want names of 1 to 256 bytes"},
		"without an account":  {with("sub", ""), "tells of another account"},
		"that is no token":    {func(map[string]any) string { return "x.y" }, "malformed jwt"},
	} {
		s.Alter(c.alter)
		_, err := enter(t, p, s)
		if !errors.Is(err, login.ErrRefused) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 600 {
			t.Errorf("one %s: %v", name, err)
		}
	}
	var first string
	s.Alter(func(c map[string]any) string { first = s.Sign(c); return first })
	if _, err := enter(t, p, s); err != nil {
		t.Fatal(err)
	}
	s.Alter(func(map[string]any) string { return first })
	if _, err := enter(t, p, s); !errors.Is(err, login.ErrRefused) || !strings.Contains(err.Error(), "made for another login") {
		t.Errorf("one replayed: %v", err)
	}
}

func TestClocksMayDifferByAMinute(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	p := provider(s.URL)
	for _, claims := range []map[string]time.Duration{{"exp": -30 * time.Second}, {"iat": 30 * time.Second}, {"nbf": 30 * time.Second}} {
		s.Alter(func(c map[string]any) string {
			for name, off := range claims {
				c[name] = time.Now().Add(off).Unix()
			}
			return s.Sign(c)
		})
		if _, err := enter(t, p, s); err != nil {
			t.Errorf("with %v: %v", claims, err)
		}
	}
}

func TestOnlyTheBrowserThatBeganALoginFinishesIt(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	p := provider(s.URL)
	begun, kept, err := p.Begin(t.Context(), redirect)
	if err != nil {
		t.Fatal(err)
	}
	_, others, err := p.Begin(t.Context(), redirect)
	if err != nil {
		t.Fatal(err)
	}
	back := s.Login(t, begun, "ana").Query()
	for name, c := range map[string]struct{ kept, state, says string }{
		"another browser":      {others, back.Get("state"), "not the login that this browser has begun"},
		"no browser":           {"", back.Get("state"), "has begun no login"},
		"without a state":      {kept, "", "not the login that this browser has begun"},
		"a cookie of no login": {"x", back.Get("state"), "has begun no login"},
	} {
		if _, err := p.Finish(t.Context(), redirect, c.kept, c.state, back.Get("code")); !errors.Is(err, login.ErrRefused) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Finish(t.Context(), redirect, kept, back.Get("state"), back.Get("code")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Finish(t.Context(), redirect, kept, back.Get("state"), back.Get("code")); !errors.Is(err, login.ErrRefused) {
		t.Errorf("a code used twice: %v", err)
	}
}

func TestAProviderThatIsDownKeepsPeopleFromLoggingInOnly(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	down := httptest.NewServer(http.RedirectHandler(s.URL, http.StatusFound))
	t.Cleanup(down.Close)
	for name, p := range map[string]*login.Provider{"one that redirects to another host": provider(down.URL),
		"one that is not there": provider("http://127.0.0.1:1")} {
		for range 2 { // the second is told at once
			if _, _, err := p.Begin(t.Context(), redirect); !errors.Is(err, login.ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	p := provider(s.URL)
	begun, kept, err := p.Begin(t.Context(), redirect)
	if err != nil {
		t.Fatal(err)
	}
	back := s.Login(t, begun, "ana").Query()
	s.Break(true)
	if _, err := p.Finish(t.Context(), redirect, kept, back.Get("state"), back.Get("code")); !errors.Is(err, login.ErrUnavailable) ||
		strings.Contains(err.Error(), back.Get("code")) {
		t.Errorf("one that fails meanwhile: %v", err)
	}
	s.Break(false)
	if _, err := p.Finish(t.Context(), redirect, kept, back.Get("state"), back.Get("code")); err != nil {
		t.Errorf("once it works again: %v", err)
	}
}

func TestTheSecretIsInNoError(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	p := provider(s.URL, func(c *login.Config) {
		c.Secret = func() (bailiff.Secret, error) { return bailiff.NewSecret("a-wrong-secret-of-it"), nil }
	})
	if _, err := enter(t, p, s); err == nil || strings.Contains(err.Error(), "a-wrong-secret-of-it") {
		t.Errorf("it says %v", err)
	}
}

func TestACommandLineLogsInOnceAPersonHasEnteredItsCode(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	s.Give("ana", "security")
	p := provider(s.URL)
	d, err := p.BeginDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.URL, s.URL) || d.Code == "" {
		t.Errorf("the person is shown %+v", d)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.AwaitDevice(short, d); !errors.Is(err, login.ErrPending) {
		t.Errorf("before: %v", err)
	}
	s.Confirm(t, d.Code, "ana")
	if got, err := p.AwaitDevice(t.Context(), d); err != nil || got.ID != "ana" || !reflect.DeepEqual(got.Groups, []string{"security"}) {
		t.Errorf("it is %+v, %v", got, err)
	}
}

func TestWhoGoesAwayKeepsNoOtherFromLoggingIn(t *testing.T) {
	t.Parallel()
	s := logintest.Open(t)
	p := provider(s.URL)
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, _, _ = p.Begin(gone, redirect)
	if _, err := enter(t, p, s); err != nil {
		t.Errorf("after one who went away: %v", err)
	}
}

func TestWaitingForTheProviderEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	answer, asked := make(chan struct{}), make(chan struct{}, 10)
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-answer
	}))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(answer) }) // before the server waits for its requests
	p := provider(silent.URL)
	go func() { _, _, _ = p.Begin(context.Background(), redirect) }()
	<-asked
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := p.Begin(gone, redirect); !errors.Is(err, login.ErrUnavailable) {
		t.Errorf("a second one says %v", err)
	}
	if len(asked) > 0 {
		t.Error("the provider is asked twice at once")
	}
}
