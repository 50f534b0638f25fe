package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

const callingScript = `
import bailiff_tools
print(bailiff_tools.read_page(url="http://x.test/<a>", most=3)["title"])
for tool in (bailiff_tools.send_mail, bailiff_tools.read_page, bailiff_tools.wipe, bailiff_tools.nobody_registered_it):
    try:
        tool(to="eve")
    except bailiff_tools.ToolError as e:
        print("ToolError:", e)
print(bailiff_tools.terminal("rm -rf /")["status"], bailiff_tools.terminal("echo hi; exit 3")["exit_code"])
`

func TestAScriptCallsWhatThePoliciesAndTheAgentOfferAndEachCallIsJudged(t *testing.T) {
	t.Parallel()
	_, law := shippedWith(t, "      terminal: allow\n",
		"      terminal: allow\n      read_page: allow\n      send_mail: ask\n      wipe: deny\n      nobody_registered_it: allow\n")
	s := startSidecar(t, "backends: {bubblewrap: {}}", law)
	agent := s.client(t)
	must(t, agent.RegisterTools(t.Context(), "s1", []string{"read_page", "send_mail", "wipe"}))
	wrong := "there is no such page"
	var called []string
	req := inChat("s1", "")
	req.Tool, req.Args = bailiff.ExecuteCode, bailiff.Args{Code: callingScript}
	a, err := agent.Execute(t.Context(), req, client.News{ToolCall: func(c api.ToolCall) {
		called = append(called, c.Name+" "+string(c.Arguments))
		answer := api.ToolAnswer{Result: []byte(`{"title": "An officer"}`)}
		if len(called) > 1 {
			answer = api.ToolAnswer{Error: &wrong}
		}
		if err := agent.AnswerTool(t.Context(), c.ID, answer); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || a.Status != bailiff.Completed || a.ToolCallsMade != 7 {
		t.Fatalf("answered %+v, %v", a, err)
	}
	lines := strings.Split(strings.TrimSpace(a.Output), "\n")
	for i, want := range []string{"An officer", "ToolError: Not approved", "ToolError: " + wrong,
		"ToolError: the policies do not let", "ToolError: the agent has registered no", "denied 3"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d of %q is not %q", i, lines, want)
		}
	}
	if len(called) != 2 || called[0] != `read_page {"most":3,"url":"http://x.test/<a>"}` || called[1] != `read_page {"to":"eve"}` {
		t.Errorf("called were %q", called)
	}
	log := string(bytes.Join(s.decisions.Recent("s1", 100), nil))
	for said, times := range map[string]int{`"name":"read_page"`: 2, `"name":"send_mail"`: 1, `"command":"rm -rf /"`: 1} {
		if n := strings.Count(log, said); n < times {
			t.Errorf("the decision log says %s %d times, want %d", said, n, times)
		}
	}
}
