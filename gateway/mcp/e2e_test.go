package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// houseRules ask and deny by the words of a command.
const houseRules = `
require_approval contains {"rule": "house.asks", "message": "It is asked about.", "match": "asked"} if {
	contains(input.args.command, "asked-about")
}

deny contains {"rule": "house.denies", "message": "It is never done here."} if contains(input.args.command, "never-done")
`

// served is a sidecar with a console and these rules, and a listener by TCP that
// speaks MCP for user 1000.
type served struct {
	*apptest.Sidecar
	url string
}

func serve(t *testing.T) served {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	s := served{Sidecar: apptest.Serve(t,
		`agent: {listeners: [{name: test, listen: "<agent>", platforms: ["*"]}, {name: tools, listen: "tcp://127.0.0.1:0", token_file: `+
			secret+
			`, platforms: [cli], mcp: {platform: cli, user: "1000"}}]}`,
		`operator: {listen: "<operator>", console: "127.0.0.1:0", allow_same_user: true}`,
		apptest.WithRules(t, houseRules))}
	status, err := s.Operators(t).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.url = strings.Replace(status.Listeners[1].Listen, "tcp://", "http://", 1) + Path
	return s
}

// approves answers the approval of a page.
func (s served) approves(t *testing.T, page string) {
	t.Helper()
	_, id, _ := strings.Cut(page, "/?approval=")
	if _, err := s.Operators(t).Approve(t.Context(), id, "once"); err != nil {
		t.Fatal(err)
	}
}

// script is the client in JavaScript.
type script struct {
	t     *testing.T
	to    io.WriteCloser
	lines *bufio.Scanner
	cmd   *exec.Cmd
}

// news is what it learns, one thing at a time.
type news struct {
	Connected *string
	Tools     []string
	Shown, By string
	Progress  string
	Thrown    string
	Result    *struct {
		IsError bool
		Content []struct{ Text string }
		Meta    map[string]json.RawMessage `json:"_meta"`
	}
}

func (n news) text() string {
	if n.Result == nil || len(n.Result.Content) == 0 {
		return ""
	}
	return n.Result.Content[0].Text
}

// structure is what a program finds of the result.
func (n news) structure(t *testing.T) (r Result) {
	t.Helper()
	if err := json.Unmarshal(n.Result.Meta[MetaResult], &r); err != nil {
		t.Fatalf("the result is %+v: %v", n.Result, err)
	}
	return r
}

func start(t *testing.T, how map[string]any) *script {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(apptest.Clients(t), "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/client.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "client.mjs"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(how)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, cmd: exec.Command("node", filepath.Join(folder, "client.mjs"), string(told))}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.to, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(out)
	s.lines.Buffer(nil, 4<<20)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if n := s.next(); n.Connected == nil {
		t.Fatalf("it began with %+v", n)
	}
	return s
}

func (s *script) next() (n news) {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("it says no more: %v", s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), &n); err != nil {
		s.t.Fatalf("it says %q: %v", s.lines.Text(), err)
	}
	return n
}

func (s *script) order(what map[string]any) {
	s.t.Helper()
	if err := json.NewEncoder(s.to).Encode(what); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) call(tool string, args map[string]any) {
	s.t.Helper()
	s.order(map[string]any{"call": map[string]any{"name": tool, "arguments": args}})
}

// ends has the client close its connection and returns when it has.
func (s *script) ends() {
	s.t.Helper()
	_ = s.to.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("it ended with %v", err)
	}
}

// clients are the libraries by all transports, and the version that each speaks.
func (s served) clients(t *testing.T) map[string]map[string]any {
	pipe := []string{filepath.Join(apptest.Programs(t), "bailiff"), "mcp", "--listen", s.Agent, "--user", "1000"}
	return map[string]map[string]any{
		"first by a pipe":  {"library": "1", "command": pipe},
		"first by HTTP":    {"library": "1", "url": s.url, "token": token},
		"second by a pipe": {"library": "2", "command": pipe},
		"second by HTTP":   {"library": "2", "url": s.url, "token": token},
	}
}

