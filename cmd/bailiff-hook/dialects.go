package main

import (
	claudecode "github.com/bailiff-dev/bailiff/internal/agents/claudecode/hook"
	codex "github.com/bailiff-dev/bailiff/internal/agents/codex/hook"
	hermes "github.com/bailiff-dev/bailiff/internal/agents/hermes/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// dialect is one client's way of asking and of being answered.
type dialect interface {
	// Read finds the tool call in what the client wrote.
	Read(text []byte) (hook.Call, error)
	// Meaning says what the tool call does; the zero value stands for a tool that is
	// not known.
	Meaning(c hook.Call) (hook.Meaning, error)
	// Answer puts a verdict into the client's words.
	Answer(c hook.Call, v hook.Verdict) hook.Reply
	// Example is how the client's settings start this program, for the help.
	Example() string
}

// dialects are those of the clients, by the names of their agents.
var dialects = map[string]dialect{
	"claude-code": claudecode.Dialect{Table: claudecode.Table},
	"codex":       codex.Dialect{Table: codex.Table},
	"hermes":      hermes.Dialect{},
}
