package hermes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// draft is bailiff.yaml as it will be.
type draft struct {
	platforms []string
	sections  map[string]map[string]any // of backends
	unbounded bool                      // the engine may lack bounds on disks
	mountable []string
	variables []string // that are taken from .env
	guards    []guard.Rule
}

func (p *plan) configText() string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line("# Written by \"bailiff hermes import\" from the settings in %s.", strings.Trim(strconv.Quote(p.home.Folder), `"`))
	line("agent:")
	line("  listeners:")
	line("    - {name: hermes, listen: %s, uids: [%d], platforms: %s}", yamledit.Flow(p.to.Agent), p.home.Owner,
		yamledit.Flow(yamledit.List(p.config.platforms)))
	line("policies: {paths: [policies]}")
	if len(p.config.variables) > 0 && settings.Exists(p.home.dotenv()) {
		line("env: {sources: [%s]}", yamledit.Flow("file:"+p.home.dotenv()))
	} else {
		line("env: {sources: []}")
	}
	if seconds := p.times["approvals.timeout"]; seconds > 0 {
		line("approvals: {timeout: %.0fs}", seconds)
	}
	if len(p.config.guards) > 0 {
		line("guards:")
	}
	for _, g := range p.config.guards {
		line("  - name: %s\n    when: |\n      %s\n    message: %s", g.Name, g.When, yamledit.Flow(g.Message))
	}
	line("backends:")
	for _, name := range sortedNames(p.backends) {
		line("  %s: %s", name, yamledit.Flow(p.backendSettings(name)))
	}
	return text.String()
}

// section is what will be said of a backend.
func (d *draft) section(backend string) map[string]any {
	if d.sections[backend] == nil {
		d.sections[backend] = map[string]any{}
	}
	return d.sections[backend]
}

func (p *plan) backendSettings(name string) map[string]any {
	keys := p.config.section(name)
	if p.config.unbounded {
		keys["accept_missing_limits"] = yamledit.List([]string{"disk_mb"})
	}
	if len(p.config.mountable) > 0 && (name == "docker" || name == "bubblewrap") {
		keys[backends.MountsAllowed] = yamledit.List(p.config.mountable)
	}
	return keys
}
