package settings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// HooksFile is a JSON file with hooks of events, as Claude Code has them and others took them over.
type HooksFile struct {
	// Client is the word of bailiff-hook for the agent, Name its name for people.
	Client, Name string
	// Table has the agent's events, and how it asks and is answered.
	Table hook.Table
	// Path is the user's file, Roots that of root, which holds before it, if there is one.
	Path  func(e Entry) string
	Roots string
	// Managed is root's file that may let no hooks but root's run, if there is one.
	Managed string
	// Marks stand in each entry, beside what agents have in common; Lock stands in the hook before a
	// tool, by which agents that know it block a tool whose hook fails.
	Marks, Lock Object
	// Flat says that an entry of an event is itself a hook, whose command line it has under the key Command.
	Flat    bool
	Command string
	// Top stands at the top of the file.
	Top Object
	// Writing are the tools after which the hook looks at files again, with | between them; none where the agent has no event then.
	Writing string
	// Off says by which setting a file switches a hook off; nil means the key disableAllHooks.
	Off func(whole Object, h Hook) string
	// Failing says where the agent runs a tool whose hook fails, and what closes that.
	Failing string
}

// Writes are the tools after which the hook looks at files again.
func (f HooksFile) Writes() []string {
	return strings.FieldsFunc(f.Writing, func(r rune) bool { return r == '|' })
}

// WhereItFails says where the agent runs a tool whose hook fails, and what closes that.
func (f HooksFile) WhereItFails() string { return f.Failing }

// match is an entry of PreToolUse. Keys that are not known stay.
type match struct {
	whole Object
	hooks []Object
}

// Add has the agent ask before each tool.
func (f HooksFile) Add(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.Name+" ask before each tool", f.addition(e))
}

// addition edits an event so that the agent asks.
func (f HooksFile) addition(e Entry) func(event string, matches []match) []match {
	return func(event string, matches []match) []match {
		tools, line := "*", e.Hook(f.Client)
		if event == f.Table.After {
			tools, line = f.Writing, e.HookAfter(f.Client)
		}
		for _, m := range matches {
			if f.asks(m, e, tools) {
				return matches
			}
		}
		limit := f.Table.Limit
		hook := Object{{"type", JSON("command")}, {f.lineKey(), JSON(line)}, {limit.Key, JSON(UsualLimit * limit.Units)}}
		if event == f.Table.Before { // beside the guard in its line, which older agents know as well
			hook = append(hook, f.Lock...)
		}
		return append(f.without(matches), match{append(Object{{"matcher", JSON(tools)}}, f.Marks...), []Object{hook}})
	}
}

// Remove has it ask no longer.
func (f HooksFile) Remove(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.Name+" ask no longer", func(_ string, matches []match) []match { return f.without(matches) })
}

// change edits the hooks in the user's settings.
func (f HooksFile) change(e Entry, why string, edit func(event string, matches []match) []match) ([]Change, error) {
	change, err := e.Open(f.Path(e), why, 0o600)
	if err != nil {
		return nil, err
	}
	start := change.After
	all, err := ReadObject([]byte(start))
	if err == nil {
		err = f.editHooks(&all, edit)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", change.Path, err)
	}
	change.After = all.Text()
	if was, err := ReadObject([]byte(start)); err == nil && string(JSON(was)) == string(JSON(all)) {
		change.After = start
	}
	return []Change{change}, nil
}

func (f HooksFile) editHooks(all *Object, edit func(event string, matches []match) []match) error {
	hooks, err := ReadObject(all.Get("hooks"))
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	wasEmpty := len(hooks) == 0
	for _, event := range []string{f.Table.Before, f.Table.After} {
		if event == "" {
			continue
		}
		matches, err := f.readMatches(hooks.Get(event))
		if err != nil {
			return fmt.Errorf("hooks.%s: %w", event, err)
		}
		if edited := edit(event, matches); len(edited) == 0 && len(matches) == 0 {
			continue // an empty list stays one
		} else if len(edited) == 0 {
			hooks.Remove(event)
		} else {
			hooks.Set(event, f.written(edited))
		}
	}
	if len(hooks) > 0 {
		for _, m := range f.Top {
			all.Set(m.Key, m.Value)
		}
		all.Set("hooks", hooks)
	} else if !wasEmpty {
		all.Remove("hooks")
	}
	return nil
}

func (f HooksFile) readMatches(text json.RawMessage) (matches []match, err error) {
	var elements []json.RawMessage
	if len(text) > 0 && json.Unmarshal(text, &elements) != nil {
		return nil, errors.New("it is no list")
	}
	for _, element := range elements {
		m := match{}
		if m.whole, err = ReadObject(element); err != nil {
			return nil, err
		}
		if f.Flat {
			matches = append(matches, match{m.whole, []Object{m.whole}})
			continue
		}
		var hooks []json.RawMessage
		if text := m.whole.Get("hooks"); len(text) > 0 && json.Unmarshal(text, &hooks) != nil {
			return nil, errors.New("hooks is no list")
		}
		for _, hook := range hooks {
			read, err := ReadObject(hook)
			if err != nil {
				return nil, err
			}
			m.hooks = append(m.hooks, read)
		}
		matches = append(matches, m)
	}
	return matches, nil
}

