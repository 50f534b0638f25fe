package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestWhatARoleDoesNotLetDoIsNotDone(t *testing.T) {
	s := &sidecar{}
	c := newOffice(t, 1).config(s, "vic")
	c.BreakGlass = breaker{}
	asked := map[string]bool{}
	c.Permit = func(who bailiff.Approver, to string) error {
		asked[to] = true
		return fmt.Errorf("%w: not yours to %s, %s", api.ErrIneligible, to, who.Person)
	}
	h, err := NewOperator(c)
	if err != nil {
		t.Fatal(err)
	}
	for what, to := range map[string]string{
		"DELETE /v1/sandboxes/sb1": bailiff.MayOperate, "POST /v1/sandboxes/reap": bailiff.MayOperate,
		"POST /v1/project/adopt": bailiff.MayOperate, "GET /v1/changes": bailiff.MayOperate,
		"POST /v1/changes/c1/undo": bailiff.MayOperate, "POST /v1/mcp/files/trust": bailiff.MayGovern,
		"DELETE /v1/mcp/files": bailiff.MayGovern,
		"POST /v1/freeze":      bailiff.MayOperate, "DELETE /v1/freeze": bailiff.MayOperate, "DELETE /v1/grants/g": bailiff.MayRevoke,
		"POST /v1/policies/rollback": bailiff.MayGovern, "DELETE /v1/policies/rollback": bailiff.MayGovern,
		"POST /v1/break-glass": bailiff.MayGovern,
	} {
		method, path, _ := strings.Cut(what, " ")
		clear(asked)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("{}")))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "not_eligible") || !asked[to] {
			t.Errorf("%s: %d %s, asked about %v", what, w.Code, w.Body, asked)
		}
	}
	if len(s.removed) > 0 {
		t.Errorf("removed all the same: %v", s.removed)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/status", nil)); w.Code != http.StatusOK {
		t.Errorf("looking: %d %s", w.Code, w.Body)
	}
}
