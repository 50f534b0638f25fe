package mcp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/policies"
)

// ofNPM are servers for which the shipped tables have rows, as npm has them.
var ofNPM = map[string]struct{ release, program, argument string }{
	"filesystem": {"@modelcontextprotocol/server-filesystem@2026.8.31", "dist/index.js", "/srv/example/files"},
	"postgres":   {"@modelcontextprotocol/server-postgres@0.6.2", "dist/index.js", "postgresql://localhost/none"},
	"playwright": {"@playwright/mcp@0.0.83", "cli.js", "--headless"},
}

// mcpRow is the row of a server in the shipped table mcp_tools.
func mcpRow(t *testing.T, server string) map[string]string {
	t.Helper()
	text, err := policies.FS.ReadFile("data.yaml")
	var data struct {
		Bailiff struct {
			Tables struct {
				MCPTools map[string]map[string]string `yaml:"mcp_tools"`
			}
		}
	}
	if err == nil {
		err = yaml.Unmarshal(text, &data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data.Bailiff.Tables.MCPTools[server]
}

// installServers installs them from npm in a folder that sandboxes show.
func installServers(t *testing.T) (folder string) {
	t.Helper()
	folder = apptest.OpenDir(t)
	args := []string{"install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"}
	for _, s := range ofNPM {
		args = append(args, s.release)
	}
	if printed, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		t.Fatalf("installing servers: %v\n%s", err, printed)
	}
	files := filepath.Join(folder, "files")
	err := os.Mkdir(files, 0o755) //nolint:gosec // sandboxes of another user read it
	if err == nil {
		err = os.WriteFile(filepath.Join(files, "a.txt"), []byte("what it holds"), 0o644) //nolint:gosec // as above
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestTheShippedRowsAreTheToolsOfTheServersOfNPM(t *testing.T) {
	backendtest.Reserve(t, "it installs three servers from npm")
	folder := installServers(t)
	s := apptest.Serve(t, showing(t, folder, "", "")...)
	operators := s.Operators(t)
	for name, server := range ofNPM {
		t.Run(name, func(t *testing.T) {
			library, _, _ := strings.Cut(server.release[1:], "@")
			command := []string{filepath.Join(apptest.Programs(t), "bailiff-hook"), "mcp", name, "--listen", s.Agent, "--", "node",
				"/srv/example/node_modules/@" + library + "/" + server.program, server.argument}
			c := start(t, map[string]any{"library": "1", "command": command})
			c.order(map[string]any{"list": true})
			if n := c.next(); len(n.Tools) > 0 {
				t.Errorf("before a yes it is offered %v", n.Tools)
			}
			shown, err := operators.MCPServer(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := operators.TrustMCP(t.Context(), name, shown.Digest); err != nil {
				t.Fatal(err)
			}
			row := mcpRow(t, name)
			var offer []string
			for _, tool := range shown.Listing.Tools {
				if row[tool.Name] == "" || tool.Refused != "" {
					t.Errorf("the row of %s does not name %s, or it is refused: %s", name, tool.Name, tool.Refused)
				}
				if row[tool.Name] != "deny" {
					offer = append(offer, tool.Name)
				}
			}
			if len(row) != len(shown.Listing.Tools) {
				t.Errorf("the row of %s names %d tools of %d", name, len(row), len(shown.Listing.Tools))
			}
			slices.Sort(offer)
			c.order(map[string]any{"list": true})
			if n := c.next(); !slices.Equal(n.Tools, offer) {
				t.Errorf("after a yes it is offered %v, want %v", n.Tools, offer)
			}
			if name == "filesystem" {
				callFilesystem(t, c, command)
			}
			c.ends()
		})
	}
}

// callFilesystem calls the server of files by the library and by the Inspector.
func callFilesystem(t *testing.T, c *script, command []string) {
	for path, want := range map[string]string{"/srv/example/files/a.txt": "what it holds",
		"/srv/example/files/../a.txt": "It is no plain path"} {
		c.call("read_text_file", map[string]any{"path": path})
		if n := c.next(); !strings.Contains(n.text(), want) {
			t.Errorf("%s is answered %+v", path, n)
		}
		arguments, err := json.Marshal(map[string]any{"path": path})
		if err != nil {
			t.Fatal(err)
		}
		printed := runs(t, "mcp-inspector", append([]string{"--cli", "--connect-timeout", "60000", "--method", "tools/call",
			"--tool-name", "read_text_file", "--tool-args-json", string(arguments)}, command...)...)
		if !strings.Contains(printed, want) {
			t.Errorf("the Inspector prints of %s %s", path, printed)
		}
	}
}
