// Package qwencode is Qwen Code: how it asks whether a tool may run, and what its settings say.
package qwencode

import "github.com/bailiff-dev/bailiff/internal/agents/hook"

// Agent is Qwen Code: the hook PreToolUse of its settings.json, which it calls once its own permissions
// let the tool run. It took over Claude Code's words, but runs the input as it was, whatever an answer
// says of another one, so that a command is told which order to give instead. By the exit status 2 the
// tool does not run. Versions before 0.20 count the limit of a hook in milliseconds, and later ones do so from 1000 on.
var Agent = hook.Agent{Settings: settings, Table: hook.Table{
	Start: `Qwen Code, /etc/qwen-code/settings.json or ~/.qwen/settings.json:
  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "timeout": 60000,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook qwen-code` + hook.Guard + `"}]}]}}
`,
	Before: "PreToolUse", After: "PostToolUse", Keys: hook.ClaudeKeys, Limit: hook.Milliseconds, Tools: tools,
	Shell: hook.ShellTool{Name: "run_shell_command", Command: "command", Folder: "directory", Timeout: "timeout", Units: 1000,
		Longest: 600_000, Background: "is_background", BackgroundSeconds: 1800},
	Output: hook.ClaudeOutput("PreToolUse").WithoutInput(),
}}

// settings are its settings.json.
var settings = hook.Settings{Name: "Qwen Code", Path: ".qwen/settings.json", Roots: "/etc/qwen-code/settings.json",
	RootsTop: `{"disableAllHooks": false}`, Writing: "write_file|edit|notebook_edit",
	Failing: "Qwen Code runs a tool whose hook dies, hangs or outlives its limit, on this machine; the whole line that bailiff setup " +
		"writes denies it. With --bare, --safe-mode or disableAllHooks it calls no hook, which nothing closes."}

var tools = hook.Tools{
	"read_file":         hook.Reads("file_path"),
	"zoom_image":        hook.Reads("file_path"),
	"write_file":        hook.Writes("file_path"),
	"edit":              hook.Changes("file_path"),
	"notebook_edit":     hook.Changes("notebook_path"),
	"list_directory":    hook.Lists("path"),
	"glob":              hook.Finds("pattern", "path"),
	"grep_search":       hook.SearchesFiles("pattern", "path", "glob"),
	"web_fetch":         hook.Fetches("url"),
	"monitor":           hook.Instead("it would run a command on this machine; use run_shell_command with is_background"),
	"tool_call":         hook.Instead("its call comes by the name of the tool that it calls; call that one"),
	"read_mcp_resource": hook.Instead("it reads of another server; name what is needed, or have a person read it"),
	"exec":              hook.Instead("it would run on this machine; use run_shell_command"),
	"lsp":               hook.Instead("it starts programs on this machine; use run_shell_command"),
	"enter_worktree":    hook.Instead("it changes the repository by itself; use run_shell_command with git"),
	"exit_worktree":     hook.Instead("it changes the repository by itself; use run_shell_command with git"),

	// They keep the agent's own list of what it has to do, its goals and reports.
	"todo_write": hook.Nothing, "task_create": hook.Nothing, "task_update": hook.Nothing, "task_list": hook.Nothing,
	"get_goal": hook.Nothing, "update_goal": hook.Nothing, "report_findings": hook.Nothing, "structured_output": hook.Nothing,
	// They talk with the person in front of it.
	"ask_user_question": hook.Nothing, "enter_plan_mode": hook.Nothing, "exit_plan_mode": hook.Nothing,
	// They show or end what the agent itself has running, which was judged before.
	"list_agents": hook.Nothing, "task_stop": hook.Nothing,
	// They show the model further tools and instructions; the tools' calls come here.
	"tool_search": hook.Nothing, "skill": hook.Nothing,
	// They start agents of the same client, now or later, whose calls come here too.
	"agent": hook.Nothing, "cron_create": hook.Nothing, "cron_list": hook.Nothing, "cron_delete": hook.Nothing, "loop_wakeup": hook.Nothing,
}
