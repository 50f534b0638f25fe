// Package qwencode is Qwen Code: what its settings say.
package qwencode

import (
	"path/filepath"

	example "github.com/bailiff-dev/bailiff/examples/qwen-code"
	"github.com/bailiff-dev/bailiff/internal/agents/qwencode/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent has a hook before all tools, and one after those that write, in the user's settings.json.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "qwen-code", Name: "Qwen Code", Table: hook.Table, Roots: "/etc/qwen-code/settings.json",
		Path:    func(e settings.Entry) string { return filepath.Join(e.Home, ".qwen", "settings.json") },
		Writing: "write_file|edit|notebook_edit",
		Failing: "Qwen Code runs a tool whose hook dies, hangs or outlives its limit, on this machine; the whole line that bailiff setup " +
			"writes denies it. With --bare, --safe-mode or disableAllHooks it calls no hook, which nothing closes."}}
}

// RootLines are the lines by which root has every user's agent ask.
func (a Agent) RootLines(e settings.Entry) []string {
	return e.InstallLines(a.Client, settings.File{Path: a.Roots, Text: example.Settings})
}
