// Package aisdk_test has real agents of Vercel's AI SDK, with its policy package as it
// comes from npm, ask a real sidecar. Their tools write a marker, which says whether
// they ran.
package aisdk_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// agent is one whose model wishes for one call of one tool.
type agent struct {
	// Way is how its calls are judged: by the example, by the package with a denial
	// where there is no verdict, by the bare package, or by compiled policies.
	Way     string         `json:"way"`
	URL     string         `json:"url"`
	Token   string         `json:"token"`
	Session map[string]any `json:"session"`
	Context any            `json:"context"`
	// Timeout is the example's own, Patience for how long the agent is waited for.
	Timeout  int    `json:"timeout"`
	Patience int    `json:"patience"`
	Tool     string `json:"tool"`
	Input    any    `json:"input"`
	Marker   string `json:"marker"`
	// Env are the variables that it asks for, Cancelled is the file with which its user gives the call up.
	Env       []string `json:"env,omitempty"`
	Cancelled string   `json:"cancelled,omitempty"`
	// Approve is what the agent's user says when asked.
	Approve *bool  `json:"approve,omitempty"`
	Wasm    string `json:"wasm,omitempty"`
	Data    string `json:"data,omitempty"`
}

// end is what became of its call.
type end struct {
	Asked, Denied, Errors []string
	Results               []any
	Failed                string
}

func (a agent) ran() bool {
	_, err := os.Stat(a.Marker)
	return err == nil
}

// place is a folder with the example, what the tests add to it, and the packages.
func place(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("node")
	backendtest.Needs(t, "NODE", err)
	folder := t.TempDir()
	for _, pattern := range []string{"*.mjs", "testdata/*.mjs"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o600))
		}
	}
	must(t, os.Symlink(filepath.Join(apptest.Clients(t), "node_modules"), filepath.Join(folder, "node_modules")))
	return folder
}

// node runs a program of node's in a folder, and returns what it printed.
func node(t *testing.T, folder string, words ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", words...)
	command.Dir = folder
	var said strings.Builder
	command.Stderr = &said
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("node %s: %v\n%s", words, err, said.String())
	}
	return printed
}

// run runs agents, all in one process.
func run(t *testing.T, agents []*agent) (ends []end) {
	t.Helper()
	folder := place(t)
	cases, err := json.Marshal(agents)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "cases.json"), cases, 0o600))
	must(t, json.Unmarshal(node(t, folder, "calls.mjs", "cases.json"), &ends))
	return ends
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCompiledPoliciesDenyWhatHasNoFacts(t *testing.T) {
	folder := t.TempDir()
	bundle := filepath.Join(folder, "bundle.tar.gz")
	root := apptest.Root(t)
	for _, words := range [][]string{
		{"go", "tool", "opa", "build", "-t", "wasm", "-e", "agent/call/decision", "--ignore", "*_test.rego", "-o", bundle,
			filepath.Join(root, "policies")},
		{"tar", "xzf", bundle, "-C", folder, "/policy.wasm", "/data.json"},
	} {
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir = root
		if printed, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", words, err, printed)
		}
	}
	call := kit{t, "http://127.0.0.1:1", ""}.agent("wasm", "cli", "bash", command("ls"))
	call.Wasm, call.Data = filepath.Join(folder, "policy.wasm"), filepath.Join(folder, "data.json")
	if end := run(t, []*agent{call})[0]; call.ran() || !says(end.Denied, "Ask bailiff") {
		t.Errorf("it ran: %v, %+v", call.ran(), end)
	}
}

// kit makes agents that ask a sidecar.
type kit struct {
	t          *testing.T
	url, token string
}

func serve(t *testing.T) kit {
	t.Helper()
	sidecar := apptest.Serve(t, "backends: {bubblewrap: {}, local: {}}")
	url, token := sidecar.TCP(t)
	return kit{t, url, token}
}

