package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

func TestATokenLetsAProgramDoWhatItsScopesSayOnly(t *testing.T) {
	t.Parallel()
	var reached string
	all := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = r.Method + " " + r.URL.Path })
	needed := map[string]string{
		"GET /v1/approvals": "approvals.read", "GET /v1/approvals/a1": "approvals.read", "GET /v1/approvals/a1/preview": "approvals.read",
		"GET /v1/grants": "approvals.read", "GET /v1/decisions": "decisions.read", "GET /v1/events": "approvals.read decisions.read",
		"GET /v1/status": "status.read", "GET /v1/policies": "status.read", "GET /v1/policies/history": "status.read",
		"GET /v1/policies/history/r1": "status.read", "GET /v1/sandboxes": "status.read", "GET /v1/freeze": "status.read",
		"POST /v1/freeze": "freeze.write", "DELETE /v1/grants/g1": "grants.write", "DELETE /v1/sandboxes/s1": "sandboxes.write",
		"POST /v1/sandboxes/reap": "sandboxes.write",
		// for people
		"POST /v1/approvals/a1/approve": "", "POST /v1/approvals/a1/deny": "", "DELETE /v1/freeze": "", "POST /v1/policies/rollback": "",
		"DELETE /v1/policies/rollback": "", "POST /v1/break-glass": "", "POST /v1/console/links": "", "GET /v1//status": "",
		"GET /v1/x/../status": "", "GET /elsewhere": "", "POST /v1/status": "",
	}
	scopes := []string{api.TokenReadsApprovals, api.TokenReadsDecisions, api.TokenReadsStatus, api.TokenFreezes, api.TokenRevokes,
		api.TokenStopsSandboxes}
	try := func(what string, given []string) (bool, *httptest.ResponseRecorder) {
		method, path, _ := strings.Cut(what, " ")
		reached = ""
		w := httptest.NewRecorder()
		WithScopes(all, "siem", given).ServeHTTP(w, httptest.NewRequest(method, "http://console"+path, nil))
		return reached == what, w
	}
	for what, needs := range needed {
		if let, w := try(what, scopes); let != (needs != "") {
			t.Errorf("with every scope %s: %d %s", what, w.Code, w.Body)
		}
		if let, _ := try(what, strings.Fields(needs)); let != (needs != "") {
			t.Errorf("with %q %s is let: %v", needs, what, let)
		}
		for _, one := range strings.Fields(needs) {
			var others []string
			for _, s := range scopes {
				if s != one {
					others = append(others, s)
				}
			}
			if let, w := try(what, others); let || w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), one) {
				t.Errorf("without %s %s: %d %s", one, what, w.Code, w.Body)
			}
		}
	}
}
