// Package hermes_test holds the plug-in for Hermes Agent to the contract that
// Hermes documents, in a stand-in for Hermes' side of it (testdata/hermes) and
// with a real sidecar.
package hermes_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// guarded are the tools that may only run in a sandbox, with arguments that
// Hermes' own would run with.
var guarded = map[string]any{
	"terminal":     map[string]any{"command": "echo hi"},
	"execute_code": map[string]any{"code": "print(1)"},
	"process":      map[string]any{"action": "list"},
	"read_file":    map[string]any{"path": "/etc/hostname"},
	"write_file":   map[string]any{"path": "note", "content": "hi"},
	"patch":        map[string]any{"path": "note", "old_string": "a", "new_string": "b"},
	"search_files": map[string]any{"pattern": "a"},
}

// chat is a session as Hermes' gateway binds it.
var chat = map[string]string{
	"HERMES_SESSION_PLATFORM": "telegram", "HERMES_SESSION_KEY": "agent:main:telegram:dm:42", "HERMES_SESSION_CHAT_ID": "42",
	"HERMES_SESSION_CHAT_TYPE": "dm", "HERMES_SESSION_USER_ID": "42", "HERMES_SESSION_USER_NAME": "Bo",
}

// hermes is a stand-in for Hermes with the plug-in loaded.
type hermes struct {
	mark   string // the file that shows which of Hermes' own tools ran
	mu     sync.Mutex
	in     io.Writer
	calls  int
	waits  map[int]chan outcome
	sent   chan map[string]string // messages to chats
	raised []string
	cmd    *exec.Cmd
}

// outcome is how a call ended.
type outcome struct {
	Result  string  `json:"result"`
	Seconds float64 `json:"seconds"`
}

// start loads the plug-in of a folder into a stand-in of a kind, see host.py.
func start(t *testing.T, folder, kind, sidecar string, env ...string) *hermes {
	t.Helper()
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	h := &hermes{mark: filepath.Join(t.TempDir(), "mark"), waits: map[int]chan outcome{}, sent: make(chan map[string]string, 8)}
	cmd := exec.Command(python, filepath.Join("testdata", "hermes", "host.py"), folder, h.mark, kind)
	cmd.Env = append(os.Environ(), append([]string{"PYTHONDONTWRITEBYTECODE=1", "BAILIFF_LISTEN=" + sidecar}, env...)...)
	cmd.Stderr = t.Output()
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	h.in, h.cmd = in, cmd
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() || !strings.Contains(lines.Text(), "ready") {
		t.Fatalf("the plug-in was not loaded: %s", lines.Text())
	}
	read := make(chan struct{})
	go func() { defer close(read); h.read(lines) }()
	t.Cleanup(func() { _ = in.Close(); <-read; _ = cmd.Wait() })
	return h
}

