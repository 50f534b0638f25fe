package app

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const siemToken, pagerToken = "a-secret-of-the-siem", "a-secret-of-the-pager"

// startWithPrograms is a sidecar that knows a program that reads and one that stops.
func startWithPrograms(t *testing.T) *identified {
	t.Helper()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`)
	save(t, filepath.Join(i.folder, "siem"), siemToken+"\n")
	save(t, filepath.Join(i.folder, "pager"), pagerToken)
	i.retoken(t, config.Token{Name: "siem", File: filepath.Join(i.folder, "siem"),
		Scopes: []string{api.TokenReadsApprovals, api.TokenReadsDecisions}},
		config.Token{Name: "pager", File: filepath.Join(i.folder, "pager"),
			Scopes: []string{api.TokenFreezes, api.TokenRevokes, api.TokenStopsSandboxes, api.TokenReadsStatus}})
	return i
}

// retoken reads the configuration again, with other tokens.
func (i *identified) retoken(t *testing.T, tokens ...config.Token) {
	t.Helper()
	next := *i.cfg
	next.Operator.Tokens = tokens
	if waiting, err := i.reload(t.Context(), &next); err != nil || len(waiting) > 0 {
		t.Fatalf("%v, and %v wait for a restart", err, waiting)
	}
}

// ask sends a request as a program.
func (i *identified) ask(ctx context.Context, t *testing.T, token, method, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, i.consolePage.URL()+path, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := i.surf(t).Do(r)
	must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestAProgramLooksAndStopsAsItsTokenSays(t *testing.T) {
	t.Parallel()
	i := startWithPrograms(t)
	asked := send(t.Context(), i.office.agent, atTerminal("s", "rm -r ./build"))
	id := asked.question(t)
	for name, c := range map[string]struct {
		token, method, path string
		want                int
	}{
		"its approvals":            {siemToken, "GET", "/v1/approvals/" + id, http.StatusOK},
		"the status":               {siemToken, "GET", "/v1/status", http.StatusForbidden},
		"a yes":                    {siemToken, "POST", "/v1/approvals/" + id + "/approve", http.StatusForbidden},
		"a yes of the pager":       {pagerToken, "POST", "/v1/approvals/" + id + "/approve", http.StatusForbidden},
		"a freeze by the siem":     {siemToken, "POST", "/v1/freeze", http.StatusForbidden},
		"the pager's status":       {pagerToken, "GET", "/v1/status", http.StatusOK},
		"its yes to a rollback":    {pagerToken, "DELETE", "/v1/policies/rollback", http.StatusForbidden},
		"a link":                   {pagerToken, "POST", "/v1/console/links", http.StatusForbidden},
		"an unknown token":         {"a-secret-of-no-program", "GET", "/v1/approvals", http.StatusUnauthorized},
		"an unknown token's POST":  {"a-secret-of-no-program", "POST", "/v1/freeze", http.StatusUnauthorized},
		"half a token":             {siemToken[:16], "GET", "/v1/approvals", http.StatusUnauthorized},
		"no token":                 {"", "GET", "/v1/approvals", http.StatusUnauthorized},
		"the beginnings of a page": {siemToken, "GET", "/session", http.StatusForbidden},
	} {
		if resp := i.ask(t.Context(), t, c.token, c.method, c.path, "{}"); resp.StatusCode != c.want {
			text, _ := io.ReadAll(resp.Body)
			t.Errorf("%s: %d %s, want %d", name, resp.StatusCode, text, c.want)
		}
	}
	resp := i.ask(t.Context(), t, pagerToken, "POST", "/v1/freeze", `{"kind": "session", "id": "s"}`)
	if f := i.approvals.Freezes(); resp.StatusCode != http.StatusOK || len(f) != 1 || f[0].By != "token:pager" {
		t.Errorf("a freeze: %d, %+v", resp.StatusCode, f)
	}
	if resp := i.ask(t.Context(), t, pagerToken, "DELETE", "/v1/freeze", `{"kind": "session", "id": "s"}`); resp.StatusCode !=
		http.StatusForbidden || len(i.approvals.Freezes()) != 1 {
		t.Errorf("its thaw: %d", resp.StatusCode)
	}
	_ = asked.end(t)
}

func TestATokenEndsWithTheReloadThatTakesItAway(t *testing.T) {
	t.Parallel()
	i := startWithPrograms(t)
	before := i.cfg.Operator.Tokens
	patience := awaittest.Context(t)
	events := i.ask(patience, t, siemToken, "GET", "/v1/events", "")
	save(t, filepath.Join(i.folder, "siem"), "another-secret-of-the-siem")
	i.retoken(t, before[0])
	if _, _ = io.ReadAll(events.Body); patience.Err() != nil {
		t.Error("the stream of a token that was changed goes on")
	}
	for token, want := range map[string]int{siemToken: http.StatusUnauthorized, pagerToken: http.StatusUnauthorized,
		"another-secret-of-the-siem": http.StatusOK} {
		if got := i.ask(t.Context(), t, token, "GET", "/v1/grants", "").StatusCode; got != want {
			t.Errorf("%q is answered %d, want %d", token, got, want)
		}
	}
}

func TestATokenEndsThoughAnotherIsAtFault(t *testing.T) {
	t.Parallel()
	i := startWithPrograms(t)
	siem, pager := i.cfg.Operator.Tokens[0], i.cfg.Operator.Tokens[1]
	rescoped := config.Token{Name: pager.Name, File: pager.File, Scopes: siem.Scopes}
	for _, c := range []struct {
		name        string
		file        string // of the pager
		mode        os.FileMode
		tokens      []config.Token
		fault       string
		siem, pager int
	}{
		{"an unchanged one cannot be read", pagerToken, 0o644, []config.Token{siem, pager}, "others may use", http.StatusOK,
			http.StatusForbidden},
		{"the other is withdrawn", pagerToken, 0o644, []config.Token{pager}, "others may use", http.StatusUnauthorized,
			http.StatusForbidden},
		{"one with other scopes cannot be read", pagerToken, 0o644, []config.Token{siem, rescoped}, "others may use", http.StatusOK,
			http.StatusUnauthorized},
		{"both have one secret", siemToken, 0o600, []config.Token{siem, pager}, "siem and pager have the same secret",
			http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		save(t, pager.File, c.file)
		must(t, os.Chmod(pager.File, c.mode))
		next := *i.cfg
		next.Operator.Tokens = c.tokens
		if _, err := i.reload(t.Context(), &next); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want %q", c.name, err, c.fault)
		}
		for token, want := range map[string]int{siemToken: c.siem, pagerToken: c.pager} {
			if got := i.ask(t.Context(), t, token, "GET", "/v1/grants", "").StatusCode; got != want {
				t.Errorf("%s: %q is answered %d, want %d", c.name, token, got, want)
			}
		}
	}
}

func TestWrongTokensAreLimitedAndRightOnesAreNot(t *testing.T) {
	t.Parallel()
	i := startWithPrograms(t)
	limited := 0
	for range 20 {
		if i.ask(t.Context(), t, "a-secret-of-no-program", "GET", "/v1/grants", "").StatusCode == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 5 {
		t.Errorf("of 20 wrong tokens %d were limited", limited)
	}
	if resp := i.ask(t.Context(), t, siemToken, "GET", "/v1/grants", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("a right one is answered %d", resp.StatusCode)
	}
}