func (k kit) agent(way, platform, tool string, input any) *agent {
	session := map[string]any{"id": "s1", "platform": platform, "user_id": "42"}
	return &agent{Way: way, URL: k.url, Token: k.token, Session: session, Timeout: 20_000, Patience: 60_000, Tool: tool, Input: input,
		Context: map[string]any{"bailiff": map[string]any{"session": session}, "role": "sre"},
		Marker:  filepath.Join(k.t.TempDir(), "ran")}
}

func command(text string) any { return map[string]any{"command": text} }

func TestWhatAnAgentCallsRunsOrDoesNotAsThePoliciesSay(t *testing.T) {
	k := serve(t)
	yes, no := true, false
	for _, way := range []string{"example", "package", "bare"} {
		t.Run(way, func(t *testing.T) {
			cases := []struct {
				name           string
				platform, tool string
				input          any
				approve        *bool
				ran            bool
				asked, denied  string
			}{
				{"a harmless command", "cli", "bash", command("ls"), nil, true, "", ""},
				{"a command that destroys the system", "cli", "bash", command("rm -rf /"), nil, false, "", "It would destroy"},
				{"a command to be asked about", "cli", "bash", command("rm -rf build"), nil, false, "It deletes folders", ""},
				{"one that the user approves", "cli", "bash", command("rm -rf build"), &yes, true, "It deletes folders", ""},
				{"one that the user denies", "cli", "bash", command("rm -rf build"), &no, false, "It deletes folders", ""},
				{"a script", "cli", "python", map[string]any{"code": "print(1)"}, nil, true, "", ""},
				{"a script that hides what it does", "cli", "python", map[string]any{"code": "exec(input())"}, nil, false, "does not tell",
					""},
				{"a command on the host for a chat", "telegram", "bash", command("ls"), nil, false, "", "It would run on local"},
				{"an unknown platform", "pigeon", "bash", command("ls"), nil, false, "", "pigeon"},
				{"an unknown tool", "cli", "constructor", command("ls"), nil, false, "",
					`the tool "constructor" is not in the table agent_tools`},
				{"an unknown field", "cli", "bash", map[string]any{"command": "ls", "shell": "zsh"}, nil, false, "", `what "shell" is`},
				{"no command", "cli", "bash", map[string]any{}, nil, false, "", "/args/command: is missing"},
				{"a command that is a list", "cli", "bash", command2("rm", "-rf"), nil, false, "", "want a string"},
			}
			agents := make([]*agent, len(cases))
			for i, c := range cases {
				agents[i] = k.agent(way, c.platform, c.tool, c.input)
				agents[i].Approve = c.approve
			}
			for i, e := range run(t, agents) {
				c := cases[i]
				if agents[i].ran() != c.ran || e.Failed != "" || !says(e.Asked, c.asked) || !says(e.Denied, c.denied) {
					t.Errorf("%s: ran is %v, %+v, want %v, asked %q, denied %q", c.name, agents[i].ran(), e, c.ran, c.asked, c.denied)
				}
			}
		})
	}
}

func command2(words ...string) any { return map[string]any{"command": words} }

// says tells whether the one sentence said holds what it should, or nothing was said.
func says(said []string, want string) bool {
	if want == "" {
		return len(said) == 0
	}
	return len(said) == 1 && strings.Contains(said[0], want)
}

func TestTheToolOfTheExampleRunsInTheSandbox(t *testing.T) {
	k := serve(t)
	home := k.agent("example", "telegram", "terminal", command("hostname; touch "+filepath.Join(t.TempDir(), "mark")+" || echo no"))
	denied := k.agent("example", "telegram", "terminal", command("rm -rf /"))
	ends := run(t, []*agent{home, denied})
	answer, _ := json.Marshal(ends[0].Results)
	if !strings.Contains(string(answer), `"output":"sandbox\n`) || !strings.Contains(string(answer), `no\n","status":"completed"`) {
		t.Errorf("the tool answered %s, %+v", answer, ends[0])
	}
	if len(ends[1].Results) > 0 || !says(ends[1].Denied, "It would destroy") {
		t.Errorf("a denied command ended as %+v", ends[1])
	}
}

