package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// codex is OpenAI's Codex: the hook PreToolUse of its requirements.toml, hooks.json
// or config.toml. It took over Claude Code's words, but not to ask: whatever it does
// not understand, that one included, lets the tool run. By the exit status 2 the tool
// does not run, if the reason stands on standard error.
//
// What is typed into a command that runs calls no hook. An order to bailiff reads
// nothing; a command on this machine is given nothing to read.
type codex struct{}

func (codex) name() string { return "codex" }

// read takes the folder in which Codex will run a command: the one that the call names, as seen from Codex' own.
func (codex) read(text []byte) (call, error) {
	c, err := readCall(text, "PreToolUse", "PostToolUse")
	if err != nil || c.tool != "Bash" {
		return c, err
	}
	folder, err := c.input.optional("workdir")
	switch {
	case err != nil || folder == "":
		return c, err
	case slices.Contains(strings.Split(folder, "/"), ".."): // behind a link it leads elsewhere than it reads
		return call{}, fmt.Errorf("workdir is %.80q, want a path that does not lead upward", folder)
	case !filepath.IsAbs(folder):
		folder = filepath.Join(c.cwd, folder)
	}
	c.cwd = filepath.Clean(folder)
	return c, nil
}

func (codex) meaning(c call) (meaning, error) {
	switch c.tool {
	case "Bash": // whatever the shell tool of the model is called
		command, err := c.input.text("command")
		return meaning{kind: shell, command: command}, err
	case "apply_patch":
		patch, err := c.input.text("command")
		if err != nil {
			return meaning{}, err
		}
		return c.patching(patch)
	case "view_image":
		return about(c, "path", reading)
	}
	return meaning{kind: codexHarmless[strings.TrimPrefix(c.tool, codexAgents)]}, nil
}

// codexAgents is the namespace of Codex' tools for agents, which stands before the names of some of them in calls of the hook.
const codexAgents = "multi_agent_v1"

// codexHarmless are the tools that touch nothing of this machine.
var codexHarmless = map[string]kind{
	// They keep the agent's own plan and goal.
	"update_plan": harmless, "get_goal": harmless, "create_goal": harmless, "update_goal": harmless,
	// It talks with the person in front of it.
	"request_user_input": harmless,
	// They start and end agents of the same client, whose calls come here too.
	"spawn_agent": harmless, "send_input": harmless, "wait_agent": harmless, "resume_agent": harmless, "close_agent": harmless,
}

func (codex) answer(c call, v verdict) reply {
	if v.outcome == allow && c.tool == "Bash" {
		v = codexCommand(c, v)
	}
	switch v.outcome {
	case abstain:
		return reply{}
	case allow:
		return reply{stdout: codexAnswer("allow", v.reason, codexInput(c, v))}
	case ask:
		v.reason += "; to have them asked, run exactly this, which waits for them: " + v.command
	}
	v.reason = cmp.Or(v.reason, "nothing says that it may run") // a reason must be there
	return reply{stdout: codexAnswer("deny", v.reason, nil), stderr: v.reason, status: refused}
}

func codexAnswer(decision, reason string, input fields) string {
	return encoded(claudeAnswer{claudeOutput{Event: "PreToolUse", Decision: decision, Reason: "bailiff: " + reason, Input: input}})
}

// codexCommand is the verdict on a command that is allowed. One on this machine reads
// nothing. A patch within it is nothing that was judged as a patch: Codex would apply
// it by itself.
func codexCommand(c call, v verdict) verdict {
	if v.command != "" {
		return v
	}
	command, _ := c.input.text("command") // it was read before
	if strings.Contains(command, "apply_patch") || strings.Contains(command, "applypatch") {
		return verdict{reason: "a patch within a command is not judged as a patch; use the tool apply_patch"}
	}
	v.command = "exec </dev/null\n" + command
	return v
}

func codexInput(c call, v verdict) fields {
	if c.tool != "Bash" {
		return nil
	}
	return fields{"command": json.RawMessage(encoded(v.command))}
}
