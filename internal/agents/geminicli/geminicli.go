// Package geminicli is Google's Gemini CLI: what its settings say, and its rules.
package geminicli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	example "github.com/bailiff-dev/bailiff/examples/gemini-cli"
	"github.com/bailiff-dev/bailiff/internal/agents/geminicli/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Agent has hooks in the user's settings.json, and rules by which Gemini CLI itself runs no command
// that the hook did not turn into an order of bailiff's.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "gemini-cli", Name: "Gemini CLI", Table: hook.Table, Roots: folder + "/settings.json",
		Path:  func(e settings.Entry) string { return filepath.Join(e.Home, ".gemini", "settings.json") },
		Marks: settings.Object{{Key: "sequential", Value: settings.JSON(true)}}, Writing: "write_file|replace", Off: off,
		Failing: "Gemini CLI runs a tool whose hook dies, hangs or outlives its limit, and calls no hook in a folder that it does not " +
			"trust; the whole line that bailiff setup writes denies the first, and the rules beside it keep commands from running " +
			"in both."}}
}

// folder is root's, whose files hold before the user's.
const folder = "/etc/gemini-cli"

// rules are in a file of their own.
func rules(e settings.Entry) string {
	return filepath.Join(e.Home, ".gemini", "policies", "bailiff.toml")
}

// Settings are the paths of the user's files that are written.
func (a Agent) Settings(e settings.Entry) []string { return []string{a.Path(e), rules(e)} }

// Add has the agent ask, and run nothing else.
func (a Agent) Add(e settings.Entry) ([]settings.Change, error) {
	return a.change(e, "has Gemini CLI run commands by bailiff only", text(e), a.HooksFile.Add)
}

// Remove has it ask no longer.
func (a Agent) Remove(e settings.Entry) ([]settings.Change, error) {
	return a.change(e, "lets Gemini CLI run commands itself", "", a.HooksFile.Remove)
}

func (a Agent) change(e settings.Entry, why, text string, hooks func(settings.Entry) ([]settings.Change, error)) (
	[]settings.Change, error) {
	own, err := e.Open(rules(e), why, 0o600)
	if err != nil {
		return nil, err
	}
	own.After, own.Gone = text, text == "" && own.Before != ""
	others, err := hooks(e)
	return append([]settings.Change{own}, others...), err
}

// text are the shipped rules, for the program that the hook orders commands from.
func text(e settings.Entry) string {
	const shipped = `"/usr/local/bin/bailiff exec`
	program := strings.TrimSuffix(string(settings.JSON(shellquote.Quote(e.Programs+"/bailiff"))), `"`)
	return strings.Replace(example.Rules, shipped, program+" exec", 1)
}

// off says by which setting a file switches a hook off.
func off(whole settings.Object, h settings.Hook) string {
	var said struct {
		Enabled  *bool
		Disabled []string
	}
	_ = json.Unmarshal(whole.Get("hooksConfig"), &said) // of another type it switches nothing
	switch {
	case said.Enabled != nil && !*said.Enabled:
		return h.Path + " has hooksConfig.enabled: false"
	case slices.Contains(said.Disabled, h.Line):
		return h.Path + " names it in hooksConfig.disabled"
	}
	return ""
}

// RootLines are the lines by which root has every user's agent ask.
func (a Agent) RootLines(e settings.Entry) []string {
	return append(e.InstallLines(a.Client, settings.File{Path: a.Roots, Text: example.Settings}), "mkdir -p "+folder+"/policies",
		"cat > "+folder+"/policies/bailiff.toml <<'EOT'\n"+strings.TrimSuffix(example.Rules, "\n")+"\nEOT")
}
