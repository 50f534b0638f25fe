// Package dialects names the clients of bailiff-hook, a line each.
//
// What a client calls its tools, and what each of them does, stands in its own folder: together that is the table of all agents'
// tools. A tool that stands there nowhere is denied, with its name.
package dialects

import (
	claudecode "github.com/bailiff-dev/bailiff/internal/agents/claudecode/hook"
	codex "github.com/bailiff-dev/bailiff/internal/agents/codex/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/copilotcli"
	"github.com/bailiff-dev/bailiff/internal/agents/cursor"
	geminicli "github.com/bailiff-dev/bailiff/internal/agents/geminicli/hook"
	hermes "github.com/bailiff-dev/bailiff/internal/agents/hermes/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/qwencode"
	vscode "github.com/bailiff-dev/bailiff/internal/agents/vscode/hook"
)

// Dialect is one client's way of asking and of being answered.
type Dialect interface {
	// Read finds the tool call in what the client wrote.
	Read(text []byte) (hook.Call, error)
	// Meaning says what the tool call does; the zero value stands for a tool that is
	// not known.
	Meaning(c hook.Call) (hook.Meaning, error)
	// Answer puts a verdict into the client's words.
	Answer(c hook.Call, v hook.Verdict) hook.Reply
	// Example is how the client's settings start this program, for the help.
	Example() string
	// Names are those of its tools that are known.
	Names() []string
}

// All are those of the clients, by the names of their agents.
var All = map[string]Dialect{
	"claude-code": claudecode.Dialect{Table: claudecode.Table},
	"codex":       codex.Dialect{Table: codex.Table},
	"copilot-cli": copilotcli.Agent,
	"cursor":      cursor.Agent,
	"gemini-cli":  geminicli.Table,
	"hermes":      hermes.Dialect{},
	"qwen-code":   qwencode.Agent,
	"vs-code":     vscode.Table,
}
