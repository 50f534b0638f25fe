// Package cursor is Cursor's agent: what its hooks.json says.
package cursor

import (
	"path/filepath"

	example "github.com/bailiff-dev/bailiff/examples/cursor"
	"github.com/bailiff-dev/bailiff/internal/agents/cursor/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent has a hook before all tools in the user's hooks.json.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "cursor", Name: "Cursor", Table: hook.Table, Flat: true, Roots: "/etc/cursor/hooks.json",
		Path: func(e settings.Entry) string { return filepath.Join(e.Home, ".cursor", "hooks.json") },
		Top:  settings.Object{{Key: "version", Value: settings.JSON(1)}},
		Off:  func(settings.Object, settings.Hook) string { return "" }, // its documents know no switch
		Lock: settings.Object{{Key: "failClosed", Value: settings.JSON(true)}},
		Failing: "By its documents, not run here: Cursor runs a tool whose hook dies, hangs, outlives its limit or prints no JSON, on " +
			"this machine; failClosed and the whole line, both of which bailiff setup writes, deny it."}}
}

// RootLines are the lines by which root has every user's agent ask.
func (a Agent) RootLines(e settings.Entry) []string {
	return e.InstallLines(a.Client, settings.File{Path: a.Roots, Text: example.Hooks})
}
