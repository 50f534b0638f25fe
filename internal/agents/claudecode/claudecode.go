// Package claudecode is Claude Code: what its settings say, and how it is had to work for the doctor.
package claudecode

import (
	"cmp"
	"path/filepath"

	example "github.com/bailiff-dev/bailiff/examples/claude-code"
	"github.com/bailiff-dev/bailiff/internal/agents/claudecode/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent has a hook before all tools, and one after those that write, in the user's settings.json.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "claude-code", Name: "Claude Code", Table: hook.Table, Roots: rootsFile, Managed: rootsFile,
		Lock: settings.Object{{Key: "onFailure", Value: settings.JSON("block")}}, Writing: "Edit|MultiEdit|Write|NotebookEdit",
		Path: func(e settings.Entry) string {
			return filepath.Join(cmp.Or(e.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(e.Home, ".claude")), "settings.json")
		},
		Failing: "Claude Code runs a tool whose hook dies, hangs or outlives its limit, on this machine; the whole line that bailiff " +
			"setup writes denies it, and so does onFailure: block."}}
}

// rootsFile is root's file, which holds before the user's.
const rootsFile = "/etc/claude-code/managed-settings.json"

// RootLines are the lines by which root has every user's agent ask.
func (a Agent) RootLines(e settings.Entry) []string {
	return e.InstallLines(a.Client, settings.File{Path: rootsFile, Text: example.ManagedSettings})
}
