package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/trial"
)

// mcpAgents are real agents that have bailiff's tools by MCP, started as "bailiff mcp".
var mcpAgents = map[string]struct {
	tool  string
	start func(t *testing.T, s *trial.Stage, m *trial.Model) *exec.Cmd
}{
	"Claude Code": {"mcp__bailiff__terminal", func(t *testing.T, s *trial.Stage, m *trial.Model) *exec.Cmd {
		return s.Claude(t, m, "--strict-mcp-config", "--allowedTools", "mcp__bailiff__terminal", "--mcp-config",
			`{"mcpServers": {"bailiff": {"command": "/usr/local/bin/bailiff", `+
				`"args": ["mcp", "--listen", "unix:///run/bailiff/agent.sock", "--timeout", "1"]}}}`)
	}},
	"Codex": {"mcp__bailiff/terminal", func(t *testing.T, s *trial.Stage, m *trial.Model) *exec.Cmd {
		return s.Codex(t, m, `
model = "scripted"
sandbox_mode = "workspace-write"
[mcp_servers.bailiff]
command = "/usr/local/bin/bailiff"
default_tools_approval_mode = "approve"
args = ["mcp", "--listen", "unix:///run/bailiff/agent.sock", "--timeout", "1"]
`)
	}},
	"opencode": {"bailiff_terminal", func(t *testing.T, s *trial.Stage, m *trial.Model) *exec.Cmd {
		return s.Opencode(t, m, map[string]any{"bailiff": map[string]any{"type": "local",
			"command": []string{"/usr/local/bin/bailiff", "mcp", "--listen", "unix:///run/bailiff/agent.sock", "--timeout", "1"}}})
	}},
}

// marking is a command that leaves a mark where it runs.
func marking(mark string) map[string]any {
	return map[string]any{"command": "touch " + mark + " && ls -d " + mark}
}

func TestRealAgentsRunCommandsByMCPInTheSandbox(t *testing.T) {
	t.Parallel()
	s := trial.Serve(t)
	for name, agent := range mcpAgents {
		t.Run(name, func(t *testing.T) {
			mark := trial.Mark(t)
			told := byMCP(t, s.Agent, agent.start, trial.Call{Tool: agent.tool, Args: marking(mark)},
				trial.Call{Tool: agent.tool, Args: map[string]any{"command": "mkfs.ext4 /dev/none"}})
			if !strings.Contains(told[0], mark) || !strings.Contains(told[1], "command.destroys_system") {
				t.Errorf("its model is told %q", told)
			}
			trial.WantNoMark(t, mark)
		})
	}
}

func TestBehindMCPNoWreckRunsAnything(t *testing.T) {
	t.Parallel()
	// "bailiff mcp" itself stands in front of all of them, in its own tests.
	two := slices.DeleteFunc(trial.Wrecks(), func(w trial.Wreck) bool {
		return w.Name != "is not there" && w.Name != "takes the request and never answers"
	})
	if len(two) != 2 {
		t.Fatalf("there are %d of the two wrecks", len(two))
	}
	for name, agent := range mcpAgents {
		for _, wreck := range two {
			t.Run(name+" and one that "+wreck.Name, func(t *testing.T) {
				mark := trial.Mark(t)
				told := byMCP(t, wreck.Open(t, "unix"), agent.start, trial.Call{Tool: agent.tool, Args: marking(mark)})
				if strings.Contains(told[0], mark) {
					t.Errorf("its model is told %q", told)
				}
				trial.WantNoMark(t, mark)
			})
		}
	}
}

// byMCP has an agent make calls, and returns what it told its model of each.
func byMCP(t *testing.T, address string, start func(*testing.T, *trial.Stage, *trial.Model) *exec.Cmd, calls ...trial.Call) []string {
	t.Helper()
	m := trial.ServeModel(t, calls...)
	return m.Work(t, start(t, trial.NewStage(t, address, trial.Programs(t)), m))
}
