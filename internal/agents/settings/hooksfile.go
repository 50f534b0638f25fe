package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/bailiff-dev/bailiff"
)

// before is the event before a tool runs, after the one after it.
const before, after = "PreToolUse", "PostToolUse"

// HooksFile is a JSON file with hooks of events, as Claude Code has them and Codex took them over.
type HooksFile struct {
	// Client is the word of bailiff-hook for the agent, Name its name for people.
	Client, Name string
	// Path is the user's file.
	Path func(e Entry) string
	// MayBlock says that the agent knows of hooks whose own failure blocks the tool.
	MayBlock bool
	// Writing are the tools after which the hook looks at files again.
	Writing string
}

// match is an entry of PreToolUse. Keys that are not known stay.
type match struct {
	whole Object
	hooks []Object
}

// Add has the agent ask before each tool.
func (f HooksFile) Add(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.Name+" ask before each tool", func(event string, matches []match) []match {
		tools, line := "*", e.Hook(f.Client)
		if event == after {
			tools, line = f.Writing, e.HookAfter(f.Client)
		}
		for _, m := range matches {
			if m.asks(e, f.Client, tools) {
				return matches
			}
		}
		hook := Object{{"type", JSON("command")}, {"command", JSON(line)}, {"timeout", JSON(60)}}
		if f.MayBlock && event == before { // beside the guard in its line, which older agents know as well
			hook = append(hook, Pair{"onFailure", JSON("block")})
		}
		return append(without(matches, f.Client), match{Object{{"matcher", JSON(tools)}}, []Object{hook}})
	})
}

// Remove has it ask no longer.
func (f HooksFile) Remove(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.Name+" ask no longer", func(_ string, matches []match) []match { return without(matches, f.Client) })
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
		err = editHooks(&all, edit)
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

func editHooks(all *Object, edit func(event string, matches []match) []match) error {
	hooks, err := ReadObject(all.Get("hooks"))
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	wasEmpty := len(hooks) == 0
	for _, event := range []string{before, after} {
		matches, err := readMatches(hooks.Get(event))
		if err != nil {
			return fmt.Errorf("hooks.%s: %w", event, err)
		}
		if edited := edit(event, matches); len(edited) == 0 && len(matches) == 0 {
			continue // an empty list stays one
		} else if len(edited) == 0 {
			hooks.Remove(event)
		} else {
			hooks.Set(event, written(edited))
		}
	}
	if len(hooks) > 0 {
		all.Set("hooks", hooks)
	} else if !wasEmpty {
		all.Remove("hooks")
	}
	return nil
}

func readMatches(text json.RawMessage) (matches []match, err error) {
	var elements []json.RawMessage
	if len(text) > 0 && json.Unmarshal(text, &elements) != nil {
		return nil, errors.New("it is no list")
	}
	for _, element := range elements {
		m := match{}
		if m.whole, err = ReadObject(element); err != nil {
			return nil, err
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

func written(matches []match) (all []Object) {
	for _, m := range matches {
		if len(m.hooks) > 0 {
			m.whole.Set("hooks", m.hooks)
		}
		all = append(all, m.whole)
	}
	return all
}

// asks says whether the entry has these tools judged by this sidecar.
func (m match) asks(e Entry, client, tools string) bool {
	matcher := commandOf(m.whole, "matcher")
	if matcher != "*" && matcher != "" && matcher != ".*" && matcher != tools {
		return false
	}
	for _, hook := range m.hooks {
		if line := commandOf(hook, "command"); IsHook(line, client) && e.asks(line) {
			return true
		}
	}
	return false
}

// without are the entries without bailiff's hooks.
func without(matches []match, client string) (left []match) {
	for _, m := range matches {
		var hooks []Object
		for _, hook := range m.hooks {
			if !IsHook(commandOf(hook, "command"), client) {
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

func commandOf(o Object, key string) (text string) {
	_ = json.Unmarshal(o.Get(key), &text) // another type is no text
	return text
}

// Switches are settings that switch hooks off.
type Switches struct{ AllowManagedHooksOnly, DisableAllHooks bool }

// Read are the hooks of a file, whose lock says whose it is, and the switches in it.
func (f HooksFile) Read(path, lock string) (all []Hook, off Switches, err error) {
	change, err := Read(path, "", 0)
	if err != nil {
		return nil, off, err
	}
	whole, err := ReadObject([]byte(change.Before))
	if err != nil {
		return nil, off, fmt.Errorf("reading %s: %w", path, err)
	}
	_ = json.Unmarshal(JSON(whole), &off) // of another type they switch nothing
	hooks, err := ReadObject(whole.Get("hooks"))
	var matches []match
	if err == nil {
		matches, err = readMatches(hooks.Get(before))
	}
	if err != nil {
		return nil, off, fmt.Errorf("reading %s: hooks: %w", path, err)
	}
	for _, m := range matches {
		for _, hook := range m.hooks {
			h := Hook{Path: path, Lock: lock, Line: commandOf(hook, "command"), Tools: commandOf(m.whole, "matcher"),
				Limit: UsualLimit}
			_ = json.Unmarshal(hook.Get("timeout"), &h.Limit)
			if off.DisableAllHooks {
				h.Off = path + " has disableAllHooks"
			}
			if IsHook(h.Line, f.Client) {
				all = append(all, h)
			}
		}
	}
	return all, off, nil
}

// UsualLimit is how many seconds agents wait for a hook that names none.
const UsualLimit = 60

// Ask starts a hook by its line, as the agent does, and asks about a command of its shell.
func (f HooksFile) Ask(ctx context.Context, line, command string) (decision, reason string, err error) {
	question, err := json.Marshal(map[string]any{"hook_event_name": before, "session_id": "bailiff-doctor", "cwd": "/",
		"tool_name": "Bash", "tool_input": map[string]string{"command": command}})
	if err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env, cmd.Stdin = os.Environ(), bytes.NewReader(question) // as the agent that the user starts
	var printed, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &said
	ended := cmd.Run()
	var answer struct {
		Out struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(printed.Bytes(), &answer); err != nil {
		return "", "", fmt.Errorf("it answers nothing that can be read (%v): %s", ended, bailiff.Foreign(said.String()))
	}
	return answer.Out.Decision, answer.Out.Reason, nil
}
