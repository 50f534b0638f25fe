package setup

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/examples/codex"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// codexAgent is OpenAI's Codex: hooks before all tools and after a patch in the user's hooks.json, and
// in its config.toml that its own sandbox lets "bailiff exec" reach the sidecar.
type codexAgent struct{ hooksFile }

func newCodex() codexAgent {
	return codexAgent{hooksFile{client: "codex", called: "Codex", writing: "apply_patch",
		path: func(e Entry) string { return codexFile(e, "hooks.json") }}}
}

func codexFile(e Entry, name string) string {
	return filepath.Join(cmp.Or(e.Getenv("CODEX_HOME"), filepath.Join(e.Home, ".codex")), name)
}

func (c codexAgent) settings(e Entry) []string {
	return []string{c.path(e), codexFile(e, "config.toml")}
}

// codexNeeds are the settings without which a hook is not called, or its order not let through.
var codexNeeds = []struct{ table, key, value string }{
	{"", "sandbox_mode", `"workspace-write"`}, {"sandbox_workspace_write", "network_access", "true"}, {"features", "hooks", "true"},
}

func (c codexAgent) add(e Entry) ([]Change, error) {
	change, err := readFile(codexFile(e, "config.toml"), "lets Codex' own sandbox reach the sidecar", 0o600)
	if err != nil {
		return nil, err
	}
	for _, need := range codexNeeds {
		if change.After, err = withTOML(change.After, need.table, need.key, need.value); err != nil {
			return nil, fmt.Errorf("changing %s: %w", change.Path, err)
		}
	}
	hooks, err := c.hooksFile.add(e)
	return append([]Change{change}, hooks...), err
}

// staying are the settings that a removal leaves where no record says whether they were the user's own.
func (c codexAgent) staying(e Entry) (all []string) {
	change, err := readFile(codexFile(e, "config.toml"), "", 0o600)
	for _, need := range codexNeeds[:2] {
		if with, wrong := withTOML(change.Before, need.table, need.key, need.value); err == nil && wrong == nil && with == change.Before {
			all = append(all, fmt.Sprintf("%s = %s stays in %s, since no record says whether it was there before: take it out if it is "+
				"not yours.", need.key, need.value, change.Path))
		}
	}
	return all
}

// withTOML is a text with a key set in one of its tables, where it is set nowhere. A key that
// has another value stays, and so does what is not written as one key a line.
func withTOML(text, table, key, value string) (string, error) {
	lines, in, at := strings.SplitAfter(text, "\n"), "", -1
	if table == "" {
		at = 0
	}
	for i, line := range lines {
		if found := tomlTable.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			if in = strings.TrimSpace(found[1]); in == table {
				at = i + 1
			}
			continue
		}
		name, said, isKey := strings.Cut(line, "=")
		if !isKey || in != table || strings.TrimSpace(name) != key {
			continue
		}
		said, _, _ = strings.Cut(said, "#")
		if strings.TrimSpace(said) != value {
			return "", fmt.Errorf("line %d says %s = %s, and it must be %s", i+1, key, strings.TrimSpace(said), value)
		}
		return text, nil
	}
	written := key + " = " + value + "\n"
	switch {
	case at >= 0:
		return strings.Join(lines[:at], "") + written + strings.Join(lines[at:], ""), nil
	case strings.Contains(text, table):
		return "", fmt.Errorf("%s is there in another form: set %s = %s in it", table, key, value)
	case text != "" && !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	return text + "\n[" + table + "]\n" + written, nil
}

// managedCodex is root's file, which holds before the user's.
const managedCodex = "/etc/codex/requirements.toml"

var (
	codexCommand = regexp.MustCompile(`(?m)^command = (".*")$`)
	codexTimeout = regexp.MustCompile(`(?m)^timeout = (\d+)$`)
	codexOnly    = regexp.MustCompile(`(?m)^allow_managed_hooks_only = true$`)
)

func (c codexAgent) hooks(ctx context.Context, e Entry) ([]Hook, error) {
	all, err := c.written(e)
	if len(all) > 0 {
		c.look(ctx, e, all)
	}
	return all, err
}

func (c codexAgent) written(e Entry) ([]Hook, error) {
	root, err := readFile(managedCodex, "", 0)
	if err != nil {
		return nil, err
	}
	own, _, err := c.read(c.path(e), "the user's own")
	for i := range own {
		if codexOnly.MatchString(root.Before) {
			own[i].Off = managedCodex + " lets root's hooks only run"
		}
	}
	return append(codexManaged(root.Before), own...), err
}

// codexManaged is the hook in root's file, if it is written as the shipped one.
func codexManaged(text string) []Hook {
	h := Hook{Path: managedCodex, Lock: "root's", Limit: usualLimit, Tools: "*"}
	if found := codexCommand.FindStringSubmatch(text); found != nil {
		h.Line, _ = strconv.Unquote(found[1]) // basic strings of TOML are those of Go here
	}
	if found := codexTimeout.FindStringSubmatch(text); found != nil {
		h.Limit, _ = strconv.Atoi(found[1])
	}
	if !isHook(h.Line, "codex") {
		return nil
	}
	return []Hook{h}
}

func (codexAgent) managed(e Entry) []string {
	text := codex.Requirements
	if !e.ownSocket() {
		text = strings.Replace(text, "bailiff-hook codex ", "bailiff-hook codex "+shellquote.Join("--listen", e.Listen)+" ", 1)
	}
	return []string{
		"install " + shellquote.Quote(e.Programs) + "/bailiff* /usr/local/bin",
		"mkdir -p /etc/codex",
		"cat > /etc/codex/requirements.toml <<'EOT'\n" + strings.TrimSuffix(text, "\n") + "\nEOT",
		"cat > /etc/codex/managed_config.toml <<'EOT'\n" + strings.TrimSuffix(codex.ManagedConfig, "\n") + "\nEOT",
	}
}
