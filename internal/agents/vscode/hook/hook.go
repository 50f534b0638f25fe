// Package hook is how the agent mode of Visual Studio Code asks whether a tool may run, and is answered. By its documents and its
// source; bailiff did not run it.
package hook

import "github.com/bailiff-dev/bailiff/internal/agents/hook"

// Table is VS Code: the hook PreToolUse of a file that chat.hookFilesLocations names. It took over Claude Code's words. Its documents
// write sessionId and hookEventName, its source session_id and hook_event_name. A changed input that its schema does not fit is
// dropped, and the one asked for runs, so that none is changed: a command is told which order to give instead. By the exit status 2 the
// tool does not run; by every other, and where the hook outlives its limit, it does.
var Table = hook.Table{
	Start: `VS Code, ~/.config/bailiff/vs-code.json, which "chat.hookFilesLocations" of its settings names:
  {"hooks": {"PreToolUse": [{"type": "command", "timeout": 60,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook vs-code` + hook.Guard + `"}]}}
`,
	Before: "PreToolUse", Limit: hook.Limit{Key: "timeout", Units: 1, Usual: 30}, Tools: tools,
	Keys: hook.Keys{Event: "hook_event_name|hookEventName", Tool: "tool_name", Input: "tool_input", Session: "session_id|sessionId",
		Cwd: "cwd"},
	Shell:  hook.ShellTool{Name: "run_in_terminal", Command: "command", Background: "isBackground", BackgroundSeconds: 1800},
	Output: hook.ClaudeOutput("PreToolUse").WithoutInput(),
}

var tools = hook.Tools{
	"read_file":              hook.Reads("filePath"),
	"view_image":             hook.Reads("filePath"),
	"create_file":            hook.Writes("filePath"),
	"replace_string_in_file": hook.Changes("filePath"),
	"insert_edit_into_file":  hook.Changes("filePath"),
	"edit_notebook_file":     hook.Changes("filePath"),
	"apply_patch":            hook.Patches("input"),
	"list_dir":               hook.Lists("path"),
	"fetch_webpage":          hook.FetchesEach("urls"),

	"multi_replace_string_in_file": hook.Instead("it names many files; use replace_string_in_file for each"),
	"create_directory":             hook.Instead(terminal),
	"file_search":                  hook.Instead(everywhere),
	"grep_search":                  hook.Instead(everywhere),
	"semantic_search":              hook.Instead(everywhere),
	"get_changed_files":            hook.Instead("use run_in_terminal with git diff"),
	"send_to_terminal":             hook.Instead(typed),
	"terminal_last_command":        hook.Instead(persons),
	"terminal_selection":           hook.Instead(persons),
	"create_and_run_task":          hook.Instead(terminal),
	"run_task":                     hook.Instead(terminal),
	"runTests":                     hook.Instead(terminal),
	"run_notebook_cell":            hook.Instead(terminal),
	"run_vscode_command":           hook.Instead("it acts on the editor; have the person run it"),
	"install_extension":            hook.Instead("an extension acts on this machine; have the person install it"),
	"runSubagent":                  hook.Instead(others),
	"search_subagent":              hook.Instead(others),
	"explore_subagent":             hook.Instead(others),
	"execution_subagent":           hook.Instead(others),

	// They show or end what the agent itself has running, which was judged before.
	"get_terminal_output": hook.Nothing, "kill_terminal": hook.Nothing,
	// It keeps the agent's own list of what it has to do.
	"manage_todo_list": hook.Nothing,
	// They show the model instructions that are installed with the agent, and further tools, whose calls come here.
	"get_vscode_api": hook.Nothing, "get_project_setup_info": hook.Nothing, "tool_search": hook.Nothing,
	// It talks with the person in front of it.
	"vscode_askQuestions": hook.Nothing,
}

// What speaks against tools.
const (
	terminal   = "it would run on this machine; use run_in_terminal"
	everywhere = "it looks into every folder that is open, of which the hook is told one; use run_in_terminal with find or grep"
	typed      = "what it types into a running command is judged by no policy; use run_in_terminal with the whole command"
	persons    = "it reads the person's own terminal; use run_in_terminal"
	others     = "that the calls of the agents that it starts are judged stands in no document; do the work without it"
)
