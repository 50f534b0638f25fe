package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// everything are the names that the table mcp_tools has for the protocol's own server for tests: its tools, and all else that may pass.
const everything = "echo get-annotated-message get-env get-resource-links get-resource-reference get-roots-list get-structured-content " +
	"get-sum get-tiny-image gzip-file-as-resource simulate-research-query toggle-simulated-logging toggle-subscriber-updates " +
	"trigger-elicitation-request trigger-elicitation-request-async trigger-long-running-operation trigger-sampling-request " +
	"trigger-sampling-request-async trigger-url-elicitation " +
	"resources/list resources/templates/list resources/read resources/subscribe resources/unsubscribe prompts/list prompts/get " +
	"completion/complete logging/setLevel sampling/createMessage elicitation/create roots/list"

// ofEverything are what the Inspector is told to do with that server.
var ofEverything = [][]string{
	{"tools/list"},
	{"tools/call", "--tool-name", "echo", "--tool-arg", "message=hello"},
	{"tools/call", "--tool-name", "get-structured-content", "--tool-arg", "location=Chicago"},
	{"tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "b=3"},
	{"resources/list"},
	{"resources/templates/list"},
	{"resources/read", "--uri", "demo://resource/static/document/features.md"},
	{"prompts/list"},
	{"prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Oslo", "state=NO"},
	{"logging/setLevel", "--log-level", "debug"},
}

// behindAndBeside are the commands that start the server behind a sidecar, and by itself.
func behindAndBeside(t *testing.T) (s *apptest.Sidecar, behind, beside []string) {
	t.Helper()
	folder := apptest.OpenDir(t)
	for _, file := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(apptest.Root(t), "scripts/clients/servers", file))
		backendtest.Must(t, err)
		backendtest.Must(t, os.WriteFile(filepath.Join(folder, file), text, 0o600))
	}
	install := exec.Command("npm", "ci", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts")
	if printed, err := install.CombinedOutput(); err != nil {
		t.Fatalf("installing the server: %v\n%s", err, printed)
	}
	var rows []string
	for _, name := range strings.Fields(everything) {
		rows = append(rows, name+": allow")
	}
	s = apptest.Serve(t, showing(t, folder, "", "everything: {"+strings.Join(rows, ", ")+"}")...)
	const server = "/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
	return s, []string{filepath.Join(apptest.Programs(t), "bailiff-hook"), "mcp", "everything", "--listen", s.Agent, "--", "node",
		"/srv/example" + server}, []string{"node", folder + server}
}

// saysYes says yes to what the server is and offers to the client that it spoke with last: what it offers depends on that.
func saysYes(t *testing.T, operators *client.Client) {
	t.Helper()
	shown, err := operators.MCPServer(t.Context(), "everything")
	backendtest.Must(t, err)
	for _, tool := range shown.Listing.Tools {
		if tool.Refused != "" {
			t.Errorf("the tool %s is refused: %s", tool.Name, tool.Refused)
		}
	}
	_, err = operators.TrustMCP(t.Context(), "everything", shown.Digest)
	backendtest.Must(t, err)
}

func TestTheOfficialClientsLearnTheSameBehindTheSidecarAsBesideIt(t *testing.T) {
	backendtest.Reserve(t, "it installs a server from npm")
	s, behind, beside := behindAndBeside(t)
	operators := s.Operators(t)
	t.Run("the library", func(t *testing.T) {
		features(t, behind, "list")
		saysYes(t, operators)
		want, got := features(t, beside), features(t, behind)
		wantSame(t, "the library", got, want)
	})
	t.Run("the Inspector", func(t *testing.T) {
		_ = inspector(t, behind, ofEverything[0]).Run() // it fails where there are no tools yet
		saysYes(t, operators)
		for _, method := range ofEverything {
			wantSame(t, strings.Join(method, " "), inspect(t, behind, method), inspect(t, beside, method))
		}
	})
}

// wantSame wants the same values at the same places.
func wantSame(t *testing.T, place string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		keys := maps.Clone(want)
		maps.Copy(keys, got)
		for key := range keys {
			wantSame(t, place+"/"+key, got[key], want[key])
		}
	case []any:
		got, _ := got.([]any)
		for i := range max(len(got), len(want)) {
			wantSame(t, fmt.Sprint(place, "/", i), at(got, i), at(want, i))
		}
	default:
		if !reflect.DeepEqual(got, want) {
			t.Errorf("at %s a client learns behind the sidecar %.300v, and beside it %.300v", place, got, want)
		}
	}
}

func at(of []any, i int) any {
	if i >= len(of) {
		return nil
	}
	return of[i]
}

// inspector is the Inspector, told to do one thing with the server that a command starts.
func inspector(t *testing.T, command, method []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(apptest.Client(t, "mcp-inspector"), slices.Concat([]string{"--cli", "--connect-timeout", "60000", "--method"},
		method, []string{"--"}, command)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "NO_COLOR=1")
	return cmd
}

// inspect is what it prints.
func inspect(t *testing.T, command, method []string) (printed any) {
	t.Helper()
	text, err := inspector(t, command, method).Output()
	if err == nil {
		err = json.Unmarshal(text, &printed)
	}
	if err != nil {
		t.Errorf("of %q the Inspector ends with %v: %s", method, err, text)
	}
	return printed
}

// features is what a client by the library learns of the server that a command starts.
func features(t *testing.T, command []string, more ...string) (learnt map[string]any) {
	t.Helper()
	folder := t.TempDir()
	backendtest.Must(t, os.Symlink(filepath.Join(apptest.Clients(t), "node_modules"), filepath.Join(folder, "node_modules")))
	text, err := os.ReadFile("testdata/features.mjs")
	backendtest.Must(t, err)
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "features.mjs"), text, 0o600))
	told, err := json.Marshal(command)
	backendtest.Must(t, err)
	cmd := exec.Command("node", append([]string{filepath.Join(folder, "features.mjs"), string(told)}, more...)...)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("the client ends with %v: %s", err, printed)
	}
	if len(more) == 0 {
		backendtest.Must(t, json.Unmarshal(printed, &learnt))
	}
	return learnt
}
