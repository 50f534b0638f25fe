// Package hook is how Hermes Agent asks whether a tool may run, and is answered.
package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// Dialect is Hermes Agent: a hook pre_tool_call of its config.yaml. It reads the
// answer whatever the exit status, and by 2 the tool does not run in any case. It
// tells neither platform nor user, so that one hook stands for one platform. Its
// answers know no asking: "bailiff exec" waits.
type Dialect struct{}

// Example is how its settings start the hook.
func (Dialect) Example() string {
	return `Hermes, ~/.hermes/config.yaml:
  hooks_auto_accept: true
  hooks:
    pre_tool_call:
      - {command: "sh -c '/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook hermes ` +
		`--platform telegram || exit 2'", timeout: 60, fail_closed: true}
`
}

// Read drops the folder: files are named from the terminal's, which Hermes does not
// tell.
func (Dialect) Read(text []byte) (hook.Call, error) {
	c, err := hook.ClaudeKeys.Read(text, "pre_tool_call")
	c.Cwd = ""
	return c, err
}

// Meaning says what the tool call does.
func (Dialect) Meaning(c hook.Call) (hook.Meaning, error) { return tools.Meaning(c) }

// Names are those of its tools that are known.
func (Dialect) Names() []string { return slices.Collect(maps.Keys(tools)) }

var tools = hook.Tools{
	"terminal": terminal,
	"process":  process,
	"execute_code": hook.Instead("it would run on this machine; write the script to a file in the terminal and run it there " +
		"with python3"),
	"read_file":    hook.Reads("path"),
	"write_file":   hook.Writes("path"),
	"patch":        patch,
	"search_files": search,
	// A list, a question, and what calls tools that come here.
	"todo": hook.Nothing, "clarify": hook.Nothing, "delegate_task": hook.Nothing,
}

func terminal(c hook.Call) (hook.Meaning, error) {
	command, err := c.Input.Text("command")
	timeout, wrong := c.Input.Seconds("timeout", 1)
	folder, odd := c.Input.Optional("workdir")
	if folder != "" && !filepath.IsAbs(folder) {
		odd = fmt.Errorf("workdir is %.80q, want an absolute path", folder)
	}
	return hook.Meaning{Kind: hook.Shell, Command: command, Timeout: timeout, Workdir: folder}, errors.Join(err, wrong, odd)
}

// process lets look at and end what runs. What is written to it would be its
// next command.
func process(c hook.Call) (hook.Meaning, error) {
	action, err := c.Input.Text("action")
	switch action {
	case "list", "poll", "log", "wait", "kill":
		return hook.Meaning{Kind: hook.Harmless}, err
	}
	return hook.Meaning{Kind: hook.Replaced, Why: "what is written to a process is a command of its own; start it with its whole " +
		"input in the terminal"}, err
}

func patch(c hook.Call) (hook.Meaning, error) {
	mode, err := c.Input.Optional("mode")
	if err != nil || mode != "patch" {
		m, wrong := hook.Changes("path")(c)
		return m, errors.Join(err, wrong)
	}
	return hook.Patches("patch")(c)
}

func search(c hook.Call) (hook.Meaning, error) {
	target, err := c.Input.Optional("target")
	if err != nil {
		return hook.Meaning{}, err
	}
	if target == "files" {
		return hook.Finds("pattern", "path")(c)
	}
	return hook.Searches("pattern", "path")(c)
}

type answer struct {
	Action  string      `json:"action"`
	Message string      `json:"message,omitempty"`
	Args    hook.Fields `json:"args,omitempty"`
}

// Answer puts a verdict into its words.
func (Dialect) Answer(c hook.Call, v hook.Verdict) hook.Reply {
	switch {
	case v.Outcome == hook.Abstain, v.Outcome == hook.Allow && v.Command == "":
		return hook.Reply{}
	case v.Outcome == hook.Allow, v.Outcome == hook.Ask:
		return hook.Reply{Stdout: hook.JSON(answer{Action: "modify", Args: argsOf(c, v)})}
	}
	return hook.Reply{Stdout: hook.JSON(answer{Action: "block", Message: "bailiff: " + v.Reason}), Stderr: v.Reason,
		Status: hook.Refused}
}

// longest is the longest time that Hermes waits for a command, in seconds.
const longest = 600

func argsOf(c hook.Call, v hook.Verdict) hook.Fields {
	args := c.Input.Subset("timeout", "background", "notify_on_complete", "watch_patterns")
	args["command"] = json.RawMessage(hook.JSON(v.Command))
	if _, named := c.Input["workdir"]; named {
		args["workdir"] = json.RawMessage(`"/"`) // where the order itself runs; its folder is in it
	}
	if v.Wait > 0 {
		args["timeout"] = json.RawMessage(hook.JSON(min(v.Wait, longest)))
	}
	return args
}
