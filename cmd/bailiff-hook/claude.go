package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// claude is Claude Code: the hook PreToolUse of its settings.json. It reads the
// answer if the exit status is 0. By 2 the tool does not run, and the model is told
// what stands on standard error; by any other the tool runs. It asks its user where
// the answer is to ask, which it takes for a no if it is headless.
type claude struct{ headless bool }

func (claude) name() string                   { return "claude-code" }
func (claude) read(text []byte) (call, error) { return readCall(text, "PreToolUse", "PostToolUse") }

func (claude) meaning(c call) (meaning, error) {
	switch c.tool {
	case "Bash":
		return claudeBash(c.input)
	case "Read":
		m, err := about(c, "file_path", reading)
		path, _ := c.input.text("file_path")
		if isKept(c, path) {
			return meaning{kind: harmless}, err
		}
		if claudeKept(path) {
			m.why = "it is what Claude Code kept of a result; have the command write to a file of the sandbox, and read parts of " +
				"that by Bash"
		}
		return m, err
	case "Write":
		return about(c, "file_path", writing)
	case "Edit", "MultiEdit":
		return about(c, "file_path", changing)
	case "NotebookRead":
		return about(c, "notebook_path", reading)
	case "NotebookEdit":
		return about(c, "notebook_path", changing)
	case "LS":
		return about(c, "path", listing)
	case "Glob":
		return claudeGlob(c)
	case "Grep":
		return throughout(c, "pattern", searching)
	case "WebFetch":
		return claudeFetch(c.input)
	case "Agent", "Task":
		return claudeAgent(c.input)
	case "SendMessage":
		return claudeMessage(c.input)
	case "Monitor":
		return meaning{kind: replaced, why: "it would run a command on this machine; use Bash with run_in_background"}, nil
	}
	return meaning{kind: claudeHarmless[c.tool]}, nil
}

// claudeKept says whether a file is likely one in which Claude Code keeps the output of
// a command, which no sandbox has.
func claudeKept(file string) bool {
	folder := path.Base(path.Dir(file))
	return folder == "tool-results" || folder == "tasks" && path.Ext(file) == ".output"
}

// claudeHarmless are the tools that touch nothing of this machine.
var claudeHarmless = map[string]kind{
	// They keep the agent's own list of what it has to do.
	"TodoWrite": harmless, "TaskCreate": harmless, "TaskGet": harmless, "TaskList": harmless, "TaskUpdate": harmless,
	// They talk with the person in front of it.
	"AskUserQuestion": harmless, "EnterPlanMode": harmless, "ExitPlanMode": harmless,
	// They show or end what the agent itself has running, which was judged before.
	"BashOutput": harmless, "KillShell": harmless, "TaskOutput": harmless, "TaskStop": harmless,
	// They show the model further tools, whose calls come here.
	"ToolSearch": harmless, "DeferredToolPlaceholder": harmless,
	// They let this agent, or one of its own, go on at once or later, whose calls come
	// here too.
	"ListAgents": harmless, "ReportFindings": harmless, "ScheduleWakeup": harmless,
	"CronCreate": harmless, "CronDelete": harmless, "CronList": harmless,
}

// claudeGlob looks from the folder with which an absolute pattern begins.
func claudeGlob(c call) (meaning, error) {
	pattern, err := c.input.text("pattern")
	if strings.HasPrefix(pattern, "~") || strings.TrimSpace(pattern) != pattern {
		return meaning{}, fmt.Errorf("%q: write the pattern without a home folder (~) or blanks around it", pattern)
	}
	if err != nil || !strings.HasPrefix(pattern, "/") && !strings.Contains(pattern, "..") {
		m, wrong := throughout(c, "pattern", finding)
		return m, errors.Join(err, wrong)
	}
	paths, err := c.paths(path.Dir(pattern[:strings.IndexAny(pattern+"*", "*?[{")] + "x"))
	return finding(pattern, paths...), err
}

// claudeBackground is how many seconds Claude Code gives a command in the background.
const claudeBackground = 1800

