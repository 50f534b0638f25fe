package setup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
)

// claude is Claude Code: a hook PreToolUse for all tools in the user's settings.json.
type claude struct{}

func (claude) file(e Entry) string {
	return filepath.Join(cmp.Or(e.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(e.Home, ".claude")), "settings.json")
}

func (c claude) settings(e Entry) []string { return []string{c.file(e)} }

// claudeMatch is an entry of PreToolUse. Keys that are not known stay.
type claudeMatch struct {
	whole object
	hooks []object
}

func (c claude) add(e Entry) ([]Change, error) {
	return c.change(e, func(matches []claudeMatch) []claudeMatch {
		for _, m := range matches {
			if m.asks(e) {
				return matches
			}
		}
		hook := object{{"type", encoded("command")}, {"command", encoded(e.hook("claude-code"))}, {"timeout", encoded(60)}}
		return append(without(matches), claudeMatch{object{{"matcher", encoded("*")}}, []object{hook}})
	})
}

func (c claude) remove(e Entry) ([]Change, error) { return c.change(e, without) }

// change edits the hooks in the user's settings.
func (c claude) change(e Entry, edit func([]claudeMatch) []claudeMatch) ([]Change, error) {
	change, err := readFile(c.file(e), "has Claude Code ask before each tool", 0o600)
	if err != nil {
		return nil, err
	}
	all, err := readObject([]byte(change.Before))
	if err == nil {
		err = editHooks(&all, edit)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", change.Path, err)
	}
	change.After = all.text()
	if was, err := readObject([]byte(change.Before)); err == nil && string(encoded(was)) == string(encoded(all)) {
		change.After = change.Before
	}
	return []Change{change}, nil
}

func editHooks(all *object, edit func([]claudeMatch) []claudeMatch) error {
	hooks, err := readObject(all.get("hooks"))
	if err != nil {
		return fmt.Errorf("hooks: %w", err)
	}
	before, err := readMatches(hooks.get("PreToolUse"))
	if err != nil {
		return fmt.Errorf("hooks.PreToolUse: %w", err)
	}
	after := edit(before)
	if len(after) == 0 {
		hooks.remove("PreToolUse")
	} else {
		hooks.set("PreToolUse", written(after))
	}
	if len(hooks) == 0 {
		all.remove("hooks")
	} else {
		all.set("hooks", hooks)
	}
	return nil
}

func readMatches(text json.RawMessage) (matches []claudeMatch, err error) {
	var elements []json.RawMessage
	if len(text) > 0 && json.Unmarshal(text, &elements) != nil {
		return nil, errors.New("it is no list")
	}
	for _, element := range elements {
		m := claudeMatch{}
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

func written(matches []claudeMatch) (all []object) {
	for _, m := range matches {
		if len(m.hooks) > 0 {
			m.whole.set("hooks", m.hooks)
		}
		all = append(all, m.whole)
	}
	return all
}

// asks says whether the entry has all tools judged by this sidecar.
func (m claudeMatch) asks(e Entry) bool {
	matcher := commandOf(m.whole, "matcher")
	if matcher != "*" && matcher != "" && matcher != ".*" {
		return false
	}
	for _, hook := range m.hooks {
		if line := commandOf(hook, "command"); isHook(line, "claude-code") && e.asks(line) {
			return true
		}
	}
	return false
}

// without are the entries without bailiff's hooks.
func without(matches []claudeMatch) (left []claudeMatch) {
	for _, m := range matches {
		var hooks []object
		for _, hook := range m.hooks {
			if !isHook(commandOf(hook, "command"), "claude-code") {
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

// managedClaude is root's file, which holds before the user's.
const managedClaude = "/etc/claude-code/managed-settings.json"

func (c claude) hooks(e Entry) ([]Hook, error) {
	roots, only, err := claudeHooks(managedClaude, "root's")
	if err != nil {
		return nil, err
	}
	own, _, err := claudeHooks(c.file(e), "the user's own")
	for i := range own {
		if only.AllowManagedHooksOnly {
			own[i].Off = managedClaude + " lets root's hooks only run"
		}
	}
	return append(roots, own...), err
}

// claudeSwitches are settings that switch hooks off.
type claudeSwitches struct{ AllowManagedHooksOnly, DisableAllHooks bool }

func claudeHooks(path, lock string) (all []Hook, switches claudeSwitches, err error) {
	change, err := readFile(path, "", 0)
	if err != nil {
		return nil, switches, err
	}
	whole, err := readObject([]byte(change.Before))
	if err != nil {
		return nil, switches, fmt.Errorf("reading %s: %w", path, err)
	}
	_ = json.Unmarshal(encoded(whole), &switches) // of another type they switch nothing
	hooks, err := readObject(whole.get("hooks"))
	var matches []claudeMatch
	if err == nil {
		matches, err = readMatches(hooks.get("PreToolUse"))
	}
	if err != nil {
		return nil, switches, fmt.Errorf("reading %s: hooks: %w", path, err)
	}
	for _, m := range matches {
		for _, hook := range m.hooks {
			h := Hook{Path: path, Lock: lock, Line: commandOf(hook, "command"), Tools: commandOf(m.whole, "matcher"),
				Limit: usualClaudeLimit}
			_ = json.Unmarshal(hook.get("timeout"), &h.Limit)
			if switches.DisableAllHooks && path != managedClaude {
				h.Off = path + " has disableAllHooks"
			}
			if isHook(h.Line, "claude-code") {
				all = append(all, h)
			}
		}
	}
	return all, switches, nil
}

// usualClaudeLimit is how many seconds Claude Code waits for a hook that names none.
const usualClaudeLimit = 60

func (claude) managed(e Entry) []string {
	text := claudecode.ManagedSettings
	if !e.ownSocket() {
		text = strings.Replace(text, "bailiff-hook claude-code", "bailiff-hook claude-code --listen "+e.Listen, 1)
	}
	return []string{
		"install " + e.Programs + "/bailiff* /usr/local/bin",
		"mkdir -p /etc/claude-code",
		"cat > /etc/claude-code/managed-settings.json <<'EOT'\n" + strings.TrimSuffix(text, "\n") + "\nEOT",
	}
}
