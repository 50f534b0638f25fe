package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/policies"
)

// callable is a section with the shipped policies, under which scripts may call
// these tools too.
func callable(t *testing.T, tools string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, policies.FS); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "data.yaml")
	tables, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wider := strings.Replace(string(tables), "      terminal: allow\n", "      terminal: allow\n      "+tools+"\n", 1)
	if wider == string(tables) {
		t.Fatal("the tables do not say what scripts may call")
	}
	save(t, path, wider)
	return "policies: {require_tests: false, paths: [" + folder + "]}"
}

func script(code string) bailiff.Request {
	req := chat("scripts", "")
	req.Tool, req.Args.Code = bailiff.ExecuteCode, code
	return req
}

func TestScriptsKeepTheirVariablesAndCallTools(t *testing.T) {
	for backend, section := range map[string]string{"docker": dockerBackend, "bubblewrap": "backends: {bubblewrap: {}, local: {}}"} {
		t.Run(backend, func(t *testing.T) {
			s := startSidecar(t, section, callable(t, "web_search: allow"))
			door := s.client(t)
			if err := door.RegisterTools(t.Context(), "scripts", []string{"web_search"}); err != nil {
				t.Fatal(err)
			}
			var calls []gateway.ToolCall
			search := func(c gateway.ToolCall) {
				calls = append(calls, c)
				if err := door.AnswerTool(t.Context(), c.ID, gateway.ToolAnswer{Result: []byte(`{"hits": [1, 2]}`)}); err != nil {
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
				{"try: b.send_mail()\nexcept b.ToolError as e: print(e)", "the policies do not let scripts of this session call \"send_mail\"\n", 1},
			} {
				a, err := door.Execute(t.Context(), script(step.code), client.News{ToolCall: search})
				if err != nil || a.Status != bailiff.Completed || a.Output != step.prints || a.ToolCallsMade != step.calls || a.Backend != backend || a.Message != "" {
					t.Errorf("%q was answered %+v, %v", step.code, a, err)
				}
			}
			if len(calls) != 1 || calls[0].Name != "web_search" || string(calls[0].Arguments) != `{"query":"ä"}` {
				t.Errorf("the agent was asked %+v", calls)
			}
			slow := script("print('on'); terminal('sleep 600')")
			slow.Args.Timeout = 1
			if a := ask(t, door, slow); a.Status != bailiff.TimedOut || !strings.HasPrefix(a.Output, "on\nTraceback") || strings.Contains(a.Message, "lost") {
				t.Errorf("a script that waits was answered %+v", a)
			}
			if a := ask(t, door, script("print(x)")); a.Output != "41\n" {
				t.Errorf("afterwards a script was answered %+v", a)
			}
			s.stop()
			wantJudged(t, s, "rm -rf /", "web_search")
		})
	}
}

// wantJudged wants the decision log to hold a decision about each of these.
func wantJudged(t *testing.T, s *running, texts ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.cfg.StateDir, "decisions", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no decision log: %v", err)
	}
	var log strings.Builder
	for _, file := range files {
		lines, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(lines)
	}
	for _, text := range texts {
		spelt, _ := json.Marshal(text)
		if !strings.Contains(log.String(), `:`+string(spelt)) {
			t.Errorf("nobody judged %s", text)
		}
	}
}
