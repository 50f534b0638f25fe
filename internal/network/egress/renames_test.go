package egress

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Servers that keep headers as variables read "_" and "-" as one, so that a name must have one reading.
func TestNoHeaderAimsARequestElsewhere(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") })
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), true)
	ask := func(path, header, value string) (int, string, string) {
		r := asking(t, "GET", "https://allowed.test:"+port(address)+path)
		if header != "" {
			r.Header[header] = []string{value}
		}
		return answered(t, client, r)
	}
	for _, name := range []string{
		"X_HTTP_METHOD_OVERRIDE", "X_Original-URL", "X-Http-Method", "X-HTTP-Method-Override", "X-Method-Override", "X-Original-Method",
		"X-Original-Uri", "X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Uri", "X-Forwarded-Method", "X-Forwarded-Prefix",
		"X-Forwarded-Path", "X-Override-Url", "X-Http-Path-Override", "X-Http-Host-Override", "X-Host", "Request-Uri", "Script-Name",
		"Path_Info", "X_Anything", "X.Anything", "X~Anything", "_",
	} {
		if status, rule, body := ask("/", name, "x"); status != http.StatusForbidden || rule != ruleAmbiguous ||
			!strings.Contains(body, http.CanonicalHeaderKey(name)) && !strings.Contains(body, name) {
			t.Errorf("%s: %d %s %q", name, status, rule, body)
		}
	}
	for _, query := range []string{"_method=DELETE", "a=b&%5fmethod=DELETE", "a=b;_METHOD=x", "x-http-method-override=PUT"} {
		if status, rule, _ := ask("/?"+query, "", ""); status != http.StatusForbidden || rule != ruleAmbiguous {
			t.Errorf("?%s: %d %s", query, status, rule)
		}
	}
	if slices.Contains(w.done(), "judge https allowed.test GET") {
		t.Error("one of them was judged")
	}
	for _, name := range []string{"X-Api-Key", "X-Request-Id", "X-Forwarded-For", "X-Forwarded-Host", "Override", "X-Amz-Date"} {
		if status, rule, _ := ask("/?method=x&base_url=y&path-info=z", name, "x"); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, rule)
		}
	}
}

func TestWhereARequestMovesSomethingIsJudgedToo(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Destination")) })
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	w.mu.Lock()
	w.allowed["https allowed.test MOVE"] = true
	w.denied["MOVE /closed/a"], w.denied["MOVE /closed%2fa"] = true, true
	w.mu.Unlock()
	client := program(t, proxied(t, w, address), false)
	move := func(to ...string) (int, string, string) {
		r := asking(t, "MOVE", "https://"+host+"/open/a")
		r.Header["Destination"] = to
		return answered(t, client, r)
	}
	for _, to := range []string{"/open/b", "https://" + host + "/open/b"} {
		if status, rule, body := move(to); status != http.StatusOK || body != to {
			t.Errorf("%s: %d %s %q", to, status, rule, body)
		}
	}
	for to, want := range map[string]string{
		"/closed/a": "egress.not_in_table", "https://" + host + "/closed/a": "egress.not_in_table", "/closed%2fa": "egress.not_in_table",
		"/open/../closed/a": ruleAmbiguous, "https://evil.test/open/b": ruleAmbiguous, "http://" + host + "/open/b": ruleAmbiguous,
		"//evil.test/open/b": ruleAmbiguous, "open/b": ruleAmbiguous, "": ruleAmbiguous, "/open/b?to=/closed/a": ruleAmbiguous,
		"https://u@" + host + "/open/b": ruleAmbiguous, "https:/open/b": ruleAmbiguous,
	} {
		if status, rule, _ := move(to); status != http.StatusForbidden || rule != want {
			t.Errorf("%s: %d %s, want %s", to, status, rule, want)
		}
	}
	if status, rule, _ := move("/open/b", "/closed/a"); status != http.StatusForbidden || rule != ruleAmbiguous {
		t.Errorf("two of them: %d %s", status, rule)
	}
}
