package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// mcpAgents are real agents that have bailiff's tools by MCP, started as "bailiff mcp".
var mcpAgents = map[string]struct {
	tool  string
	start func(t *testing.T, s *apptest.Machine, m *apptest.Model) *exec.Cmd
}{
	"Claude Code": {"mcp__bailiff__terminal", func(t *testing.T, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
		return s.Claude(t, m, "--strict-mcp-config", "--allowedTools", "mcp__bailiff__terminal,mcp__bailiff__process", "--mcp-config",
			`{"mcpServers": {"bailiff": {"command": "/usr/local/bin/bailiff", "args": `+mcpArgs+`}}}`)
	}},
	"Codex": {"mcp__bailiff/terminal", func(t *testing.T, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
		return s.Codex(t, m, `
model = "scripted"
sandbox_mode = "workspace-write"
[mcp_servers.bailiff]
required = true
startup_timeout_sec = 60
command = "/usr/local/bin/bailiff"
default_tools_approval_mode = "approve"
args = `+mcpArgs+"\n")
	}},
	"opencode": {"bailiff_terminal", func(t *testing.T, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
		return s.Opencode(t, m, map[string]any{"bailiff": map[string]any{"type": "local",
			"command": json.RawMessage(strings.Replace(mcpArgs, "[", `["/usr/local/bin/bailiff", `, 1))}})
	}},
}

const mcpArgs = `["mcp", "--listen", "unix:///run/bailiff/agent.sock", "--timeout", "1", "--env", "OF_NO_TABLE"]`

// processID finds a process in what a model is told.
var processID = regexp.MustCompile(`\bp[a-z2-7]{10}\b`)

// marking is a command that leaves a mark where it runs.
func marking(mark string) map[string]any {
	return map[string]any{"command": "touch " + mark + " && ls -d " + mark}
}

func TestRealAgentsRunCommandsByMCPInTheSandbox(t *testing.T) {
	t.Parallel()
	s := apptest.Serve(t)
	for name, agent := range mcpAgents {
		t.Run(name, func(t *testing.T) {
			mark := apptest.Mark(t)
			told := byMCP(t, s.Agent, agent.start, apptest.Call{Tool: agent.tool, Args: marking(mark)},
				apptest.Call{Tool: agent.tool, Args: map[string]any{"command": "mkfs.ext4 /dev/none"}},
				apptest.Call{Tool: agent.tool, Args: map[string]any{"command": "printenv OF_NO_TABLE"}},
				apptest.Call{Tool: agent.tool, Args: map[string]any{"command": "seq 30000 | tee all.txt"}},
				apptest.Call{Tool: agent.tool, Args: map[string]any{"command": "sed -n 15000p all.txt"}},
				apptest.Call{Tool: agent.tool, Args: map[string]any{"command": "read n; echo hello $n", "background": true}},
				apptest.Call{Tool: strings.Replace(agent.tool, "terminal", "process", 1), Args: func(told []string) any {
					return map[string]any{"action": "submit", "process_id": processID.FindString(told[5]), "data": "ana"}
				}},
				apptest.Call{Tool: strings.Replace(agent.tool, "terminal", "process", 1), Args: func(told []string) any {
					return map[string]any{"action": "wait", "process_id": processID.FindString(told[5]), "timeout": 30}
				}})
			for i, want := range []string{mark, "command.destroys_system", "OF_NO_TABLE was withheld (env.", "62", "15000", "", "",
				"hello ana"} {
				if !strings.Contains(told[i], want) || strings.Contains(told[3], "\n15000\n") {
					t.Errorf("of call %d its model is told %.500q, want %s", i, told[i], want)
				}
			}
			apptest.WantNoMark(t, mark)
		})
	}
}

func TestBehindMCPNoBrokenSidecarRunsAnything(t *testing.T) {
	t.Parallel()
	// "bailiff mcp" itself stands in front of all of them, in its own tests: an agent meets one in every run.
	meets := map[string]string{"Claude Code": apptest.Absent, "Codex": apptest.Silent, "opencode": apptest.Silent}
	for name, agent := range mcpAgents {
		few := slices.DeleteFunc(apptest.BrokenSidecars(), func(w apptest.BrokenSidecar) bool {
			isMet := w.Name == meets[name] || os.Getenv("BAILIFF_TEST_ALL") != "" && (w.Name == apptest.Absent || w.Name == apptest.Silent)
			return !isMet
		})
		if len(few) == 0 {
			t.Fatalf("%s meets no broken sidecar", name)
		}
		for _, broken := range few {
			t.Run(name+" and one that "+broken.Name, func(t *testing.T) {
				mark := apptest.Mark(t)
				told := byMCP(t, broken.Open(t, "unix"), agent.start, apptest.Call{Tool: agent.tool, Args: marking(mark)})
				if strings.Contains(told[0], mark) {
					t.Errorf("its model is told %q", told)
				}
				apptest.WantNoMark(t, mark)
			})
		}
	}
}

// byMCP has an agent make calls, and returns what it told its model of each.
func byMCP(t *testing.T, address string, start func(*testing.T, *apptest.Machine, *apptest.Model) *exec.Cmd,
	calls ...apptest.Call) []string {
	t.Helper()
	m := apptest.ServeModel(t, calls...)
	return m.Work(t, start(t, apptest.NewMachine(t, address, apptest.Programs(t)), m))
}

func TestRealAgentsWaitForCommandsThatTakeLongerThanAMinute(t *testing.T) {
	backendtest.Reserve(t, "it takes more than a minute")
	s := apptest.Serve(t)
	for name, agent := range mcpAgents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := byMCP(t, s.Agent, agent.start, apptest.Call{Tool: agent.tool, Args: map[string]any{
				"command": "for i in $(seq 65); do echo $i; sleep 1; done; echo to the end", "timeout": 90}})
			if !strings.Contains(told[0], "to the end") {
				t.Errorf("its model is told %q", told)
			}
		})
	}
}

// Where nobody sits at them, agents decline the page of an approval by themselves.
func TestRealAgentsWaitForApproversWhereTheConsoleHasAPage(t *testing.T) {
	for name, agent := range mcpAgents {
		if name == "opencode" && os.Getenv("BAILIFF_TEST_ALL") == "" {
			continue // it starts slowly, and waits as it does for any command
		}
		t.Run(name, func(t *testing.T) {
			s := apptest.Serve(t, `operator: {listen: "<operator>", console: "127.0.0.1:0", allow_same_user: true}`,
				apptest.WithRules(t, apptest.AskedAbout))
			s.ApproveNext(t, 2*time.Second) // in which an agent that gives its call up has done so
			told := byMCP(t, s.Agent, agent.start, apptest.Call{Tool: agent.tool, Args: map[string]any{
				"command": "echo asked-about; echo and run by $(hostname)"}})
			if !strings.Contains(told[0], "and run by sandbox") {
				t.Errorf("its model is told %q", told)
			}
		})
	}
}