func claudeBash(input fields) (meaning, error) {
	command, err := input.text("command")
	timeout, wrong := input.seconds("timeout", 1000)
	background, odd := input.flag("run_in_background")
	if background && timeout == 0 {
		timeout = claudeBackground
	}
	return meaning{kind: shell, command: command, timeout: timeout}, errors.Join(err, wrong, odd)
}

// claudeAgent is another agent of the same client, whose calls come here too.
func claudeAgent(input fields) (meaning, error) {
	if _, isolated := input["isolation"]; isolated {
		return meaning{kind: replaced, why: "with isolation it acts on this machine, or on another, by itself; leave isolation out"}, nil
	}
	return meaning{kind: harmless}, nil
}

// claudeMessage goes to another agent, whose calls come here too. Claude Code would
// open any socket of this machine that it names.
func claudeMessage(input fields) (meaning, error) {
	to, err := input.text("to")
	if err == nil && strings.ContainsFunc(to, unnamed) {
		return meaning{kind: replaced, why: fmt.Sprintf(
			"%.80q could be a socket of this machine; name the agent with letters, digits, _ and - only", to)}, nil
	}
	return meaning{kind: harmless}, err
}

func unnamed(r rune) bool { return r != '_' && r != '-' && !plain(r) }

// plain are the letters and digits that everybody reads alike.
func plain(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// claudeFetch fetches from an address in which nothing is read by Claude Code in
// another way than by the policies that judge it.
func claudeFetch(input fields) (meaning, error) {
	url, err := input.text("url")
	if err == nil && !plainURL(url) {
		err = fmt.Errorf("%.200q: write the address as http://host/… or https://host/…, its host with letters, digits, dots and "+
			"hyphens, and what is not ASCII after it as %%XX", url)
	}
	return fetching(url), err
}

// plainURL says whether everybody finds the same host in it.
func plainURL(url string) bool {
	rest, ok := strings.CutPrefix(url, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(url, "http://")
	}
	host, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(rest), "/")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }
	unhosted := func(r rune) bool { return !plain(r) && !strings.ContainsRune(".-[]:", r) }
	return ok && host != "" && !strings.ContainsFunc(url, odd) && !strings.ContainsFunc(host, unhosted)
}

// claudeAnswer is what Claude Code takes.
type claudeAnswer struct {
	Output claudeOutput `json:"hookSpecificOutput"`
}

type claudeOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
	Input    fields `json:"updatedInput,omitempty"`
}

func (cl claude) answer(c call, v verdict) reply {
	answer := claudeAnswer{claudeOutput{Event: "PreToolUse", Decision: "deny", Reason: "bailiff: " + v.reason}}
	switch {
	case v.outcome == abstain:
		return reply{}
	case c.after:
		return reply{stderr: v.reason, status: refused}
	case v.outcome == allow:
		answer.Output.Decision, answer.Output.Input = "allow", claudeInput(c, v)
	case v.outcome == ask:
		answer.Output.Input = claudeInput(c, v)
		if cl.headless || printsAndEnds(os.Getppid()) {
			answer.Output.Decision = "allow"
			break
		}
		answer.Output.Decision = "ask"
		answer.Output.Reason = "bailiff: the person at Claude Code must allow it first, and then " + v.reason +
			"; where there is none, bailiff-hook wants --headless"
	default:
		return reply{stdout: encoded(answer), stderr: v.reason, status: refused}
	}
	return reply{stdout: encoded(answer)}
}

// claudeLongest is the longest time that Claude Code waits for a command, in
// milliseconds.
const claudeLongest = 600_000

// claudeInput is the input with which a command runs: what matters of the one asked
// for. The rest is dropped, such as the wish to run outside Claude Code's sandbox.
func claudeInput(c call, v verdict) fields {
	if c.tool != "Bash" {
		return nil
	}
	input := c.input.kept("description", "timeout", "run_in_background")
	if v.command != "" {
		input["command"] = json.RawMessage(encoded(v.command))
	} else {
		input["command"] = c.input["command"]
	}
	if v.wait > 0 {
		input["timeout"] = json.RawMessage(encoded(min(v.wait*1000, claudeLongest)))
	}
	return input
}
