package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Table is a client of which bailiff-hook has to know nothing but names: how it asks, which tools
// it has, and how it is answered. A client with a way of its own has it in place of a method here.
type Table struct {
	// Start is how the client's settings start bailiff-hook, for the help.
	Start string
	// Before is its event before a tool runs, After the one after it, if it has one.
	Before, After string
	// Keys are those of its question.
	Keys Keys
	// Tools are its tools, Shell the one of them that runs commands.
	Tools Tools
	Shell ShellTool
	// Output is its answer, Silence what it reads where bailiff says nothing.
	Output  Output
	Silence string
	// Limit is its limit for a hook in its settings.
	Limit Limit
}

// Keys say under which key a client's question has what; Event and Session may be several, with | between them, of which one is
// there. Roots are the folders that are open, for calls without a Cwd. Agent is only in calls of agents that another one started. Free
// is the entry that an input is taken for which is a text and no object; empty where the client has no such tool.
type Keys struct{ Event, Tool, Input, Session, Cwd, Roots, Agent, Free string }

// ClaudeKeys are those of Claude Code, which most clients took over.
var ClaudeKeys = Keys{Event: "hook_event_name", Tool: "tool_name", Input: "tool_input", Session: "session_id", Cwd: "cwd",
	Agent: "agent_id"}

// ShellTool is the tool that runs commands.
type ShellTool struct {
	Name string
	// Command is the entry of its input with the command, Folder the one with the folder, if it has one.
	Command, Folder string
	// Timeout is the entry with the limit of the command, if it has one, in units of which so many are a
	// second; the client waits for Longest of them at most.
	Timeout string
	Units   float64
	Longest int
	// Background is the entry by which it runs on, for as many seconds, in the background.
	Background        string
	BackgroundSeconds int
	// Keeps are the entries that stay as they were asked for. Others are dropped.
	Keeps []string
}

// Limit is a client's limit for a hook: its key in the settings, in units of which so many are a second, and how many seconds hold for
// a hook that names none.
type Limit struct {
	Key          string
	Units, Usual int
}

// Seconds is Claude Code's limit, Milliseconds that of others which took over its settings.
var (
	Seconds      = Limit{"timeout", 1, 60}
	Milliseconds = Limit{"timeout", 1000, 60}
)

// Output says where an answer has what, by the keys of objects in objects with dots between them.
type Output struct {
	Decision, Reason string
	// Input is where a changed input stands; empty if the client lets none be changed.
	Input string
	// Allow and Deny are the decisions.
	Allow, Deny any
	// Fixed is what stands in each answer.
	Fixed map[string]any
}

// ClaudeOutput is the answer of Claude Code, which others took over.
func ClaudeOutput(event string) Output {
	const in = "hookSpecificOutput."
	return Output{Decision: in + "permissionDecision", Reason: in + "permissionDecisionReason", Input: in + "updatedInput",
		Allow: "allow", Deny: "deny", Fixed: map[string]any{in + "hookEventName": event}}
}

// WithoutInput is the answer of a client that is told to change no input.
func (o Output) WithoutInput() Output {
	o.Input = ""
	return o
}

// Example is how its settings start the hook.
func (t Table) Example() string { return t.Start }

// Read finds the tool call in what it wrote. A command's folder is the one that the call names, as
// seen from the client's own.
func (t Table) Read(text []byte) (Call, error) {
	var after []string
	if t.After != "" {
		after = append(after, t.After)
	}
	c, err := t.Keys.Read(text, t.Before, after...)
	if err != nil || c.Tool != t.Shell.Name || t.Shell.Folder == "" {
		return c, err
	}
	folder, err := c.Input.Optional(t.Shell.Folder)
	switch {
	case err != nil || folder == "":
		return c, err
	case slices.Contains(strings.Split(folder, "/"), ".."): // behind a link it leads elsewhere than it reads
		return Call{}, fmt.Errorf("%s is %.80q, want a path that does not lead upward", t.Shell.Folder, folder)
	case !filepath.IsAbs(folder):
		folder = filepath.Join(c.Cwd, folder)
	}
	c.Cwd = filepath.Clean(folder)
	return c, nil
}

// Question is what the client writes before a command runs.
func (t Table) Question(session, folder, command string) string {
	k := t.Keys
	var none Fields
	q := map[string]any{k.Tool: t.Shell.Name, k.Input: map[string]string{t.Shell.Command: command}, none.name(k.Session): session,
		k.Cwd: folder}
	if k.Event != "" {
		q[none.name(k.Event)] = t.Before
	}
	return JSON(q)
}

