// Package copilotcli is GitHub's Copilot CLI: what its settings say.
package copilotcli

import (
	"cmp"
	"path/filepath"

	example "github.com/bailiff-dev/bailiff/examples/copilot-cli"
	"github.com/bailiff-dev/bailiff/internal/agents/copilotcli/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent has a hook before all tools in the user's settings.json.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "copilot-cli", Name: "Copilot CLI", Table: hook.Table, Flat: true, Command: "bash",
		Roots: folder + "/policy.d/bailiff.json", Managed: folder + "/managed-settings.json",
		Path: func(e settings.Entry) string {
			return filepath.Join(cmp.Or(e.Getenv("COPILOT_HOME"), filepath.Join(e.Home, ".copilot")), "settings.json")
		},
		Failing: "Copilot CLI runs a tool whose hook outlives its limit, on this machine, and denies where the hook dies; the whole line " +
			"that bailiff setup writes denies both. disableAllHooks switches the user's hook off, and not root's; hooks that come later " +
			"may change a command, unless root has allowManagedHooksOnly set."}}
}

// folder is root's.
const folder = "/etc/github-copilot"

// RootLines are the lines by which root has every user's agent ask.
func (a Agent) RootLines(e settings.Entry) []string {
	return e.InstallLines(a.Client, settings.File{Path: a.Roots, Text: example.Policy},
		settings.File{Path: a.Managed, Text: example.Managed})
}
