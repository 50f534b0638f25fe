// Package cursor is Cursor's agent: how it asks whether a tool may run, and what its hooks.json says. By its documents; bailiff did not
// run it.
package cursor

import "github.com/bailiff-dev/bailiff/internal/agents/hook"

// Agent is Cursor: the hook preToolUse of its hooks.json, which it calls before all kinds of tools. Its documents name the input of
// Shell alone, and that Read and Write are Claude Code's tools of these names, so that another input is refused as one that lacks
// file_path. What becomes of a changed input that Cursor does not take is not said, so that none is changed: a command is told which
// order to give instead. By the exit status 2 the tool does not run; by every other, and where the hook outlives its limit or prints
// no JSON, it does, unless the hook has failClosed.
var Agent = hook.Agent{Settings: settings, Table: hook.Table{
	Start: `Cursor, /etc/cursor/hooks.json or ~/.cursor/hooks.json:
  {"version": 1, "hooks": {"preToolUse": [{"type": "command", "timeout": 60, "failClosed": true,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook cursor` + hook.Guard + `"}]}}
`,
	Before: "preToolUse", Limit: hook.Seconds, Tools: tools, Silence: "{}",
	Keys: hook.Keys{Event: "hook_event_name", Tool: "tool_name", Input: "tool_input", Session: "conversation_id", Cwd: "cwd",
		Roots: "workspace_roots"},
	Shell:  hook.ShellTool{Name: "Shell", Command: "command", Folder: "working_directory"},
	Output: hook.Output{Decision: "permission", Reason: "agent_message", Allow: "allow", Deny: "deny"},
}}

// settings are its hooks.json. Its documents know no switch of hooks.
var settings = hook.Settings{Name: "Cursor", Path: ".cursor/hooks.json", Roots: "/etc/cursor/hooks.json", Flat: true, NoSwitch: true,
	Top: `{"version": 1}`, Lock: `{"failClosed": true}`,
	Failing: "By its documents, not run here: Cursor runs a tool whose hook dies, hangs, outlives its limit or prints no JSON, on " +
		"this machine; failClosed and the whole line, both of which bailiff setup writes, deny it."}

var tools = hook.Tools{
	"Read":      hook.Reads("file_path"),
	"Write":     hook.Changes("file_path"),
	"WebFetch":  hook.Fetches("url"),
	"Grep":      hook.Instead("what it looks into stands in no document; use Shell with grep"),
	"Delete":    hook.Instead("what it removes stands in no document; use Shell with rm"),
	"WebSearch": hook.Instead("where it sends the words stands in no document; have the person look it up"),
	"Task":      hook.Instead("that the calls of the agents that it starts are judged stands in no document; do the work without it"),
}
