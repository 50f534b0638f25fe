package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// An agent is told what its command was refused on the way out, and that another names a new host. A
// person says yes for the session, and the same command works, as does the next one to that host.
func TestRealAgentsReachAHostOnceAPersonAllowsIt(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served "+r.URL.Path) }))
	t.Cleanup(server.Close)
	at := server.Listener.Addr().String()
	_, port, _ := strings.Cut(at, ":")
	s := apptest.Serve(t, "egress: {hosts: {known.test: 127.0.0.1, new.test: 127.0.0.1}, own: [\""+at+"\"]}",
		apptest.WithRules(t, "", "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
			"    network:\n      platforms: {cli: {network: egress, egress: [known.test]}}\n      ask_new_hosts: {cli: true}\n",
			"    destinations:\n", "    destinations:\n      known.test: [{ports: ["+port+"], protocol: http, paths: [/open]}]\n"))
	fetching := func(address string) map[string]any {
		return map[string]any{"command": "curl -sS http://" + strings.Replace(address, "/", ":"+port+"/", 1)}
	}
	for name, agent := range mcpAgents {
		t.Run(name, func(t *testing.T) {
			approved := func([]string) any {
				if _, err := s.Operators(t).Approve(t.Context(), s.Pending(t), bailiff.ScopeSession); err != nil {
					t.Error(err)
				}
				return fetching("new.test/a")
			}
			told := byMCP(t, s.Agent, agent.start, apptest.Call{Tool: agent.tool, Args: fetching("known.test/closed")},
				apptest.Call{Tool: agent.tool, Args: fetching("new.test/a")}, apptest.Call{Tool: agent.tool, Args: approved},
				apptest.Call{Tool: agent.tool, Args: fetching("new.test/b")})
			for i, want := range []string{"Refused on the way out: known.test:" + port + " (egress.not_this_request, once).",
				"command.reaches_new_host: new.test", "served /a", "served /b"} {
				if !strings.Contains(told[i], want) {
					t.Errorf("its model is told %q, want %q in it", told[i], want)
				}
			}
		})
	}
}
