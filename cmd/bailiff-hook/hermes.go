package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// hermes is Hermes Agent: a hook pre_tool_call of its config.yaml. It reads the
// answer whatever the exit status, and by 2 the tool does not run in any case. It
// tells neither platform nor user, so that one hook stands for one platform. Its
// answers know no asking: "bailiff exec" waits.
type hermes struct{}

func (hermes) name() string { return "hermes" }

// read drops the folder: files are named from the terminal's, which Hermes does not
// tell.
func (hermes) read(text []byte) (call, error) {
	c, err := readCall(text, "pre_tool_call")
	c.cwd = ""
	return c, err
}

func (hermes) meaning(c call) (meaning, error) {
	switch c.tool {
	case "terminal":
		return hermesTerminal(c.input)
	case "process":
		return hermesProcess(c.input)
	case "execute_code":
		return meaning{kind: replaced, why: "it would run on this machine; write the script to a file in the terminal and run it there " +
			"with python3"}, nil
	case "read_file":
		return about(c, "path", reading)
	case "write_file":
		return about(c, "path", writing)
	case "patch":
		return hermesPatch(c)
	case "search_files":
		return hermesSearch(c)
	case "todo", "clarify", "delegate_task": // a list, a question, and what calls tools that come here
		return meaning{kind: harmless}, nil
	}
	return meaning{}, nil
}

func hermesTerminal(input fields) (meaning, error) {
	command, err := input.text("command")
	timeout, wrong := input.seconds("timeout", 1)
	folder, odd := input.optional("workdir")
	if folder != "" && !filepath.IsAbs(folder) {
		odd = fmt.Errorf("workdir is %.80q, want an absolute path", folder)
	}
	return meaning{kind: shell, command: command, timeout: timeout, workdir: folder}, errors.Join(err, wrong, odd)
}

// hermesProcess lets look at and end what runs. What is written to it would be its
// next command.
func hermesProcess(input fields) (meaning, error) {
	action, err := input.text("action")
	switch action {
	case "list", "poll", "log", "wait", "kill":
		return meaning{kind: harmless}, err
	}
	return meaning{kind: replaced, why: "what is written to a process is a command of its own; start it with its whole input in the " +
		"terminal"}, err
}

func hermesPatch(c call) (meaning, error) {
	mode, err := c.input.optional("mode")
	if err != nil || mode != "patch" {
		m, wrong := about(c, "path", changing)
		return m, errors.Join(err, wrong)
	}
	text, err := c.input.text("patch")
	if err != nil {
		return meaning{}, err
	}
	return c.patching(text)
}

func hermesSearch(c call) (meaning, error) {
	target, err := c.input.optional("target")
	if err != nil {
		return meaning{}, err
	}
	if target == "files" {
		return throughout(c, "pattern", finding)
	}
	return throughout(c, "pattern", searching)
}

type hermesAnswer struct {
	Action  string `json:"action"`
	Message string `json:"message,omitempty"`
	Args    fields `json:"args,omitempty"`
}

func (hermes) answer(c call, v verdict) reply {
	switch {
	case v.outcome == abstain, v.outcome == allow && v.command == "":
		return reply{}
	case v.outcome == allow, v.outcome == ask:
		return reply{stdout: encoded(hermesAnswer{Action: "modify", Args: hermesArgs(c, v)})}
	}
	return reply{stdout: encoded(hermesAnswer{Action: "block", Message: "bailiff: " + v.reason}), stderr: v.reason, status: refused}
}

// hermesLongest is the longest time that Hermes waits for a command, in seconds.
const hermesLongest = 600

func hermesArgs(c call, v verdict) fields {
	args := c.input.kept("timeout", "background", "notify_on_complete", "watch_patterns")
	args["command"] = json.RawMessage(encoded(v.command))
	if _, named := c.input["workdir"]; named {
		args["workdir"] = json.RawMessage(`"/"`) // where the order itself runs; its folder is in it
	}
	if v.wait > 0 {
		args["timeout"] = json.RawMessage(encoded(min(v.wait, hermesLongest)))
	}
	return args
}