func (h *hermes) read(lines *bufio.Scanner) {
	for lines.Scan() {
		var line struct {
			outcome
			ID     int               `json:"id"`
			Sent   map[string]string `json:"sent"`
			Raised string            `json:"raised"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			panic(err)
		}
		h.mu.Lock()
		switch {
		case line.Sent != nil:
			h.sent <- line.Sent
		case line.Raised != "":
			h.raised = append(h.raised, line.Raised)
		default:
			h.waits[line.ID] <- line.outcome
		}
		h.mu.Unlock()
	}
}

// say sends a line, and returns its number and where its outcome will be.
func (h *hermes) say(t *testing.T, line map[string]any) (int, <-chan outcome) {
	t.Helper()
	h.mu.Lock()
	h.calls++
	id, wait := h.calls, make(chan outcome, 1)
	h.waits[id] = wait
	h.mu.Unlock()
	line["id"] = id
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	return id, wait
}

// begin begins a call of a chat's first conversation; more says what is different.
func (h *hermes) begin(t *testing.T, tool string, args any, more map[string]any) (int, <-chan outcome) {
	t.Helper()
	line := map[string]any{"tool": tool, "args": args, "session": chat,
		"ids": map[string]string{"session_id": "c1", "tool_call_id": fmt.Sprintf("call-%p-%d", h, h.calls), "turn_id": "t1"}}
	for name, value := range more {
		line[name] = value
	}
	return h.say(t, line)
}

// result is a tool's result as models get it.
type result map[string]any

func (h *hermes) call(t *testing.T, tool string, args any, more map[string]any) result {
	t.Helper()
	_, wait := h.begin(t, tool, args, more)
	return h.await(t, tool, wait)
}

func (h *hermes) await(t *testing.T, tool string, wait <-chan outcome) result {
	t.Helper()
	o := awaittest.Value(t, "the end of "+tool, wait)
	var r result
	if err := json.Unmarshal([]byte(o.Result), &r); err != nil {
		t.Fatalf("%s: its result is no object: %q", tool, o.Result)
	}
	return r
}

func (h *hermes) hook(t *testing.T, name string, payload map[string]any) {
	t.Helper()
	_, wait := h.say(t, map[string]any{"hook": name, "payload": payload})
	<-wait
}

// untouched says that nothing of Hermes' own ran, and that the plug-in raised nothing.
func (h *hermes) untouched(t *testing.T) {
	t.Helper()
	if ran, err := os.ReadFile(h.mark); err == nil {
		t.Errorf("on the host ran: %s", ran)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.raised) > 0 {
		t.Errorf("the plug-in raised, which Hermes takes for leave to go on: %s", h.raised)
	}
}

func (r result) text(key string) string { text, _ := r[key].(string); return text }

// isBlocked says whether the result is Hermes' blocked one.
func (r result) isBlocked() bool {
	return r["output"] == "" && r["exit_code"] == -1.0 && r["status"] == "blocked" && strings.HasPrefix(r.text("error"), "BLOCKED: ")
}

func plugin(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("bailiff")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// serve is a sidecar whose sandboxes are bubblewrap's.
func serve(t *testing.T, sections ...string) *apptest.Sidecar {
	t.Helper()
	needBubblewrap(t)
	return apptest.Serve(t, sections...)
}

// share is one for all tests to which it does not matter what others left in the chat's sandbox.
func share(t *testing.T) *apptest.Sidecar {
	t.Helper()
	needBubblewrap(t)
	return apptest.Share(t, "")
}

func needBubblewrap(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("bwrap")
	backendtest.Needs(t, "BUBBLEWRAP", err)
}

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

func TestNoBrokenSidecarLetsAToolRun(t *testing.T) {
	// By the hook alone, and by the middleware alone.
	for _, kind := range []string{"bare", "hookless"} {
		for _, broken := range apptest.BrokenSidecars() {
			t.Run(kind+" "+broken.Name, func(t *testing.T) {
				t.Parallel()
				h := start(t, plugin(t), kind, broken.Open(t, "unix"), "BAILIFF_TIMEOUT=1", "BAILIFF_TOOLS=web_search",
					"BAILIFF_WAIT_SECONDS=0", "BAILIFF_SCRIPT_SECONDS=1", "TERMINAL_TIMEOUT=1")
				waits := map[string]<-chan outcome{}
				for tool, args := range guarded {
					_, waits[tool] = h.begin(t, tool, args, nil)
				}
				for tool, wait := range waits {
					r := h.await(t, tool, wait)
					if (kind == "hookless" && !r.isBlocked()) || !strings.HasPrefix(r.text("error"), "BLOCKED: ") {
						t.Errorf("%s: %v", tool, r)
					}
				}
				h.untouched(t)
			})
		}
	}
}

func TestWithoutItsMiddlewareEveryToolIsBlocked(t *testing.T) {
	for _, kind := range []string{"old", "kindless"} {
		h := start(t, plugin(t), kind, "unix:///nowhere.sock")
		for tool, args := range guarded {
			if r := h.call(t, tool, args, nil); !strings.Contains(r.text("error"),
				"BLOCKED: this Hermes has no tool_execution middleware") {
				t.Errorf("%s: %s: %v", kind, tool, r)
			}
		}
		h.untouched(t)
	}
}

func TestAPlugInThatIsNotWholeOrBadlySetBlocksEveryTool(t *testing.T) {
	whole, err := os.ReadDir(plugin(t))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	for _, file := range whole {
		// which Hermes may lack the contract for
		if name := file.Name(); strings.HasSuffix(name, ".py") && name != "__init__.py" && name != "environment.py" {
			folder := t.TempDir()
			if err := errors.Join(os.CopyFS(folder, os.DirFS(plugin(t))), os.Remove(filepath.Join(folder, name))); err != nil {
				t.Fatal(err)
			}
			folders["without "+name] = folder
		}
	}
	for name, folder := range folders {
		blockedByBoth(t, name, folder)
	}
	for _, setting := range []string{"BAILIFF_LISTEN=nowhere", "BAILIFF_TIMEOUT=soon", "BAILIFF_TIMEOUT=0",
		`HOST_SETTINGS={"env": {"A": 1}}`,
		`HOST_SETTINGS={"wait_seconds": true}`, `HOST_SETTINGS={"token_file": 7}`, `HOST_SETTINGS={"nosuch": 1}`, `HOST_SETTINGS=[]`} {
		blockedByBoth(t, setting, plugin(t), setting)
	}
}

func TestASettingThatCannotBeMeantIsNamed(t *testing.T) {
	for setting, want := range map[string]string{
		`HOST_SETTINGS={"lisen": "unix:///a.sock"}`: "plugins.entries.bailiff.settings.lisen is no setting; nearest is listen",
		`HOST_SETTINGS={"nosuch": 1}`:               "plugins.entries.bailiff.settings.nosuch is no setting; known are listen, token_file,",
		`HOST_SETTINGS=[]`:                          "plugins.entries.bailiff.settings is [], want a mapping",
		`HOST_SETTINGS={"wait_seconds": "soon"}`: `plugins.entries.bailiff.settings.wait_seconds is "soon", want a whole number of ` +
			`seconds, 0 at least`,
		`BAILIFF_TIMEOUT=0`:      `BAILIFF_TIMEOUT is "0", want a whole number of seconds, 1 at least`,
		`BAILIFF_LISTEN=nowhere`: `BAILIFF_LISTEN is "nowhere", want unix:///path or tcp://host:port`,
	} {
		h := start(t, plugin(t), "", "unix:///nowhere.sock", setting)
		if r := h.call(t, "terminal", guarded["terminal"], nil); !strings.Contains(r.text("error"), want) {
			t.Errorf("%s: %v, want %s", setting, r, want)
		}
		h.untouched(t)
	}
}

func blockedByBoth(t *testing.T, name, folder string, env ...string) {
	t.Helper()
	for _, kind := range []string{"bare", "hookless"} {
		h := start(t, folder, kind, "unix:///nowhere.sock", env...)
		for tool, args := range guarded {
			if r := h.call(t, tool, args, nil); !strings.HasPrefix(r.text("error"), "BLOCKED: bailiff's plug-in could not start") {
				t.Errorf("%s: %s: %s: %v", name, kind, tool, r)
			}
		}
		h.untouched(t)
	}
}

func TestAToolThatRanPastTheMiddlewareIsTheLastOne(t *testing.T) {
	h := start(t, plugin(t), "deaf", share(t).Agent)
	if r := h.call(t, "terminal", guarded["terminal"], nil); r["output"] != "ran on the host" {
		t.Fatalf("the stand-in calls the middleware: %v", r)
	}
	for tool, args := range guarded {
		if r := h.call(t, tool, args, nil); !strings.Contains(r.text("error"), "BLOCKED: terminal ran past bailiff's middleware") {
			t.Errorf("%s: %v", tool, r)
		}
	}
}

func TestWithItsBackendHermesHasNoPlaceOfItsOwnToRunATool(t *testing.T) {
	for kind, why := range map[string]string{"deaf": "BLOCKED: this call went past bailiff's plug-in",
		"safe": "Unknown environment type: bailiff"} {
		h := start(t, plugin(t), kind, share(t).Agent, "HOST_BACKEND=bailiff")
		for tool, args := range guarded {
			if r := h.call(t, tool, args, nil); !strings.Contains(r.text("error"), why) {
				t.Errorf("%s: %s: %v", kind, tool, r)
			}
		}
		h.untouched(t)
	}
	h := start(t, plugin(t), "", share(t).Agent, "HOST_BACKEND=bailiff")
	if r := h.call(t, "terminal", guarded["terminal"], nil); r["output"] != "hi\n" {
		t.Errorf("the middleware's work is undone: %v", r)
	}
}

func TestOtherToolsAreHermesOwnBusiness(t *testing.T) {
	h := start(t, plugin(t), "", "unix:///nowhere.sock")
	if r := h.call(t, "web_search", map[string]any{"query": "x"}, nil); r["output"] != "ran on the host" {
		t.Errorf("web_search: %v", r)
	}
}

func TestArgumentsThatAreNoneRunNothing(t *testing.T) {
	sidecar := share(t)
	deep := strings.Repeat("[", 50_000)
	odd := []any{nil, "rm -rf /", 7, []any{}, map[string]any{}, map[string]any{"command": 7, "code": 7, "action": 7, "path": 7,
		"pattern": 7},
		map[string]any{"command": "echo hi", "code": "1", "action": "list", "path": "x", "content": "x", "pattern": "x",
			"shell": "/bin/zsh"},
		map[string]any{"command": "\x00", "code": "\x00", "action": "\x00", "path": "\x00", "content": "", "pattern": "\x00"},
		map[string]any{"command": "echo hi", "timeout": "never"}, map[string]any{"code": deep, "reset": "perhaps"},
		map[string]any{"action": "write", "session_id": "proc_../../x", "data": []any{}},
		map[string]any{"mode": "patch", "patch": "*** Begin Patch\n*** Up"},
		map[string]any{"path": "x", "content": strings.Repeat("x", 2<<20)}}
	for _, kind := range []string{"", "hookless"} {
		h := start(t, plugin(t), kind, sidecar.Agent)
		for tool := range guarded {
			for _, args := range odd {
				r := h.call(t, tool, args, nil)
				if r.text("error") == "" && !strings.Contains(fmt.Sprint(r["status"]), "error") {
					t.Errorf("%s %.80v: %v", tool, args, r)
				}
			}
		}
		h.untouched(t)
	}
}

// interrupt tells the tool of a call that its user wants something else.
func (h *hermes) interrupt(t *testing.T, call int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := fmt.Fprintf(h.in, "{\"interrupt\": %d}\n", call); err != nil {
		t.Fatal(err)
	}
}

// listen is a sidecar that takes requests down and refuses them.
func listen(t *testing.T, asked chan<- []byte) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		asked <- body
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"code": "platform_not_allowed", "message": "This listener does not speak for it."}`)
	}))
	t.Cleanup(server.Close)
	return "tcp://" + server.Listener.Addr().String()
}
