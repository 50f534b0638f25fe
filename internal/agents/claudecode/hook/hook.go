// Package hook is how Claude Code asks whether a tool may run, and is answered.
package hook

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// Dialect is Claude Code: the hook PreToolUse of its settings.json. It reads the
// answer if the exit status is 0. By 2 the tool does not run, and the model is told
// what stands on standard error; by any other the tool runs. It asks its user where
// the answer is to ask, which it takes for a no if it is headless.
type Dialect struct{ hook.Table }

// Table is all of it that is names.
var Table = hook.Table{
	Start: `Claude Code, /etc/claude-code/managed-settings.json or ~/.claude/settings.json:
  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "timeout": 60,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook claude-code` + hook.Guard + `"}]}]}}
`,
	Before: "PreToolUse", After: "PostToolUse", Keys: hook.ClaudeKeys, Limit: hook.Seconds, Tools: tools,
	Shell: hook.ShellTool{Name: "Bash", Command: "command", Timeout: "timeout", Units: 1000, Longest: longest,
		Background: "run_in_background", BackgroundSeconds: 1800, Keeps: []string{"description", "timeout", "run_in_background"}},
	Output: hook.ClaudeOutput("PreToolUse"),
}

// longest is the longest time that Claude Code waits for a command, in milliseconds.
const longest = 600_000

var tools = hook.Tools{
	"Read":          read,
	"Write":         hook.Writes("file_path"),
	"Edit":          hook.Changes("file_path"),
	"MultiEdit":     hook.Changes("file_path"),
	"NotebookRead":  hook.Reads("notebook_path"),
	"NotebookEdit":  hook.Changes("notebook_path"),
	"LS":            hook.Lists("path"),
	"Glob":          hook.Finds("pattern", "path"),
	"Grep":          hook.SearchesFiles("pattern", "path", "glob"),
	"WebFetch":      hook.Fetches("url"),
	"WebSearch":     hook.SearchesWeb("https://api.anthropic.com/v1/messages"), // where it is done
	"Agent":         agent,
	"Task":          agent,
	"SendMessage":   message,
	"Monitor":       hook.Instead("it would run a command on this machine; use Bash with run_in_background"),
	"EnterWorktree": hook.Instead("it changes the repository by itself; use Bash with git"),
	"ExitWorktree":  hook.Instead("it changes the repository by itself; use Bash with git"),
	"Skill":         hook.Instead("a skill may run commands as it is loaded; read its SKILL.md, and use Bash for its commands"),
	"Workflow":      hook.Instead("it runs a script of its own; use Agent and Bash"),

	// They keep the agent's own list of what it has to do.
	"TodoWrite": hook.Nothing, "TaskCreate": hook.Nothing, "TaskGet": hook.Nothing, "TaskList": hook.Nothing, "TaskUpdate": hook.Nothing,
	// They talk with the person in front of it.
	"AskUserQuestion": hook.Nothing, "EnterPlanMode": hook.Nothing, "ExitPlanMode": hook.Nothing,
	// They show or end what the agent itself has running, which was judged before.
	"BashOutput": hook.Nothing, "KillShell": hook.Nothing, "TaskOutput": hook.Nothing, "TaskStop": hook.Nothing,
	// They show the model further tools, whose calls come here.
	"ToolSearch": hook.Nothing, "DeferredToolPlaceholder": hook.Nothing,
	// They let this agent, or one of its own, go on at once or later, whose calls come
	// here too.
	"ListAgents": hook.Nothing, "ReportFindings": hook.Nothing, "ScheduleWakeup": hook.Nothing,
	"CronCreate": hook.Nothing, "CronDelete": hook.Nothing, "CronList": hook.Nothing,
}

// read leaves alone what Claude Code kept of this session. Of what it kept elsewhere, which no sandbox has, it says what to do.
func read(c hook.Call) (hook.Meaning, error) {
	m, err := hook.Reads("file_path")(c)
	file, _ := c.Input.Text("file_path")
	if isKept(c, file) {
		return hook.Meaning{Kind: hook.Harmless}, err
	}
	folder := path.Base(path.Dir(file))
	if folder == "tool-results" || folder == "tasks" && path.Ext(file) == ".output" {
		m.Why = "it is what Claude Code kept of a result; have the command write to a file of the sandbox, and read parts of " +
			"that by Bash"
	}
	return m, err
}

// agent is another agent of the same client, whose calls come here too.
func agent(c hook.Call) (hook.Meaning, error) {
	if _, isolated := c.Input["isolation"]; isolated {
		return hook.Instead("with isolation it acts on this machine, or on another, by itself; leave isolation out")(c)
	}
	return hook.Meaning{Kind: hook.Harmless}, nil
}

// message goes to another agent, whose calls come here too. Claude Code would
// open any socket of this machine that it names.
func message(c hook.Call) (hook.Meaning, error) {
	to, err := c.Input.Text("to")
	if err == nil && strings.ContainsFunc(to, unnamed) {
		return hook.Meaning{Kind: hook.Replaced, Why: fmt.Sprintf(
			"%.80q could be a socket of this machine; name the agent with letters, digits, _ and - only", to)}, nil
	}
	return hook.Meaning{Kind: hook.Harmless}, err
}

func unnamed(r rune) bool { return r != '_' && r != '-' && !hook.IsPlain(r) }

// Answer puts a verdict into its words. The person at Claude Code is asked first, if there is one.
func (d Dialect) Answer(c hook.Call, v hook.Verdict) hook.Reply {
	r := d.Table.Answer(c, v)
	if v.Outcome != hook.Ask || c.After || v.Headless || printsAndEnds(os.Getppid()) {
		return r
	}
	reason := "the person at Claude Code must allow it first, and then " + v.Reason +
		"; where there is none, bailiff-hook wants --headless"
	return hook.Reply{Stdout: d.Output.Text("ask", reason, d.Shell.Input(c, v))}
}