// Meaning says what the tool call does.
func (t Table) Meaning(c Call) (Meaning, error) {
	if c.Tool == t.Shell.Name {
		return t.Shell.meaning(c)
	}
	return t.Tools.Meaning(c)
}

// Names are those of all its tools that are known.
func (t Table) Names() []string {
	names := []string{t.Shell.Name}
	for name := range t.Tools {
		names = append(names, name)
	}
	return names
}

func (s ShellTool) meaning(c Call) (Meaning, error) {
	command, err := c.Input.Text(s.Command)
	m := Meaning{Kind: Shell, Command: command}
	var wrong, odd error
	if s.Timeout != "" {
		m.Timeout, wrong = c.Input.Seconds(s.Timeout, s.Units)
	}
	if s.Background != "" {
		var background bool
		if background, odd = c.Input.Flag(s.Background); background && m.Timeout == 0 {
			m.Timeout = s.BackgroundSeconds
		}
	}
	return m, errors.Join(err, wrong, odd)
}

// Input is the input with which a command runs: what matters of the one asked for.
func (s ShellTool) Input(c Call, v Verdict) Fields {
	input := c.Input.Subset(s.Keeps...)
	input[s.Command] = c.Input[s.Command]
	if v.Command != "" {
		input[s.Command] = json.RawMessage(JSON(v.Command))
	} else { // it runs where it was asked for
		maps.Copy(input, c.Input.Subset(s.Folder))
	}
	if v.Wait > 0 && s.Timeout != "" {
		input[s.Timeout] = json.RawMessage(JSON(min(int(float64(v.Wait)*s.Units), s.Longest)))
	}
	return input
}

// Answer puts a verdict into its words. A client that lets no input be changed is told what to run
// instead. What people must approve runs as an order, which waits for them.
func (t Table) Answer(c Call, v Verdict) Reply {
	isShell := c.Tool == t.Shell.Name
	switch {
	case v.Outcome == Abstain:
		return Reply{Stdout: t.Silence}
	case c.After:
		return Reply{Stderr: v.Reason, Status: Refused}
	case v.Outcome != Allow && (v.Outcome != Ask || !isShell):
		return t.Refusal(v.Reason)
	case !isShell:
		return Reply{Stdout: t.Output.Text(t.Output.Allow, v.Reason, nil)}
	case t.Output.Input == "" && v.Command != "" && v.Command != c.command(t.Shell.Command):
		return t.Refusal(v.Reason + RunThis + v.Command)
	}
	return Reply{Stdout: t.Output.Text(t.Output.Allow, v.Reason, t.Shell.Input(c, v))}
}

// RunThis stands before the order that a client is to run in place of a command, where it lets no input be changed.
const RunThis = "; it runs in the sandbox only, so run exactly this: "

func (c Call) command(key string) string {
	command, _ := c.Input.Text(key) // it was read before
	return command
}

// Refusal says no in all ways in which a client may hear it.
func (t Table) Refusal(reason string) Reply {
	reason = cmp.Or(reason, "nothing says that it may run") // some clients take a no without a reason for none
	return Reply{Stdout: t.Output.Text(t.Output.Deny, reason, nil), Stderr: reason, Status: Refused}
}

// Text is an answer as it is written.
func (o Output) Text(decision any, reason string, input Fields) string {
	whole := map[string]any{}
	for path, value := range o.Fixed {
		set(whole, path, value)
	}
	set(whole, o.Decision, decision)
	set(whole, o.Reason, "bailiff: "+reason)
	if input != nil && o.Input != "" {
		set(whole, o.Input, input)
	}
	return JSON(whole)
}

// Find is what a written answer says; the decision is empty where it says none.
func (o Output) Find(answer []byte) (decision any, reason string, err error) {
	var whole map[string]any
	if err := json.Unmarshal(answer, &whole); err != nil {
		return nil, "", fmt.Errorf("reading the answer of a hook: %w", err)
	}
	reason, _ = at(whole, o.Reason).(string)
	return at(whole, o.Decision), reason, nil
}

func set(in map[string]any, path string, value any) {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		in[key] = value
		return
	}
	inner, is := in[key].(map[string]any)
	if !is {
		inner = map[string]any{}
		in[key] = inner
	}
	set(inner, rest, value)
}

func at(in map[string]any, path string) any {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return in[key]
	}
	inner, _ := in[key].(map[string]any)
	return at(inner, rest)
}
