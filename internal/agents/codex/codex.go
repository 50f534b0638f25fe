// Package codex is OpenAI's Codex: what its settings say, and whether it calls its hooks, as it says itself.
package codex

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	example "github.com/bailiff-dev/bailiff/examples/codex"
	dialect "github.com/bailiff-dev/bailiff/internal/agents/codex/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent has hooks before all tools and after a patch in the user's hooks.json, and in its config.toml
// that its own sandbox lets "bailiff exec" reach the sidecar.
type Agent struct{ settings.HooksFile }

// New is the agent.
func New() Agent {
	return Agent{settings.HooksFile{Client: "codex", Name: "Codex", Table: dialect.Table, Writing: "apply_patch",
		Path: func(e settings.Entry) string { return fileOf(e, "hooks.json") },
		Failing: "Codex runs a tool whose hook dies, hangs or outlives its limit, in its own sandbox; the whole line that bailiff setup " +
			"writes denies it."}}
}

func fileOf(e settings.Entry, name string) string {
	return filepath.Join(cmp.Or(e.Getenv("CODEX_HOME"), filepath.Join(e.Home, ".codex")), name)
}

// Settings are the paths of the user's files that are written.
func (c Agent) Settings(e settings.Entry) []string {
	return []string{c.Path(e), fileOf(e, "config.toml")}
}

// needs are the settings without which a hook is not called, or its order not let through.
var needs = []struct{ table, key, value string }{
	{"", "sandbox_mode", `"workspace-write"`}, {"sandbox_workspace_write", "network_access", "true"}, {"features", "hooks", "true"},
}

// Add has the agent ask.
func (c Agent) Add(e settings.Entry) ([]settings.Change, error) {
	change, err := settings.Read(fileOf(e, "config.toml"), "lets Codex' own sandbox reach the sidecar", 0o600)
	if err != nil {
		return nil, err
	}
	for _, need := range needs {
		if change.After, err = settings.WithTOML(change.After, need.table, need.key, need.value); err != nil {
			return nil, fmt.Errorf("changing %s: %w", change.Path, err)
		}
	}
	hooks, err := c.HooksFile.Add(e)
	return append([]settings.Change{change}, hooks...), err
}

// Leftovers are the settings that a removal leaves where no record says whether they were the user's own.
func (c Agent) Leftovers(e settings.Entry) (all []string) {
	change, err := settings.Read(fileOf(e, "config.toml"), "", 0o600)
	for _, need := range needs[:2] {
		with, wrong := settings.WithTOML(change.Before, need.table, need.key, need.value)
		if err == nil && wrong == nil && with == change.Before {
			all = append(all, fmt.Sprintf("%s = %s stays in %s, since no record says whether it was there before: take it out if it is "+
				"not yours.", need.key, need.value, change.Path))
		}
	}
	return all
}

// requirements is root's file, which holds before the user's.
const requirements = "/etc/codex/requirements.toml"

var (
	commandLine = regexp.MustCompile(`(?m)^command = (".*")$`)
	timeoutLine = regexp.MustCompile(`(?m)^timeout = (\d+)$`)
	onlyLine    = regexp.MustCompile(`(?m)^allow_managed_hooks_only = true$`)
)

// Hooks are those of bailiff in its files, with what it says itself of the ones that it does not call.
func (c Agent) Hooks(ctx context.Context, e settings.Entry) ([]settings.Hook, error) {
	all, err := c.FileHooks(e)
	if len(all) > 0 {
		c.look(ctx, e, all)
	}
	return all, err
}

// FileHooks are those that its files hold.
func (c Agent) FileHooks(e settings.Entry) ([]settings.Hook, error) {
	root, err := settings.Read(requirements, "", 0)
	if err != nil {
		return nil, err
	}
	own, _, err := c.Read(c.Path(e), "the user's own")
	for i := range own {
		if onlyLine.MatchString(root.Before) {
			own[i].Off = requirements + " lets root's hooks only run"
		}
	}
	return append(rootHooks(root.Before), own...), err
}

// rootHooks is the hook in root's file, if it is written as the shipped one.
func rootHooks(text string) []settings.Hook {
	h := settings.Hook{Path: requirements, Lock: "root's", Limit: settings.UsualLimit, Tools: "*"}
	if found := commandLine.FindStringSubmatch(text); found != nil {
		h.Line, _ = strconv.Unquote(found[1]) // basic strings of TOML are those of Go here
	}
	if found := timeoutLine.FindStringSubmatch(text); found != nil {
		h.Limit, _ = strconv.Atoi(found[1])
	}
	if !settings.IsHook(h.Line, "codex") {
		return nil
	}
	return []settings.Hook{h}
}

// RootLines are the lines by which root has every user's agent ask.
func (c Agent) RootLines(e settings.Entry) []string {
	return e.InstallLines(c.Client, settings.File{Path: requirements, Text: example.Requirements},
		settings.File{Path: "/etc/codex/managed_config.toml", Text: example.ManagedConfig})
}
