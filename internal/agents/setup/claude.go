package setup

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// claude is Claude Code: a hook before all tools, and one after those that write, in the user's settings.json.
type claude struct{ hooksFile }

func newClaude() claude {
	return claude{hooksFile{client: "claude-code", called: "Claude Code", mayBlock: true, writing: "Edit|MultiEdit|Write|NotebookEdit",
		path: func(e Entry) string {
			return filepath.Join(cmp.Or(e.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(e.Home, ".claude")), "settings.json")
		}}}
}

func (c claude) settings(e Entry) []string { return []string{c.path(e)} }

// managedClaude is root's file, which holds before the user's.
const managedClaude = "/etc/claude-code/managed-settings.json"

func (c claude) hooks(_ context.Context, e Entry) ([]Hook, error) { return c.written(e) }

func (c claude) written(e Entry) ([]Hook, error) {
	roots, by, err := c.read(managedClaude, "root's")
	if err != nil {
		return nil, err
	}
	own, _, err := c.read(c.path(e), "the user's own")
	for i := range own {
		if by.AllowManagedHooksOnly {
			own[i].Off = managedClaude + " lets root's hooks only run"
		}
	}
	return append(roots, own...), err
}

func (claude) managed(e Entry) []string {
	text := claudecode.ManagedSettings
	if !e.ownSocket() {
		text = strings.Replace(text, "bailiff-hook claude-code", "bailiff-hook claude-code "+shellquote.Join("--listen", e.Listen), 1)
	}
	return []string{
		"install " + shellquote.Quote(e.Programs) + "/bailiff* /usr/local/bin",
		"mkdir -p /etc/claude-code",
		"cat > /etc/claude-code/managed-settings.json <<'EOT'\n" + strings.TrimSuffix(text, "\n") + "\nEOT",
	}
}