func TestTheOfficialClientsRunCommandsInTheSandbox(t *testing.T) {
	s := serve(t)
	for name, how := range s.clients(t) {
		t.Run(name, func(t *testing.T) {
			c := start(t, how)
			c.order(map[string]any{"list": true})
			if n := c.next(); !slices.Equal(n.Tools, []string{"execute_code", "process", "terminal"}) {
				t.Fatalf("its tools are %+v", n)
			}
			marker := filepath.Join(t.TempDir(), "mark")
			for _, test := range []struct {
				tool, key, value, text string
				failed                 bool
			}{
				{"terminal", "command", "mkdir -p " + filepath.Dir(marker) + "; echo a > " + marker + "; echo kept > f; hostname",
					"sandbox\n", false},
				{"terminal", "command", "cat f; exit 3", "kept\n[exit code 3]", false},
				{"terminal", "command", "echo never-done > " + marker, "Denied: It is never done here (house.denies).", true},
				{"execute_code", "code", "print(6*7)", "42\n", false},
				{"process", "action", "list", "[no output]", false},
			} {
				c.call(test.tool, map[string]any{test.key: test.value})
				if n := c.next(); n.text() != test.text || n.Result.IsError != test.failed {
					t.Errorf("%s is answered %+v", test.value, n)
				}
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("a command ran on the host")
			}
			c.ends()
		})
	}
	await(t, "the sandboxes of ended sessions are gone", func() bool {
		list, err := s.Operators(t).Sandboxes(t.Context())
		return err == nil && len(list) <= 1 // that of the version without sessions
	})
}

func TestTheOfficialClientsShowThePageOfAnApproval(t *testing.T) {
	s := serve(t)
	for name, how := range s.clients(t) {
		t.Run(name, func(t *testing.T) {
			how["action"] = "accept"
			c := start(t, how)
			c.call("terminal", map[string]any{"command": "echo asked-about"})
			n := c.next()
			for n.Progress != "" {
				n = c.next()
			}
			if !strings.HasPrefix(n.Shown, "http://127.0.0.1:") || !strings.Contains(n.Shown, "/?approval=") || n.By != "url" {
				t.Fatalf("it was told %+v", n)
			}
			s.approves(t, n.Shown)
			for n = c.next(); n.Progress != ""; {
				n = c.next()
			}
			if n.text() != "asked-about\n" || n.Result.IsError || n.structure(t).Approval.By != "ana" {
				t.Errorf("the result is %+v", n)
			}
			c.ends()

			how["action"] = "decline" // as clients do by themselves where nobody sits at them
			c = start(t, how)
			c.call("terminal", map[string]any{"command": "echo asked-about again"})
			for n = c.next(); n.Shown == ""; {
				n = c.next()
			}
			s.approves(t, n.Shown)
			for n = c.next(); n.Result == nil; {
				n = c.next()
			}
			if n.Result.IsError || n.text() != "asked-about again\n" {
				t.Errorf("declined, and approved by an approver, the result is %+v", n)
			}
			c.ends()
		})
	}
}

func TestACancelledCallStopsItsCommand(t *testing.T) {
	s := serve(t)
	for name, how := range s.clients(t) {
		t.Run(name, func(t *testing.T) {
			busy := func() int {
				list, err := s.Operators(t).Sandboxes(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				users := 0
				for _, sandbox := range list {
					users += sandbox.Users
				}
				return users
			}
			c := start(t, how)
			c.call("terminal", map[string]any{"command": "sleep 1000"})
			await(t, "the command runs", func() bool { return busy() == 1 })
			c.order(map[string]any{"cancel": true})
			if n := c.next(); n.Thrown == "" {
				t.Errorf("it was told %+v", n)
			}
			await(t, "the command has stopped", func() bool { return busy() == 0 })
			c.call("terminal", map[string]any{"command": "sleep 1000"})
			await(t, "the command runs", func() bool { return busy() == 1 })
			_ = c.cmd.Process.Kill()
			await(t, "the command has stopped", func() bool { return busy() == 0 })
		})
	}
}

// runs runs a client from npm to its end, and returns what it printed.
func runs(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(apptest.Client(t, program), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "NO_COLOR=1")
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s ended with %v", program, err)
	}
	return string(printed)
}

