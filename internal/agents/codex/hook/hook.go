// Package hook is how OpenAI's Codex asks whether a tool may run, and is answered.
package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
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
type Dialect struct{}

// Example is how its settings start the hook.
func (Dialect) Example() string {
	return `Codex, /etc/codex/requirements.toml:
  features.hooks = true
  hooks.managed_dir = "/usr/local/bin"
  [[hooks.PreToolUse]]
  matcher = "*"
  [[hooks.PreToolUse.hooks]]
  type = "command"
  timeout = 60
  command = "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook codex` + hook.Guard + `"
`
}

// Read takes the folder in which Codex will run a command: the one that the call names, as seen from Codex' own.
func (Dialect) Read(text []byte) (hook.Call, error) {
	c, err := hook.ReadCall(text, "PreToolUse", "PostToolUse")
	if err != nil || c.Tool != "Bash" {
		return c, err
	}
	folder, err := c.Input.Optional("workdir")
	switch {
	case err != nil || folder == "":
		return c, err
	case slices.Contains(strings.Split(folder, "/"), ".."): // behind a link it leads elsewhere than it reads
		return hook.Call{}, fmt.Errorf("workdir is %.80q, want a path that does not lead upward", folder)
	case !filepath.IsAbs(folder):
		folder = filepath.Join(c.Cwd, folder)
	}
	c.Cwd = filepath.Clean(folder)
	return c, nil
}

// Meaning says what the tool call does.
func (Dialect) Meaning(c hook.Call) (hook.Meaning, error) {
	if tools[c.Tool] != nil {
		return tools.Meaning(c)
	}
	c.Tool = strings.TrimPrefix(c.Tool, namespace)
	return harmless.Meaning(c)
}

var tools = hook.Tools{
	"Bash":        hook.Runs("command"), // whatever the shell tool of the model is called
	"apply_patch": hook.Patches("command"),
	"view_image":  hook.Reads("path"),
}

// namespace is that of Codex' tools for agents, which stands before the names of some of them in calls of the hook.
const namespace = "multi_agent_v1"

// harmless are the tools that touch nothing of this machine.
var harmless = hook.Tools{
	// They keep the agent's own plan and goal.
	"update_plan": hook.Nothing, "get_goal": hook.Nothing, "create_goal": hook.Nothing, "update_goal": hook.Nothing,
	// It talks with the person in front of it.
	"request_user_input": hook.Nothing,
	// They start and end agents of the same client, whose calls come here too.
	"spawn_agent": hook.Nothing, "send_input": hook.Nothing, "wait_agent": hook.Nothing, "resume_agent": hook.Nothing,
	"close_agent": hook.Nothing,
}

// Answer puts a verdict into its words.
func (Dialect) Answer(c hook.Call, v hook.Verdict) hook.Reply {
	if v.Outcome == hook.Allow && c.Tool == "Bash" {
		v = verdictOnCommand(c, v)
	}
	switch v.Outcome {
	case hook.Abstain:
		return hook.Reply{}
	case hook.Allow:
		return hook.Reply{Stdout: answer("allow", v.Reason, inputOf(c, v))}
	case hook.Ask:
		v.Reason += "; to have them asked, run exactly this, which waits for them: " + v.Command
	}
	v.Reason = cmp.Or(v.Reason, "nothing says that it may run") // a reason must be there
	return hook.Reply{Stdout: answer("deny", v.Reason, nil), Stderr: v.Reason, Status: hook.Refused}
}

func answer(decision, reason string, input hook.Fields) string {
	return hook.Permission{Event: "PreToolUse", Decision: decision, Reason: "bailiff: " + reason, Input: input}.String()
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

func inputOf(c hook.Call, v hook.Verdict) hook.Fields {
	if c.Tool != "Bash" {
		return nil
	}
	return hook.Fields{"command": json.RawMessage(hook.JSON(v.Command))}
}
