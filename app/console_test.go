package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// browse sends what the console's page would.
func browse(t *testing.T, at *url.URL, method, path, body, token string, cookies []*http.Cookie) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+at.Host+path, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Origin", "http://"+at.Host)
	r.Header.Set("Bailiff-Token", token)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp, text
}

func TestTheConsoleServesTheOperatorWhoAskedForTheLink(t *testing.T) {
	t.Parallel()
	s := startSidecar(t)
	operator, err := client.New(s.cfg.Operator.Listen.String(), bailiff.Secret{})
	must(t, err)
	link, err := operator.ConsoleLink(t.Context())
	must(t, err)
	at, err := url.Parse(link.URL)
	must(t, err)
	resp, text := browse(t, at, "POST", "/login", `{"token": "`+at.Fragment+`"}`, "", nil)
	var in struct{ Token, Credential string }
	if err := json.Unmarshal(text, &in); err != nil || !strings.HasPrefix(in.Credential, "uid:") {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	cookies := resp.Cookies()
	resp, text = browse(t, at, "GET", "/v1/status", "", in.Token, cookies)
	var status api.Status
	if err := json.Unmarshal(text, &status); err != nil || status.Policies.Revision != s.policies.Revision() {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	for path, why := range map[string]string{"/v1/console/links": "the console gives links",
		"/v1/break-glass": "the console uses break-glass"} {
		if resp, text := browse(t, at, "POST", path, "{}", in.Token, cookies); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %s", why, resp.StatusCode, text)
		}
	}
	resp, text = browse(t, at, "POST", "/v1/freeze", `{"kind": "session", "id": "s1"}`, in.Token, cookies)
	if f := s.approvals.Freezes(); len(f) != 1 || !strings.HasPrefix(f[0].By, "uid:") {
		t.Errorf("%d %s: %+v", resp.StatusCode, text, f)
	}
	resp, text = browse(t, at, "GET", "/v1/status", "", "", cookies)
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %d %s", resp.StatusCode, text)
	}
}
