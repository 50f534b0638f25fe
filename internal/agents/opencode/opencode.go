// Package opencode is opencode: what its settings say.
package opencode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// Agent gets its shell by MCP, and its own tools that act on this machine are denied it.
type Agent struct{}

func (Agent) file(e settings.Entry) string {
	return filepath.Join(cmp.Or(e.Getenv("XDG_CONFIG_HOME"), filepath.Join(e.Home, ".config")), "opencode", "opencode.json")
}

// Settings are the paths of the user's files that are written.
func (o Agent) Settings(e settings.Entry) []string { return []string{o.file(e)} }

// denied are the permissions of tools that would act here unjudged.
var denied = []string{"bash", "edit", "webfetch", "external_directory"}

// Add has the agent ask.
func (o Agent) Add(e settings.Entry) ([]settings.Change, error) {
	if later := o.file(e) + "c"; settings.Exists(later) {
		return nil, fmt.Errorf("opencode reads %s after opencode.json, so that it could allow again what is denied there: move what "+
			"it says into opencode.json, and take it away", later)
	}
	return o.change(e, "gives opencode the sandboxed tools, and takes its own shell away", func(all, servers *settings.Object) error {
		var server settings.Object
		server.Set("type", "local")
		server.Set("command", e.MCPCommand())
		servers.Set("bailiff", server)
		all.Set("mcp", *servers)
		return deny(all)
	})
}

// deny sets the permissions. A word that stood for all of them stands for the others from then on.
func deny(all *settings.Object) error {
	said := all.Get("permission")
	var word string
	var permission settings.Object
	if json.Unmarshal(said, &word) == nil && word != "" {
		permission.Set("*", word)
	} else if read, err := settings.ReadObject(said); err == nil {
		permission = read
	} else {
		return fmt.Errorf("permission: %w", err)
	}
	for _, name := range denied { // behind all others, since the last that fits holds
		permission.Remove(name)
		permission.Set(name, "deny")
	}
	all.Set("permission", permission)
	return nil
}

// Remove leaves the permissions where no record says what they were: without them more could be allowed than ever was asked for.
func (o Agent) Remove(e settings.Entry) ([]settings.Change, error) {
	return o.change(e, "gives opencode the sandboxed tools no longer", func(all, servers *settings.Object) error {
		if servers.Index("bailiff") < 0 {
			return nil
		}
		servers.Remove("bailiff")
		if len(*servers) == 0 {
			all.Remove("mcp")
		} else {
			all.Set("mcp", *servers)
		}
		return nil
	})
}

func (o Agent) change(e settings.Entry, why string, edit func(all, servers *settings.Object) error) ([]settings.Change, error) {
	change, err := e.Open(o.file(e), why, 0o600)
	if err != nil {
		return nil, err
	}
	all, err := settings.ReadObject([]byte(change.After))
	var servers settings.Object
	if err == nil {
		servers, err = settings.ReadObject(all.Get("mcp"))
	}
	before := string(settings.JSON(all))
	if err == nil {
		err = edit(&all, &servers)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", change.Path, err)
	}
	if string(settings.JSON(all)) != before {
		change.After = all.Text()
	}
	return []settings.Change{change}, nil
}

// Server is the entry as opencode reads it, with all that it says by now.
func (o Agent) Server(e settings.Entry) (settings.Server, error) {
	found := settings.Server{Path: o.file(e)}
	change, err := settings.Read(found.Path, "", 0)
	if err != nil {
		return found, err
	}
	var said struct {
		MCP map[string]struct {
			Command []string
			Enabled *bool
		}
	}
	if change.Before != "" {
		err = json.Unmarshal([]byte(change.Before), &said)
	}
	if err != nil {
		return found, fmt.Errorf("reading %s: %w", found.Path, err)
	}
	entry := said.MCP["bailiff"]
	found.Command = entry.Command
	switch {
	case len(entry.Command) == 0:
		found.Off = "it has no command in mcp.bailiff"
	case entry.Enabled != nil && !*entry.Enabled:
		found.Off = "mcp.bailiff is not enabled"
	}
	return found, nil
}

// Advice is what there is to know.
func (o Agent) Advice(e settings.Entry) []string {
	return []string{"opencode's own bash, edit and webfetch are denied in " + o.file(e) + "."}
}

// Leftovers is what a removal leaves where no record says what there was.
func (o Agent) Leftovers(e settings.Entry) []string {
	return []string{"opencode's own shell stays denied, since no record says what permission was before in " + o.file(e) +
		": edit it there."}
}
