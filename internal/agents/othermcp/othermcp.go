// Package othermcp is any other agent that speaks MCP, whose settings are not known.
package othermcp

import (
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Agent is one of that name.
type Agent struct{ Client string }

// Server is what the agent is to start.
func (a Agent) Server(e settings.Entry) (settings.Server, error) {
	return settings.Server{Path: a.Client, Command: e.MCPCommand()}, nil
}

// Settings are none.
func (Agent) Settings(settings.Entry) []string { return nil }

// Add changes nothing.
func (Agent) Add(settings.Entry) ([]settings.Change, error) { return nil, nil }

// Remove changes nothing.
func (Agent) Remove(settings.Entry) ([]settings.Change, error) { return nil, nil }

// Advice is the entry that its user writes.
func (a Agent) Advice(e settings.Entry) []string {
	command := e.MCPCommand()
	entry := map[string]any{"mcpServers": map[string]any{"bailiff": map[string]any{"command": command[0], "args": command[1:]}}}
	return []string{
		"Have " + a.Client + " start bailiff's tools, by an entry such as " + string(settings.JSON(entry)) + ",",
		"that is by " + shellquote.Join(command...) + ", and take its own shell and file tools away.",
	}
}
