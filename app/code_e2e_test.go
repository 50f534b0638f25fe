package app

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

func script(code string) bailiff.Request {
	req := inChat("scripts", "")
	req.Tool, req.Args.Code = bailiff.ExecuteCode, code
	return req
}

func TestScriptsKeepTheirVariablesAndCallTools(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			_, law := shippedWith(t, "      terminal: allow\n", "      terminal: allow\n      web_search: allow\n")
			s := startSidecar(t, section, law)
			agent := s.client(t)
			must(t, agent.RegisterTools(t.Context(), "scripts", []string{"web_search"}))
			var calls []api.ToolCall
			search := func(c api.ToolCall) {
				calls = append(calls, c)
				if err := agent.AnswerTool(t.Context(), c.ID, api.ToolAnswer{Result: []byte(`{"hits": [1, 2]}`)}); err != nil {
					t.Error(err)
				}
			}
			for _, step := range []struct {
				code, prints string
				calls        int
			}{
				{"x = 41", "", 0},
				{"print(x + 1)", "42\n", 0},
				{"from bailiff_tools import terminal\nprint(terminal('echo $0 > made; cat made; exit 3'))",
					"{'exit_code': 3, 'message': '', 'output': '/bin/bash\\n', 'status': 'completed'}\n", 1},
				{"print(open('made').read(), terminal('rm -rf /')['status'])", "/bin/bash\n denied\n", 1},
				{"import bailiff_tools as b\nprint(b.web_search(query='ä')['hits'])", "[1, 2]\n", 1},
				{"try: b.send_mail()\nexcept b.ToolError as e: print(e)",
					"the policies do not let scripts of this session call \"send_mail\"\n", 1},
			} {
				a, err := agent.Execute(t.Context(), script(step.code), client.News{ToolCall: search})
				if err != nil || a.Status != bailiff.Completed || a.Output != step.prints || a.ToolCallsMade != step.calls ||
					a.Backend != backend || a.Message != "" {
					t.Errorf("%q was answered %+v, %v", step.code, a, err)
				}
			}
			if len(calls) != 1 || calls[0].Name != "web_search" || string(calls[0].Arguments) != `{"query":"ä"}` {
				t.Errorf("the agent was asked %+v", calls)
			}
			slow := script("print('on'); terminal('sleep 600')")
			slow.Args.Timeout = 1
			if a := ask(t, agent, slow); a.Status != bailiff.TimedOut || !strings.HasPrefix(a.Output, "on\nTraceback") ||
				strings.Contains(a.Message, "lost") {
				t.Errorf("a script that waits was answered %+v", a)
			}
			if a := ask(t, agent, script("print(x)")); a.Output != "41\n" {
				t.Errorf("afterwards a script was answered %+v", a)
			}
			log := decisionLog(t, s)
			for _, asked := range []string{`"command":"rm -rf /"`, `"name":"web_search"`} {
				if !strings.Contains(log, asked) {
					t.Errorf("nobody judged %s", asked)
				}
			}
		})
	}
}

func TestAScriptIsJudgedTogetherWithThoseBeforeIt(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, isolated["bubblewrap"])
	agent := s.client(t)
	for _, step := range []struct {
		code   string
		reset  bool
		status bailiff.Status
	}{
		{"import shutil\ntree = '/'", false, bailiff.Completed},
		{"print(1)", false, bailiff.Completed},
		{"shutil.rmtree(tree)", false, bailiff.Refused},
		{"print(tree)", false, bailiff.Completed},
		{"shutil.rmtree(tree)", true, bailiff.Completed}, // there is no such name
		{"shutil.rmtree(tree)", false, bailiff.Completed},
	} {
		req := script(step.code)
		req.Args.Reset = step.reset
		if a := ask(t, agent, req); a.Status != step.status || step.code == "shutil.rmtree(tree)" && a.ExitCode == 0 {
			t.Errorf("%q is answered %+v, want %s", step.code, a, step.status)
		}
	}
}
