package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// mcpCommand is the command line by which an agent starts bailiff's tools.
func (e Entry) mcpCommand() []string {
	return []string{e.Programs + "/bailiff", "mcp", "--listen", e.Listen, "--in-project"}
}

// opencode gets its shell by MCP, and its own tools that act on this machine are denied it.
type opencode struct{}

func (opencode) file(e Entry) string {
	return filepath.Join(cmp.Or(e.Getenv("XDG_CONFIG_HOME"), filepath.Join(e.Home, ".config")), "opencode", "opencode.json")
}

func (o opencode) settings(e Entry) []string { return []string{o.file(e)} }

// opencodeDenied are the permissions of tools that would act here unjudged.
var opencodeDenied = []string{"bash", "edit", "webfetch", "external_directory"}

func (o opencode) add(e Entry) ([]Change, error) {
	if later := o.file(e) + "c"; isThere(later) {
		return nil, fmt.Errorf("opencode reads %s after opencode.json, so that it could allow again what is denied there: move what "+
			"it says into opencode.json, and take it away", later)
	}
	return o.change(e, "gives opencode the sandboxed tools, and takes its own shell away", func(all, servers *object) error {
		servers.set("bailiff", object{{"type", encoded("local")}, {"command", encoded(e.mcpCommand())}})
		all.set("mcp", *servers)
		return deny(all)
	})
}

// deny sets the permissions. A word that stood for all of them stands for the others from then on.
func deny(all *object) error {
	said := all.get("permission")
	var word string
	var permission object
	if json.Unmarshal(said, &word) == nil && word != "" {
		permission.set("*", word)
	} else if read, err := readObject(said); err == nil {
		permission = read
	} else {
		return fmt.Errorf("permission: %w", err)
	}
	for _, name := range opencodeDenied { // behind all others, since the last that fits holds
		permission.remove(name)
		permission.set(name, "deny")
	}
	all.set("permission", permission)
	return nil
}

// remove leaves the permissions where no record says what they were: without them more could be allowed than ever was asked for.
func (o opencode) remove(e Entry) ([]Change, error) {
	return o.change(e, "gives opencode the sandboxed tools no longer", func(all, servers *object) error {
		if servers.index("bailiff") < 0 {
			return nil
		}
		servers.remove("bailiff")
		if len(*servers) == 0 {
			all.remove("mcp")
		} else {
			all.set("mcp", *servers)
		}
		return nil
	})
}

func (o opencode) change(e Entry, why string, edit func(all, servers *object) error) ([]Change, error) {
	change, err := e.open(o.file(e), why, 0o600)
	if err != nil {
		return nil, err
	}
	all, err := readObject([]byte(change.After))
	var servers object
	if err == nil {
		servers, err = readObject(all.get("mcp"))
	}
	before := string(encoded(all))
	if err == nil {
		err = edit(&all, &servers)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", change.Path, err)
	}
	if string(encoded(all)) != before {
		change.After = all.text()
	}
	return []Change{change}, nil
}

// server is the entry as opencode reads it, with all that it says by now.
func (o opencode) server(e Entry) (Server, error) {
	found := Server{Path: o.file(e)}
	change, err := readFile(found.Path, "", 0)
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

func (o opencode) advice(e Entry) []string {
	return []string{"opencode's own bash, edit and webfetch are denied in " + o.file(e) + "."}
}

func (o opencode) staying(e Entry) []string {
	return []string{"opencode's own shell stays denied, since no record says what permission was before in " + o.file(e) +
		": edit it there."}
}

// anyMCP is another agent that speaks the protocol, whose settings are not known.
type anyMCP struct{ client string }

func (a anyMCP) server(e Entry) (Server, error) {
	return Server{Path: a.client, Command: e.mcpCommand()}, nil
}

func (anyMCP) settings(Entry) []string          { return nil }
func (anyMCP) add(Entry) ([]Change, error)      { return nil, nil }
func (anyMCP) remove(e Entry) ([]Change, error) { return nil, nil }
func (a anyMCP) advice(e Entry) []string {
	command := e.mcpCommand()
	entry := map[string]any{"mcpServers": map[string]any{"bailiff": map[string]any{"command": command[0], "args": command[1:]}}}
	return []string{
		"Have " + a.client + " start bailiff's tools, by an entry such as " + string(encoded(entry)) + ",",
		"that is by " + shellquote.Join(command...) + ", and take its own shell and file tools away.",
	}
}
