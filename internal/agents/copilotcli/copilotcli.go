// Package copilotcli is GitHub's Copilot CLI: how it asks whether a tool may run, and what its settings say.
package copilotcli

import "github.com/bailiff-dev/bailiff/internal/agents/hook"

// Agent is Copilot CLI: the hook preToolUse of its settings.json, and of root's files. It denies where the hook ends with a status
// that is not 0, and runs the tool where the hook outlives its limit or prints what is no JSON. What it is told to change replaces
// the whole input. Its events carry no name, and what is said after a tool has run reaches no model, so that there is one event.
var Agent = hook.Agent{Settings: settings, Table: hook.Table{
	Start: `Copilot CLI, /etc/github-copilot/policy.d/bailiff.json, or under "hooks" of ~/.copilot/settings.json:
  {"version": 1, "hooks": {"preToolUse": [{"type": "command", "timeoutSec": 60,
  "bash": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook copilot-cli` + hook.Guard + `"}]}}
`,
	Before: "preToolUse", Limit: hook.Limit{Key: "timeoutSec", Units: 1, Usual: 30}, Tools: tools,
	Keys:  hook.Keys{Tool: "toolName", Input: "toolArgs", Session: "sessionId", Cwd: "cwd", Free: "patch"},
	Shell: hook.ShellTool{Name: "bash", Command: "command", Keeps: []string{"description", "mode", "initial_wait"}},
	Output: hook.Output{Decision: "permissionDecision", Reason: "permissionDecisionReason", Input: "modifiedArgs", Allow: "allow",
		Deny: "deny"},
}}

// settings are its settings.json, and two files of root's.
var settings = hook.Settings{Name: "Copilot CLI", Path: ".copilot/settings.json", Variable: "COPILOT_HOME", Flat: true, Command: "bash",
	Roots: "/etc/github-copilot/policy.d/bailiff.json", RootsTop: `{"version": 1}`,
	Managed: "/etc/github-copilot/managed-settings.json",
	Failing: "Copilot CLI runs a tool whose hook outlives its limit, on this machine, and denies where the hook dies; the whole line " +
		"that bailiff setup writes denies both. disableAllHooks switches the user's hook off, and not root's; hooks that come later " +
		"may change a command, unless root has allowManagedHooksOnly set."}

var tools = hook.Tools{
	"view":              hook.Reads("path"),
	"create":            hook.Writes("path"),
	"edit":              hook.Changes("path"),
	"apply_patch":       hook.Patches("patch"),
	"grep":              hook.SearchesFiles("pattern", "path", "glob"),
	"rg":                hook.SearchesFiles("pattern", "path", "glob"),
	"glob":              hook.Finds("pattern", "path"),
	"web_fetch":         hook.Fetches("url"),
	"write_bash":        hook.Instead("what it types into a running command is judged by no policy; use bash with the whole command"),
	"session_store_sql": hook.Instead("it reads what other sessions did, in other projects as well; ask the person for what is needed"),

	// They show or end what the agent itself has running, which was judged before.
	"read_bash": hook.Nothing, "stop_bash": hook.Nothing, "list_bash": hook.Nothing,
	// It keeps the agent's own lists in a database of the session, which opens no other file.
	"sql": hook.Nothing,
	// They show the model instructions that are installed with the agent.
	"skill": hook.Nothing, "fetch_copilot_cli_documentation": hook.Nothing,
	// They talk with the person in front of it.
	"ask_user": hook.Nothing, "exit_plan_mode": hook.Nothing, "task_complete": hook.Nothing,
	// They start agents of the same client, and talk with them; their calls come here too.
	"task": hook.Nothing, "read_agent": hook.Nothing, "list_agents": hook.Nothing, "write_agent": hook.Nothing,
}
