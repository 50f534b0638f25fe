// Package hook is how OpenAI's Codex asks whether a tool may run, and is answered.
package hook

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// Dialect is OpenAI's Codex: the hook PreToolUse of its requirements.toml, hooks.json
// or config.toml. It took over Claude Code's words, but not to ask: whatever it does
// not understand, that one included, lets the tool run. By the exit status 2 the tool
// does not run, if the reason stands on standard error.
//
// What is typed into a command that runs calls no hook. An order to bailiff reads
// nothing; a command on this machine is given nothing to read.
type Dialect struct{ hook.Table }

// Table is all of it that is names.
var Table = hook.Table{
	Start: `Codex, /etc/codex/requirements.toml:
  features.hooks = true
  hooks.managed_dir = "/usr/local/bin"
  [[hooks.PreToolUse]]
  matcher = "*"
  [[hooks.PreToolUse.hooks]]
  type = "command"
  timeout = 60
  command = "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook codex` + hook.Guard + `"
`,
	Before: "PreToolUse", After: "PostToolUse", Keys: hook.ClaudeKeys, Limit: hook.Seconds, Tools: tools,
	Shell:  hook.ShellTool{Name: "Bash", Command: "command", Folder: "workdir"}, // whatever the shell tool of the model is called
	Output: hook.ClaudeOutput("PreToolUse"),
}

// Meaning says what the tool call does.
func (d Dialect) Meaning(c hook.Call) (hook.Meaning, error) {
	name, isNamespaced := strings.CutPrefix(c.Tool, namespace)
	if !isNamespaced {
		return d.Table.Meaning(c)
	}
	c.Tool = name
	m, err := tools.Meaning(c)
	if m.Kind != hook.Harmless {
		return hook.Meaning{}, nil
	}
	return m, err
}

// namespace is that of Codex' tools for agents, which stands before the names of some of them in calls of the hook.
const namespace = "multi_agent_v1"

var tools = hook.Tools{
	"apply_patch": hook.Patches("command"),
	"view_image":  hook.Reads("path"),
	// They keep the agent's own plan and goal.
	"update_plan": hook.Nothing, "get_goal": hook.Nothing, "create_goal": hook.Nothing, "update_goal": hook.Nothing,
	// It talks with the person in front of it.
	"request_user_input": hook.Nothing,
	// They start and end agents of the same client, whose calls come here too.
	"spawn_agent": hook.Nothing, "send_input": hook.Nothing, "wait_agent": hook.Nothing, "resume_agent": hook.Nothing,
	"close_agent": hook.Nothing,
}

// Answer puts a verdict into its words.
func (d Dialect) Answer(c hook.Call, v hook.Verdict) hook.Reply {
	isShell := c.Tool == d.Shell.Name
	switch {
	case v.Outcome == hook.Ask:
		return d.Refusal(v.Reason + "; to have them asked, run exactly this, which waits for them: " + v.Command)
	case v.Outcome == hook.Allow && isShell:
		v = verdictOnCommand(c, v)
	}
	return d.Table.Answer(c, v)
}

// verdictOnCommand is the verdict on a command that is allowed. One on this machine reads
// nothing. A patch within it is nothing that was judged as a patch: Codex would apply
// it by itself.
func verdictOnCommand(c hook.Call, v hook.Verdict) hook.Verdict {
	if v.Command != "" {
		return v
	}
	command, _ := c.Input.Text("command") // it was read before
	if strings.Contains(command, "apply_patch") || strings.Contains(command, "applypatch") {
		return hook.Verdict{Reason: "a patch within a command is not judged as a patch; use the tool apply_patch"}
	}
	v.Command = "exec </dev/null\n" + command
	return v
}
