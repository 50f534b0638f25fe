package gateway

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// sidecar is a fake with one sandbox.
type sidecar struct{ removed []string }

var (
	since         = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	sidecarStatus = api.Status{Version: "1.2.3", Started: since,
		Listeners: []api.ListenerStatus{{Name: "hermes", Listen: "unix:///run/bailiff/agent.sock", Platforms: []string{"telegram"}}},
		Policies: api.PolicyStatus{Revision: "r1", Loaded: since, Files: []string{"decision.rego"},
			Bundles: map[string]api.Bundle{"b.tar.gz": {Revision: "v7"}}, Reloaded: since, OK: true, Faults: []string{}},
		Backends:  []api.BackendStatus{{Name: "docker", Isolated: true, Ready: true, Message: ""}},
		Platforms: []api.PlatformStatus{{Platform: "telegram", Backend: "docker", Isolated: true, Image: "debian:12", IdleSeconds: 3600}},
		Chats: []api.ChatStatus{{PlatformStatus: api.PlatformStatus{Platform: "telegram", Backend: "modal", Isolated: true,
			MaxSeconds: 600, Persistent: true}, Chat: "-100/1"}},
		Chat:     []api.ServiceStatus{{Service: "telegram", Approvals: true, At: "-1001", Message: "the token is not valid"}},
		Warnings: []string{"Mind the step."}}
	liveSandbox = api.Sandbox{ID: "sb1", Backend: "docker", Image: "debian:12", Caller: "hermes", Session: "s1", Users: 1, Processes: 2,
		Interpreters: 1, Since: since, LastUsed: since, Expires: since}
)

func (*sidecar) Status(context.Context) api.Status  { return sidecarStatus }
func (*sidecar) List(context.Context) []api.Sandbox { return []api.Sandbox{liveSandbox} }
func (*sidecar) Reap(context.Context) (int, error)  { return 2, nil }
func (s *sidecar) Remove(_ context.Context, id string) (bool, error) {
	if id == "stuck" {
		return true, errors.New("the engine does not answer")
	}
	s.removed = append(s.removed, id)
	return id == liveSandbox.ID, nil
}

func operatorHandler(t testing.TB, s *sidecar) http.Handler {
	t.Helper()
	h, err := NewOperator(newOffice(t, 1).config(s, "ana"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOperatorsSeeTheSidecar(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, operatorHandler(t, &sidecar{})))
	var status api.Status
	c.do(http.MethodGet, "/v1/status", "").into(t, http.StatusOK, &status)
	if !reflect.DeepEqual(status, sidecarStatus) {
		t.Errorf("the status is %+v", status)
	}
	var policies api.PolicyStatus
	c.do(http.MethodGet, "/v1/policies", "").into(t, http.StatusOK, &policies)
	if !reflect.DeepEqual(policies, sidecarStatus.Policies) {
		t.Errorf("the policies are %+v", policies)
	}
	var list api.Sandboxes
	c.do(http.MethodGet, "/v1/sandboxes", "").into(t, http.StatusOK, &list)
	if !reflect.DeepEqual(list.Sandboxes, []api.Sandbox{liveSandbox}) {
		t.Errorf("the sandboxes are %+v", list)
	}
}

func TestOperatorsRemoveSandboxes(t *testing.T) {
	s := &sidecar{}
	c := callerOf(t, open(t, ListenerConfig{}, operatorHandler(t, s)))
	if a := c.do(http.MethodDelete, "/v1/sandboxes/sb1", ""); a.status != http.StatusNoContent || len(a.body) > 0 {
		t.Errorf("answered %d: %s", a.status, a.body)
	}
	c.do(http.MethodDelete, "/v1/sandboxes/other", "").problem(t, http.StatusNotFound)
	c.do(http.MethodDelete, "/v1/sandboxes/stuck", "").problem(t, http.StatusInternalServerError)
	var reaped api.Reaped
	c.post("/v1/sandboxes/reap", "").into(t, http.StatusOK, &reaped)
	if got := strings.Join(s.removed, " "); got != "sb1 other" || reaped.Removed != 2 {
		t.Errorf("removed %s, reaped %d", got, reaped.Removed)
	}
}

func TestAnOperatorsListenerServesNoAgent(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, operatorHandler(t, &sidecar{})))
	for _, path := range []string{"/v1/execute", "/v1/decide", "/v1/data/bailiff/decision", "/v0/data/bailiff/decision",
		"/v1/sessions/s1/tools", "/v1/tool_calls/c1", "/mcp"} {
		p := c.post(path, telegramRequest).problem(t, http.StatusNotFound)
		if !strings.Contains(p.Message, "operators' listener; agents ask at a listener of agent.listeners") {
			t.Errorf("%s is told %q", path, p.Message)
		}
	}
	c.do(http.MethodDelete, "/v1/sessions/s1", "").problem(t, http.StatusNotFound)
}

func TestOperatorsSeeWhatASessionDid(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, operatorHandler(t, &sidecar{})))
	var list api.Sessions
	c.do(http.MethodGet, "/v1/session-histories", "").into(t, http.StatusOK, &list)
	if len(list.Sessions) != 1 || list.Sessions[0] != remembered {
		t.Errorf("the sessions are %+v", list)
	}
	var shown api.SessionShown
	if c.do(http.MethodGet, "/v1/session-histories/s1", "").into(t, http.StatusOK, &shown); len(shown.Histories) != 1 ||
		shown.Histories[0].History.Files[0].Path != "/w/i.sh" || shown.Histories[0].History.Reached["x.test"] != 10 {
		t.Errorf("the session is %+v", shown)
	}
	c.do(http.MethodGet, "/v1/session-histories/other", "").problem(t, http.StatusNotFound)
	c.do(http.MethodGet, "/v1/session-histories?limit=0", "").problem(t, http.StatusBadRequest)
	var report api.Report
	c.do(http.MethodGet, "/v1/report", "").into(t, http.StatusOK, &report)
	if report.Days != 7 || report.Tables[0].Rows[0][0] != "command.kills" {
		t.Errorf("the report is %+v", report)
	}
	if p := c.do(http.MethodGet, "/v1/report?days=365", "").problem(t, http.StatusServiceUnavailable); p.Code != "busy" {
		t.Errorf("while another is made: %+v", p)
	}
}
