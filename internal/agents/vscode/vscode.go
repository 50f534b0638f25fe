// Package vscode is the agent mode of Visual Studio Code: what its hooks and settings say.
package vscode

import (
	"context"
	"os"
	"path/filepath"
	"regexp"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/agents/vscode/hook"
)

// Agent has a hook before all tools in a file of its own, which VS Code's settings have to name. In no place that VS Code reads by
// itself: other agents read each of these too.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "vs-code", Name: "VS Code", Table: hook.Table, Flat: true,
		Path: func(e settings.Entry) string { return filepath.Join(e.Home, ".config", "bailiff", "vs-code.json") },
		Failing: "By its documents, not run here: VS Code runs a tool whose hook dies, hangs or outlives its limit, on this machine; the " +
			"whole line that bailiff setup writes denies it. Where chat.hookFilesLocations does not name the hook's file, or " +
			"chat.useHooks is off, it calls no hook, which nothing closes."}}
}

// profiles are the settings of VS Code, its daily builds and its servers, below the home.
var profiles = []string{".config/Code/User/settings.json", ".config/Code - Insiders/User/settings.json",
	".vscode-server/data/Machine/settings.json"}

// named is what settings say, which may have comments, that VS Code reads the file.
var named = regexp.MustCompile(`(?m)^[^/\n]*"~/\.config/bailiff/vs-code\.json"\s*:\s*true`)

// setting is what a person writes into the settings. VS Code would call the hook of Claude Code too, which knows none of its tools.
const setting = `"chat.hookFilesLocations": {"~/.config/bailiff/vs-code.json": true, "~/.claude/settings.json": false}`

// isNamed says whether the settings of any VS Code name the file.
func isNamed(e settings.Entry) bool {
	for _, profile := range profiles {
		text, err := os.ReadFile(filepath.Join(e.Home, profile)) // what cannot be read names nothing
		if err == nil && named.Match(text) {
			return true
		}
	}
	return false
}

// Hooks are those that VS Code calls, if its settings name their file.
func (a Agent) Hooks(_ context.Context, e settings.Entry) ([]settings.Hook, error) {
	hooks, err := a.FileHooks(e)
	for i := range hooks {
		if !isNamed(e) {
			hooks[i].Off, hooks[i].Mend = "no settings.json of VS Code names it", "Write into VS Code's settings: "+setting
		}
	}
	return hooks, err
}

// Advice is the setting that its user writes.
func (a Agent) Advice(e settings.Entry) []string {
	if isNamed(e) {
		return nil
	}
	return []string{"VS Code calls the hook once its settings (Preferences: Open User Settings (JSON)) have", "", "  " + setting, "",
		"bailiff doctor vs-code looks for that."}
}

// RootLines say that there are none.
func (a Agent) RootLines(settings.Entry) []string {
	return []string{"# VS Code reads no hooks of root's, so that each user has to set it up: bailiff setup vs-code --project DIR"}
}
