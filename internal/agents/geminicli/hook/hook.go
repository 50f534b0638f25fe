// Package hook is how Google's Gemini CLI asks whether a tool may run, and is answered.
package hook

import "github.com/bailiff-dev/bailiff/internal/agents/hook"

// Table is Gemini CLI: the hook BeforeTool of its settings.json. It reads an answer in JSON whatever
// the exit status, takes text for a no from the status 2 on, and runs the tool where a hook
// prints nothing. What it is told to change replaces the whole input. It judges the result by its
// own policies then, so that an order needs a rule there that allows it.
var Table = hook.Table{
	Start: `Gemini CLI, /etc/gemini-cli/settings.json or ~/.gemini/settings.json:
  {"hooks": {"BeforeTool": [{"matcher": "*", "sequential": true, "hooks": [{"type": "command", "timeout": 60000,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook gemini-cli` + hook.Guard + `"}]}]}}
`,
	Before: "BeforeTool", After: "AfterTool", Keys: hook.ClaudeKeys, Limit: hook.Milliseconds, Tools: tools,
	Shell: hook.ShellTool{Name: "run_shell_command", Command: "command", Folder: "dir_path", Background: "is_background",
		BackgroundSeconds: 1800, Keeps: []string{"description", "is_background"}},
	Output: hook.Output{Decision: "decision", Reason: "reason", Input: "hookSpecificOutput.tool_input", Allow: "allow", Deny: "deny"},
}

var tools = hook.Tools{
	"read_file":           hook.Reads("file_path"),
	"write_file":          hook.Writes("file_path"),
	"replace":             hook.Changes("file_path"),
	"list_directory":      hook.Lists("dir_path"),
	"glob":                hook.Finds("pattern", "dir_path"),
	"grep_search":         hook.SearchesFiles("pattern", "dir_path", "include_pattern", "include"),
	"search_file_content": hook.SearchesFiles("pattern", "dir_path", "include_pattern", "include"),
	"web_fetch":           hook.FetchesAll("prompt"),
	"google_web_search":   hook.SearchesWeb("https://www.google.com/search"),
	"read_many_files":     hook.Instead("it names no files; use read_file for each"),

	// They keep the agent's own list of what it has to do.
	"write_todos": hook.Nothing, "update_topic": hook.Nothing, "complete_task": hook.Nothing,
	"tracker_create_task": hook.Nothing, "tracker_update_task": hook.Nothing, "tracker_get_task": hook.Nothing,
	"tracker_list_tasks": hook.Nothing, "tracker_add_dependency": hook.Nothing, "tracker_visualize": hook.Nothing,
	// They talk with the person in front of it.
	"ask_user": hook.Nothing, "enter_plan_mode": hook.Nothing, "exit_plan_mode": hook.Nothing,
	// They show what the agent itself has running, which was judged before.
	"list_background_processes": hook.Nothing, "read_background_output": hook.Nothing,
	// They show the model instructions that are installed with the agent.
	"activate_skill": hook.Nothing, "get_internal_docs": hook.Nothing,
	// It starts an agent of the same client, whose calls come here too.
	"invoke_agent": hook.Nothing,
}