func (f HooksFile) written(matches []match) (all []Object) {
	for _, m := range matches {
		if f.Flat {
			all = append(all, m.hooks...)
			continue
		}
		if len(m.hooks) > 0 {
			m.whole.Set("hooks", m.hooks)
		}
		all = append(all, m.whole)
	}
	return all
}

// asks says whether the entry has these tools judged by this sidecar.
func (f HooksFile) asks(m match, e Entry, tools string) bool {
	matcher := commandOf(m.whole, "matcher")
	if matcher != "*" && matcher != "" && matcher != ".*" && matcher != tools {
		return false
	}
	for _, hook := range m.hooks {
		if line := commandOf(hook, f.lineKey()); IsHook(line, f.Client) && e.asks(line) {
			return true
		}
	}
	return false
}

// without are the entries without bailiff's hooks.
func (f HooksFile) without(matches []match) (left []match) {
	for _, m := range matches {
		var hooks []Object
		for _, hook := range m.hooks {
			if !IsHook(commandOf(hook, f.lineKey()), f.Client) {
				hooks = append(hooks, hook)
			}
		}
		if len(hooks) > 0 || len(m.hooks) == 0 {
			m.hooks = hooks
			left = append(left, m)
		}
	}
	return left
}

// lineKey is the key of a hook's command line.
func (f HooksFile) lineKey() string { return cmp.Or(f.Command, "command") }

func commandOf(o Object, key string) (text string) {
	_ = json.Unmarshal(o.Get(key), &text) // another type is no text
	return text
}

// Hooks are those of bailiff in its files, all of which the agent calls but the ones that its settings switch off.
func (f HooksFile) Hooks(_ context.Context, e Entry) ([]Hook, error) { return f.FileHooks(e) }

// FileHooks are those of bailiff in its files: root's, and the user's own.
func (f HooksFile) FileHooks(e Entry) ([]Hook, error) {
	var roots []Hook
	if f.Roots != "" {
		var err error
		if roots, _, err = f.Read(f.Roots, "root's"); err != nil {
			return nil, err
		}
	}
	own, _, err := f.Read(f.Path(e), "the user's own")
	if err == nil && f.Managed != "" {
		var by Object
		_, by, err = f.Read(f.Managed, "root's")
		for i := range own {
			if string(by.Get("allowManagedHooksOnly")) == "true" {
				own[i].Off = f.Managed + " lets root's hooks only run"
			}
		}
	}
	return append(roots, own...), err
}

// Settings are the paths of the user's files that are written.
func (f HooksFile) Settings(e Entry) []string { return []string{f.Path(e)} }

// disabled is the switch of most agents.
func disabled(whole Object, h Hook) string {
	var off bool
	_ = json.Unmarshal(whole.Get("disableAllHooks"), &off) // of another type it switches nothing
	if !off {
		return ""
	}
	return h.Path + " has disableAllHooks"
}

// Read are the hooks of a file, whose lock says whose it is, and all that is in it.
func (f HooksFile) Read(path, lock string) (all []Hook, whole Object, err error) {
	change, err := Read(path, "", 0)
	if err != nil {
		return nil, nil, err
	}
	if whole, err = ReadObject([]byte(change.Before)); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	hooks, err := ReadObject(whole.Get("hooks"))
	var matches []match
	if err == nil {
		matches, err = f.readMatches(hooks.Get(f.Table.Before))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: hooks: %w", path, err)
	}
	off := f.Off
	if off == nil {
		off = disabled
	}
	for _, m := range matches {
		for _, hook := range m.hooks {
			h := Hook{Path: path, Lock: lock, Line: commandOf(hook, f.lineKey()), Tools: commandOf(m.whole, "matcher"),
				Units: f.Table.Limit.Units, Limit: f.Table.Limit.Usual}
			if said := hook.Get(f.Table.Limit.Key); json.Unmarshal(said, &h.Limit) == nil && len(said) > 0 {
				h.Limit /= h.Units
			}
			h.Off = off(whole, h)
			if IsHook(h.Line, f.Client) {
				all = append(all, h)
			}
		}
	}
	return all, whole, nil
}

// UsualLimit is how many seconds agents are to wait for a hook.
const UsualLimit = 60

// Ask starts a hook by its line, as the agent does, and asks about a command of its shell; where the agent is told to run another one
// instead, about that.
func (f HooksFile) Ask(ctx context.Context, line, command string) (decision, reason string, err error) {
	decision, reason, err = f.ask(ctx, line, command)
	if _, order, told := strings.Cut(reason, hook.RunThis); told && err == nil && decision == "deny" {
		return f.ask(ctx, line, order)
	}
	return decision, reason, err
}

func (f HooksFile) ask(ctx context.Context, line, command string) (decision, reason string, err error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env = os.Environ() // as the agent that the user starts
	cmd.Stdin = strings.NewReader(f.Table.Question("bailiff-doctor", "/", command))
	var printed, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &said
	ended := cmd.Run()
	word, reason, err := f.Table.Output.Find(printed.Bytes())
	if err != nil {
		return "", "", fmt.Errorf("it answers nothing that can be read (%v): %s", ended, bailiff.Foreign(said.String()))
	}
	switch word {
	case f.Table.Output.Allow:
		return "allow", reason, nil
	case f.Table.Output.Deny:
		return "deny", reason, nil
	}
	return fmt.Sprint(word), reason, nil
}
