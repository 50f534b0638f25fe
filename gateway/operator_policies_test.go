package gateway

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

func TestOperatorsSeeThePoliciesThatWereInForce(t *testing.T) {
	c := newOffice(t, 1).caller(t, "ana")
	var list api.Revisions
	c.do(http.MethodGet, "/v1/policies/history", "").into(t, http.StatusOK, &list)
	if !reflect.DeepEqual(list.Revisions, []api.Revision{lawful}) {
		t.Errorf("they are %+v", list)
	}
	var one api.ShownRevision
	c.do(http.MethodGet, "/v1/policies/history/r0", "").into(t, http.StatusOK, &one)
	if want := []api.PolicyFile{{Name: "/etc/p.rego", Text: "package p\n"}}; !reflect.DeepEqual(one,
		api.ShownRevision{Revision: lawful, Texts: want}) {
		t.Errorf("it is %+v", one)
	}
}

func TestPoliciesAreRolledBackByWhomMay(t *testing.T) {
	o := newOffice(t, 1)
	const body = `{"revision": "r0", "reason": "It was right."}`
	var now api.PolicyStatus
	o.caller(t, "ana").post("/v1/policies/rollback", body).into(t, http.StatusOK, &now)
	if now.Revision != sidecarStatus.Policies.Revision {
		t.Errorf("in force is %+v", now)
	}
	o.caller(t, "ana").do(http.MethodDelete, "/v1/policies/rollback", "").into(t, http.StatusOK, &now)
	for _, who := range []string{"bob", ""} {
		if p := o.caller(t, who).post("/v1/policies/rollback", body).problem(t, http.StatusForbidden); p.Code != "not_eligible" {
			t.Errorf("%q is told %+v", who, p)
		}
	}
	o.caller(t, "").do(http.MethodDelete, "/v1/policies/rollback", "").problem(t, http.StatusForbidden)
}

func TestARollbackThatChangesNothingSaysWhy(t *testing.T) {
	c := newOffice(t, 1).caller(t, "ana")
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		`{"revision": "gone"}`:    {http.StatusNotFound, "revision_unknown"},
		`{"revision": "unsound"}`: {http.StatusConflict, "policies_unsound"},
		`{"revision": "waiting"}`: {http.StatusConflict, "not_rolled_back"},
		`{"revision": "full"}`:    {http.StatusServiceUnavailable, "store_failed"},
		`{}`:                      {http.StatusBadRequest, codeRequest},
		`{"revision": "` + strings.Repeat("a", idLength+1) + `"}`:                     {http.StatusBadRequest, codeRequest},
		`{"revision": "r0", "reason": "` + strings.Repeat("a", reasonLength+1) + `"}`: {http.StatusBadRequest, codeRequest},
	} {
		if p := c.post("/v1/policies/rollback", body).problem(t, want.status); p.Code != want.code {
			t.Errorf("%.40s is told %+v, want %s", body, p, want.code)
		}
	}
}
