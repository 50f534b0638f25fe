// Package agents names the agents that bailiff can be set up for, a line each, and asks each of them
// about its settings.
//
// All that is known of an agent stands in its folder, which no other package looks into: what its
// settings say, what the doctor tries of it, what is left to do, and how its hook asks and is answered. Where two tables say all of
// that (a [hook.Agent] in the package internal/agents/NAME), the agent is its folder and a line of package dialects. One with a way of
// its own has a line here, too, and its tables in internal/agents/NAME/hook: bailiff-hook starts once for every tool call, and knows
// nothing but tables. An agent is an [Agent], and may be [HookCaller],
// [ToolUser], [FailureTeller], [TrustAsker], [Adviser], [Leaver], [Trier] and [Examiner] beside.
//
// Not here: the sidecar's own configuration (package setup), and what is examined (package doctor).
package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/agents/claudecode"
	"github.com/bailiff-dev/bailiff/internal/agents/codex"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/geminicli"
	"github.com/bailiff-dev/bailiff/internal/agents/hermes"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/opencode"
	"github.com/bailiff-dev/bailiff/internal/agents/othermcp"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/agents/vscode"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// all are the agents that have a name of their own: those with a way of their own, and those of which the tables of package dialects
// say all.
var all = withTables(map[string]Agent{
	"claude-code": claudecode.New(),
	"codex":       codex.New(),
	"gemini-cli":  geminicli.New(),
	"hermes":      hermes.Agent{},
	"opencode":    opencode.Agent{},
	"vs-code":     vscode.New(),
})

func withTables(all map[string]Agent) map[string]Agent {
	for name, d := range dialects.All {
		if a, of := d.(hook.Agent); of {
			all[name] = settings.Of(name, a)
		}
	}
	return all
}

// Agent is one program whose settings can have it ask.
type Agent interface {
	// Settings are the paths of the user's files that are written.
	Settings(e settings.Entry) []string
	// Add has the agent ask, Remove has it ask no longer.
	Add(e settings.Entry) ([]settings.Change, error)
	Remove(e settings.Entry) ([]settings.Change, error)
}

// HookCaller is an agent that has hooks.
type HookCaller interface {
	// FileHooks are those of bailiff in the files that the agent reads, in the order in which they
	// hold; Hooks says of each whether the agent calls it, too.
	FileHooks(e settings.Entry) ([]settings.Hook, error)
	Hooks(ctx context.Context, e settings.Entry) ([]settings.Hook, error)
	// RootLines are the lines by which root has every user's agent ask.
	RootLines(e settings.Entry) []string
	// Ask starts a hook by its line, as the agent does, and asks about a command of its shell.
	Ask(ctx context.Context, line, command string) (decision, reason string, err error)
}

// ToolUser is an agent that has bailiff's tools by MCP.
type ToolUser interface {
	Server(e settings.Entry) (settings.Server, error)
}

// FailureTeller is an agent whose hook may fail.
type FailureTeller interface {
	// WhereItFails says where the agent runs a tool whose hook fails, and what closes that.
	WhereItFails() string
}

// TrustAsker is an agent that calls a hook only if its user said that it may.
type TrustAsker interface {
	// Trust says it for the user, ByHand is how the user does.
	Trust(ctx context.Context, e settings.Entry) error
	ByHand() string
}

// Adviser is an agent with which something is left to do, or to know.
type Adviser interface {
	Advice(e settings.Entry) []string
}

// Leaver is an agent with settings that stay where no record says what they were before.
type Leaver interface {
	Leftovers(e settings.Entry) []string
}

// Trier is an agent that can be had to work, to see that it calls its hook.
type Trier interface {
	// Try has it ask for a command that the hook denies for this reason.
	Try(ctx context.Context, command, reason string) diagnosis.Checks
}

// Examiner is an agent with a guard of its own kind, which it examines itself.
type Examiner interface {
	Examine(ctx context.Context, e settings.Entry, sidecar Sidecar) (diagnosis.Checks, error)
}

// Sidecar is the one that should guard an agent.
type Sidecar = interface {
	Status(ctx context.Context) (api.Status, error)
}

// Of is the agent of a name.
func Of(name string) (Agent, error) {
	if client, ok := strings.CutPrefix(name, "mcp:"); ok && client != "" {
		return othermcp.Agent{Client: client}, nil
	}
	if a := all[name]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("no agent is called %q; there are %s", name, List())
}

// Names are those of all agents but the ones that are called mcp:NAME.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// List is all names, as a sentence has them.
func List() string { return strings.Join(append(Names(), "mcp:NAME"), ", ") }

// Lacking are the files in which an agent's entries are missing, or name another sidecar.
func Lacking(name string, e settings.Entry) (paths []string, err error) {
	a, err := Of(name)
	if err != nil {
		return nil, err
	}
	changes, err := a.Add(e)
	for _, c := range changes {
		if !c.IsNone() {
			paths = append(paths, c.Path)
		}
	}
	return paths, err
}

// Unfit says which hooks in the settings of the user's agents would let tools run unjudged. No
// agent is started.
func Unfit(e settings.Entry) (sentences []string) {
	for _, name := range Names() {
		h, has := all[name].(HookCaller)
		if !has {
			continue
		}
		written, err := h.FileHooks(e)
		if err != nil {
			sentences = append(sentences, fmt.Sprintf("the hooks of %s were not looked at: %v", name, err))
		}
		for _, h := range written {
			if what, do := h.Fault(); h.Off == "" && what != "" {
				sentences = append(sentences, fmt.Sprintf("the hook in %s: %s %s", h.Path, what, do))
			}
		}
	}
	return sentences
}
