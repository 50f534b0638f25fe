package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// ofExample are the libraries of an example that comes with the first of them: a server of another
// one's, with one tool.
var ofExample = []string{"@modelcontextprotocol/sdk", "zod", "ajv", "ajv-formats", "fast-deep-equal", "fast-uri", "json-schema-traverse",
	"require-from-string", "zod-to-json-schema"}

// exampleServer has sandboxes of bubblewrap show that example, and the table name its tool and one
// that it does not have.
func exampleServer(t *testing.T) (sections []string, server string) {
	t.Helper()
	folder := apptest.OpenDir(t)
	for _, library := range ofExample {
		from := os.DirFS(filepath.Join(apptest.Clients(t), "node_modules", library))
		if err := os.CopyFS(filepath.Join(folder, "node_modules", library), from); err != nil {
			t.Fatal(err)
		}
	}
	return showing(t, folder, `deny contains {"rule": "house.city", "message": "Not of that city.", "match": input.args.arguments.city} if {
	input.tool == "mcp"
	input.args.arguments.city == "Atlantis"
}`, "weather: {get_weather: ask, other: allow}"),
		"/srv/example/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/mcpServerOutputSchema.js"
}

// showing are the sections with which sandboxes of bubblewrap show a folder at /srv/example, and the table mcp_tools has a row more.
func showing(tb testing.TB, folder, rego, row string) (sections []string) {
	tb.Helper()
	const cli, tools = "      cli: {isolation: optional,", "    mcp_tools:\n"
	return []string{
		apptest.WithRules(tb, rego, cli, cli+" mounts: {bubblewrap: [{source: "+folder+", target: /srv/example, read_only: true}]},",
			tools, tools+"      "+row+"\n"),
		"backends: {bubblewrap: {mounts_allowed: [" + folder + "]}}",
	}
}

func TestTheOfficialClientsCallToolsOfAnotherServerBehindTheSidecar(t *testing.T) {
	sections, server := exampleServer(t)
	s := apptest.Serve(t, sections...)
	operators := s.Operators(t)
	for name, program := range map[string][]string{
		"1": {filepath.Join(apptest.Programs(t), "bailiff-hook"), "mcp", "weather", "--listen", s.Agent},
		"2": {filepath.Join(apptest.Programs(t), "bailiff"), "mcp", "proxy", "weather", "--config", s.Config},
	} {
		t.Run("library "+name, func(t *testing.T) {
			if err := operators.ForgetMCP(t.Context(), "weather"); err != nil && !strings.Contains(err.Error(), "has reached") {
				t.Fatal(err)
			}
			c := start(t, map[string]any{"library": name, "mode": "auto", "command": append(program, "--", "node", server)})
			c.order(map[string]any{"list": true})
			if n := c.next(); len(n.Tools) > 0 {
				t.Errorf("before a yes it is offered %v", n.Tools)
			}
			trustWeather(t, operators)
			c.order(map[string]any{"list": true})
			if n := c.next(); !slices.Equal(n.Tools, []string{"get_weather"}) {
				t.Fatalf("after a yes it is offered %+v", n)
			}
			c.call("get_weather", map[string]any{"city": "Atlantis", "country": "x"})
			if n := c.next(); !strings.Contains(n.text(), "Not of that city") || !n.Result.IsError {
				t.Errorf("what a rule denies is answered %+v", n)
			}
			c.call("get_weather", map[string]any{"city": 7})
			if n := c.next(); !strings.Contains(n.text(), "do not fit the schema") {
				t.Errorf("what does not fit is answered %+v", n)
			}
			c.call("get_weather", map[string]any{"city": "Oslo", "country": "NO"})
			shown, err := operators.Approval(t.Context(), s.Pending(t))
			if args := shown.Approval.Request.Args; err != nil || args.Arguments != "{\n  \"city\": \"Oslo\",\n  \"country\": \"NO\"\n}" ||
				args.Server != "weather" || args.Name != "get_weather" {
				t.Errorf("a person is shown %+v, %v", shown.Approval.Request, err)
			}
			if _, err := operators.Approve(t.Context(), shown.Approval.ID, "once"); err != nil {
				t.Fatal(err)
			}
			if n := c.next(); !strings.Contains(n.text(), "temperature") || n.Result.IsError {
				t.Errorf("what was approved is answered %+v", n)
			}
			c.ends()
		})
	}
}

// trustWeather says yes to what is shown of the server.
func trustWeather(t *testing.T, operators *client.Client) {
	t.Helper()
	shown, err := operators.MCPServer(t.Context(), "weather")
	if err != nil || shown.Trusted || len(shown.Listing.Files) != 1 || shown.Listing.Unpinned || len(shown.Listing.Tools) != 1 {
		t.Fatalf("an operator is shown %+v, %v", shown, err)
	}
	if _, err := operators.TrustMCP(t.Context(), "weather", "0000"); err == nil {
		t.Error("a yes to something else counts")
	}
	var trusted api.MCPServer
	if trusted, err = operators.TrustMCP(t.Context(), "weather", shown.Digest); err != nil || !trusted.Trusted {
		t.Fatalf("after a yes it is %+v, %v", trusted, err)
	}
}