func TestTheInspectorAndMcporterCallTools(t *testing.T) {
	s := serve(t)
	bailiff := filepath.Join(apptest.Programs(t), "bailiff")
	for name, call := range map[string]func(command string) string{
		"the Inspector by a pipe": func(command string) string {
			return runs(t, "mcp-inspector", "--cli", "--method", "tools/call", "--tool-name", "terminal", "--tool-args-json",
				`{"command": "`+command+`"}`,
				bailiff, "mcp", "--listen", s.Agent)
		},
		"the Inspector by HTTP": func(command string) string {
			return runs(t, "mcp-inspector", "--cli", s.url, "--header", "Authorization: Bearer "+token,
				"--method", "tools/call", "--tool-name", "terminal", "--tool-args-json", `{"command": "`+command+`"}`)
		},
		"the Inspector without a session": func(command string) string {
			return runs(t, "mcp-inspector", "--cli", s.url, "--protocol-era", "modern", "--header", "Authorization: Bearer "+token,
				"--method", "tools/call", "--tool-name", "terminal", "--tool-args-json", `{"command": "`+command+`"}`)
		},
		"mcporter by a pipe": func(command string) string {
			return runs(t, "mcporter", "call", "--stdio", bailiff+" mcp --listen "+s.Agent, "--name", "bailiff", "terminal",
				"command="+command)
		},
		"mcporter by HTTP": func(command string) string {
			return runs(t, "mcporter", "call", "--http-url", s.url, "--allow-http", "--header", "Authorization=Bearer "+token, "--name",
				"bailiff",
				"terminal", "command="+command)
		},
	} {
		if printed := call("echo $((6*7)) of $(hostname)"); !strings.Contains(printed, "42 of sandbox") {
			t.Errorf("%s printed %s", name, printed)
		}
	}
}

// spawned is a client of "bailiff mcp" with these arguments.
func spawned(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	command := exec.Command(filepath.Join(apptest.Programs(t), "bailiff"), append([]string{"mcp"}, args...)...)
	command.Stderr = t.Output()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNoBrokenSidecarRunsACall(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, broken := range apptest.BrokenSidecars() {
		network := []string{"unix", "tcp"}[i%2]
		t.Run(broken.Name+" by "+network, func(t *testing.T) {
			marker := filepath.Join(t.TempDir(), "mark")
			c := spawned(t, "--listen", broken.Open(t, network), "--token-file", secret, "--timeout", "1")
			result, err := c.CallTool(awaittest.Context(t), &sdk.CallToolParams{Name: "terminal",
				Arguments: map[string]any{"command": "echo a > " + marker}})
			if err != nil || !result.IsError {
				t.Errorf("it is answered %+v, %v", result, err)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

func TestASidecarThatIsKilledEndsTheCall(t *testing.T) {
	s := apptest.Serve(t)
	c := spawned(t, "--listen", s.Agent)
	answered := make(chan *sdk.CallToolResult)
	go func() {
		result, _ := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": "sleep 1000"}})
		answered <- result
	}()
	await(t, "the command runs", func() bool {
		list, err := s.Operators(t).Sandboxes(t.Context())
		return err == nil && len(list) == 1 && list[0].Users == 1
	})
	s.Kill()
	if result := <-answered; result == nil || !result.IsError {
		t.Errorf("it is answered %+v", result)
	}
	s.Start(t)
	if text, failed := use(t, c, "terminal", map[string]any{"command": "echo again"}); text != "again\n" || failed {
		t.Errorf("by the next sidecar it is answered %q, %v", text, failed)
	}
}
