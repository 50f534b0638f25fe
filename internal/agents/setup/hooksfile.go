package setup

import (
	"encoding/json"
	"errors"
	"fmt"
)

// before is the event before a tool runs, after the one after it.
const before, after = "PreToolUse", "PostToolUse"

// hooksFile is a JSON file with hooks of events, as Claude Code has them and Codex took them over.
type hooksFile struct {
	// client is the word of bailiff-hook for the agent, called its name for people.
	client, called string
	// path is the user's file.
	path func(e Entry) string
	// mayBlock says that the agent knows of hooks whose own failure blocks the tool.
	mayBlock bool
	// writing are the tools after which the hook looks at files again.
	writing string
}

// match is an entry of PreToolUse. Keys that are not known stay.
type match struct {
	whole object
	hooks []object
}

func (f hooksFile) add(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.called+" ask before each tool", func(event string, matches []match) []match {
		tools, line := "*", e.hook(f.client)
		if event == after {
			tools, line = f.writing, e.hookAfter(f.client)
		}
		for _, m := range matches {
			if m.asks(e, f.client, tools) {
				return matches
			}
		}
		hook := object{{"type", encoded("command")}, {"command", encoded(line)}, {"timeout", encoded(60)}}
		if f.mayBlock && event == before { // beside the guard in its line, which older agents know as well
			hook = append(hook, entry{"onFailure", encoded("block")})
		}
		return append(without(matches, f.client), match{object{{"matcher", encoded(tools)}}, []object{hook}})
	})
}

func (f hooksFile) remove(e Entry) ([]Change, error) {
	return f.change(e, "has "+f.called+" ask no longer", func(_ string, matches []match) []match { return without(matches, f.client) })
}

// change edits the hooks in the user's settings.
func (f hooksFile) change(e Entry, why string, edit func(event string, matches []match) []match) ([]Change, error) {
	change, err := e.open(f.path(e), why, 0o600)
	if err != nil {
		return nil, err
	}
	start := change.After
	all, err := readObject([]byte(start))
	if err == nil {
		err = editHooks(&all, edit)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", change.Path, err)
	}
	change.After = all.text()
	if was, err := readObject([]byte(start)); err == nil && string(encoded(was)) == string(encoded(all)) {
		change.After = start
	}
	return []Change{change}, nil
}

func editHooks(all *object, edit func(event string, matches []match) []match) error {
	hooks, err := readObject(all.get("hooks"))
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	wasEmpty := len(hooks) == 0
	for _, event := range []string{before, after} {
		matches, err := readMatches(hooks.get(event))
		if err != nil {
			return fmt.Errorf("hooks.%s: %w", event, err)
		}
		if edited := edit(event, matches); len(edited) == 0 && len(matches) == 0 {
			continue // an empty list stays one
		} else if len(edited) == 0 {
			hooks.remove(event)
		} else {
			hooks.set(event, written(edited))
		}
	}
	if len(hooks) > 0 {
		all.set("hooks", hooks)
	} else if !wasEmpty {
		all.remove("hooks")
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
		if m.whole, err = readObject(element); err != nil {
			return nil, err
		}
		var hooks []json.RawMessage
		if text := m.whole.get("hooks"); len(text) > 0 && json.Unmarshal(text, &hooks) != nil {
			return nil, errors.New("hooks is no list")
		}
		for _, hook := range hooks {
			read, err := readObject(hook)
			if err != nil {
				return nil, err
			}
			m.hooks = append(m.hooks, read)
		}
		matches = append(matches, m)
	}
	return matches, nil
}

func written(matches []match) (all []object) {
	for _, m := range matches {
		if len(m.hooks) > 0 {
			m.whole.set("hooks", m.hooks)
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
		if line := commandOf(hook, "command"); isHook(line, client) && e.asks(line) {
			return true
		}
	}
	return false
}

// without are the entries without bailiff's hooks.
func without(matches []match, client string) (left []match) {
	for _, m := range matches {
		var hooks []object
		for _, hook := range m.hooks {
			if !isHook(commandOf(hook, "command"), client) {
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

func commandOf(o object, key string) (text string) {
	_ = json.Unmarshal(o.get(key), &text) // another type is no text
	return text
}

// switches are settings that switch hooks off.
type switches struct{ AllowManagedHooksOnly, DisableAllHooks bool }

func (f hooksFile) read(path, lock string) (all []Hook, off switches, err error) {
	change, err := readFile(path, "", 0)
	if err != nil {
		return nil, off, err
	}
	whole, err := readObject([]byte(change.Before))
	if err != nil {
		return nil, off, fmt.Errorf("reading %s: %w", path, err)
	}
	_ = json.Unmarshal(encoded(whole), &off) // of another type they switch nothing
	hooks, err := readObject(whole.get("hooks"))
	var matches []match
	if err == nil {
		matches, err = readMatches(hooks.get(before))
	}
	if err != nil {
		return nil, off, fmt.Errorf("reading %s: hooks: %w", path, err)
	}
	for _, m := range matches {
		for _, hook := range m.hooks {
			h := Hook{Path: path, Lock: lock, Line: commandOf(hook, "command"), Tools: commandOf(m.whole, "matcher"),
				Limit: usualLimit}
			_ = json.Unmarshal(hook.get("timeout"), &h.Limit)
			if off.DisableAllHooks {
				h.Off = path + " has disableAllHooks"
			}
			if isHook(h.Line, f.client) {
				all = append(all, h)
			}
		}
	}
	return all, off, nil
}

// usualLimit is how many seconds agents wait for a hook that names none.
const usualLimit = 60