func TestTheAgentOfTheExampleIsToldWhatItsCommandPrinted(t *testing.T) {
	k, folder := serve(t), place(t)
	t.Setenv("BAILIFF_URL", k.url)
	t.Setenv("BAILIFF_TOKEN", k.token)
	t.Setenv("MODEL", "parrot")
	for words, want := range map[string]string{
		"echo hi from $(hostname)": `parrot: {"type":"json","value":{"status":"completed","exit_code":0,"output":"hi from sandbox\n",` +
			`"message":""}}`,
		"rm -rf /": `parrot: {"type":"execution-denied","reason":"It would destroy the system, a home folder or a disk ` +
			`(command.destroys_system). Instead: Change only files of the workspace, each by its name."}`,
	} {
		if said := string(node(t, folder, "--import", "./model.mjs", "agent.mjs", words)); strings.TrimSpace(said) != want {
			t.Errorf("%q made it say %s, want %s", words, said, want)
		}
	}
}

func TestNothingRunsInFrontOfABrokenSidecar(t *testing.T) {
	for _, way := range []string{"example", "package"} {
		t.Run(way, func(t *testing.T) {
			broken := apptest.BrokenSidecars()
			agents := make([]*agent, len(broken))
			for i, broken := range broken {
				url := "http://" + strings.TrimPrefix(broken.Open(t, "tcp"), "tcp://")
				agents[i] = kit{t, url, "token"}.agent(way, "cli", "bash", command("ls"))
				if agents[i].Timeout = 300; way == "package" {
					agents[i].Patience = 1000
				}
			}
			for i, e := range run(t, agents) {
				told := len(e.Denied) == 1 || way == "package" && e.Failed == "Error: late" // which sets itself no time limit
				if agents[i].ran() || len(e.Results) > 0 || !told {
					t.Errorf("a sidecar that %s: ran is %v, %+v", broken[i].Name, agents[i].ran(), e)
				}
			}
		})
	}
}

// streams is a sidecar that allows everything and writes these pieces of an event
// stream, each by itself, to who asks for one.
func streams(t *testing.T, pieces ...string) kit {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/execute":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"result": {"decision": "allow"}}`))
		case r.Header.Get("Accept") != "text/event-stream":
			t.Errorf("it asks for %q", r.Header.Get("Accept"))
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for _, piece := range pieces {
				_, _ = w.Write([]byte(piece))
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	t.Cleanup(server.Close)
	return kit{t, server.URL, "token"}
}

func TestTheToolOfTheExampleFollowsItsCommandToTheEnd(t *testing.T) {
	const result = "event: result\ndata: {\"status\": \"completed\", \"exit_code\": 3, \"output\": \"ran\", \"message\": \"\"}\n\n"
	const output = ": still here\n\nevent: output\ndata: {\"seq\": 1, \"data\": \"event: result\"}\n\n"
	for name, test := range map[string]struct {
		pieces []string
		want   string
	}{
		"whole":                       {[]string{output, result}, `"output":"ran"`},
		"in pieces":                   {strings.Split(output+result, ""), `"output":"ran"`},
		"cut off before the result":   {[]string{output}, "did not say what became"},
		"cut off within the result":   {[]string{output, result[:30]}, "did not say what became"},
		"with a result that says not": {[]string{"event: result\ndata: {}\n\n"}, "did not say what became"},
	} {
		call := streams(t, test.pieces...).agent("example", "cli", "terminal", command("ls"))
		text, err := json.Marshal(run(t, []*agent{call})[0])
		if err != nil || !strings.Contains(string(text), test.want) {
			t.Errorf("%s: it ended as %s, %v", name, text, err)
		}
	}
}
