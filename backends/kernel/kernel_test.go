package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// start is a kernel that is ended with the test.
func start(t *testing.T, at kernel.Place) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Start(t.Context(), at, map[string]bailiff.Secret{"GREETING": bailiff.NewSecret("hello")})
	backendtest.Must(t, err)
	t.Cleanup(func() { _ = k.End(context.Background()) })
	return k
}

func script(code string) kernel.Script {
	return kernel.Script{Code: code, Timeout: time.Minute, HeadBytes: 1 << 20}
}

// run runs a script and returns what it printed.
func run(t *testing.T, k *kernel.Kernel, s kernel.Script) (kernel.Exit, string) {
	t.Helper()
	return runWith(t, k, s, func(context.Context, kernel.Call) kernel.Result { return kernel.Result{Fault: "there are no tools"} })
}

func runWith(t *testing.T, k *kernel.Kernel, s kernel.Script, call func(context.Context, kernel.Call) kernel.Result) (kernel.Exit, string) {
	t.Helper()
	var out strings.Builder
	exit, err := k.Run(t.Context(), s, func(p []byte) { out.Write(p) }, call)
	if err != nil {
		t.Fatalf("running %q: %v", s.Code, err)
	}
	return exit, out.String()
}

func alive(k *kernel.Kernel) bool {
	select {
	case <-k.Done():
		return false
	default:
		return true
	}
}

func TestAScriptEndsAsAProgramWould(t *testing.T) {
	k := start(t, place(t))
	for name, c := range map[string]struct {
		code   string
		exit   int
		prints string
	}{
		"well":                      {"print('a')", 0, "a\n"},
		"saying nothing":            {"", 0, ""},
		"with a value nobody asked": {"1 + 1", 0, ""},
		"by its own wish":           {"import sys; sys.exit(4)", 4, ""},
		"with last words":           {"import sys; sys.exit('bye')", 1, "bye\n"},
		"leaving without a status":  {"raise SystemExit", 0, ""},
		"with its own interrupt": {"raise KeyboardInterrupt", 130,
			"Traceback (most recent call last):\n  File \"<script N>\", line 1, in <module>\n    raise KeyboardInterrupt\n" +
				"KeyboardInterrupt\n"},
		"with an exception": {"def f():\n    return 1 / 0\n\nf()", 1,
			"Traceback (most recent call last):\n  File \"<script N>\", line 4, in <module>\n    f()\n  File \"<script N>\", line 2, in " +
				"f\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero\n"},
		"with one that cannot be put": {"class E(Exception):\n    def __str__(self): raise ValueError\nraise E", 1,
			"Traceback (most recent call last):\n  File \"<script N>\", line 3, in <module>\n    raise E\nE: <exception str() failed>\n"},
		"with no program at all": {"if:", 1, "  File \"<script N>\", line 1\n    if:\n      ^\nSyntaxError: invalid syntax\n"},
		"with the streams in order": {"import os, sys\nprint('1'); print('2', file=sys.stderr); os.system('echo 3; echo 4 >&2'); " +
			"print('5', end='')", 0, "1\n2\n3\n4\n5"},
		"as a program's main part": {"print(__name__)", 0, "__main__\n"},
		"when its threads have": {"import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('late'))).start()",
			0, "late\n"},
		"and its pool's threads wait": {"import concurrent.futures as c\npool = c.ThreadPoolExecutor(2)\nprint(sum(pool.map(len, ['ab', " +
			"'c'])))", 0, "3\n"},
		"in a fork of itself": {"import os\npid = os.fork()\nif pid: print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n" +
			"else: raise SystemExit(7)", 0, "7\n"},
		"having closed its output":  {"import sys; sys.stdout.close(); sys.stderr.close()", 0, ""},
		"finding no input":          {"try: input()\nexcept EOFError: print('none')", 0, "none\n"},
		"with the variables it got": {"import os; print(os.environ['GREETING'])", 0, "hello\n"},
		"handing no descriptor down": {"import subprocess; print(subprocess.run(['sh', '-c', 'ls /proc/self/fd | grep -c \"^[34]$\"; : " +
			"<&3'], close_fds=False).returncode != 0)", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			exit, out := run(t, k, script(c.code))
			if i := strings.Index(out, "<script "); i >= 0 {
				number := out[i+len("<script "):]
				out = strings.ReplaceAll(out, "<script "+number[:strings.Index(number, ">")], "<script N")
			}
			if name == "handing no descriptor down" {
				if !strings.HasSuffix(out, "True\n") {
					t.Errorf("a child has them: %s", out)
				}
				return
			}
			if exit.Code != c.exit || out != c.prints || exit.Ended {
				t.Errorf("it ended as %+v and printed\n%s\nwant %d and\n%s", exit, out, c.exit, c.prints)
			}
		})
	}
	if _, out := run(t, k, script("print('still there')")); out != "still there\n" {
		t.Errorf("after all of them a script printed %q", out)
	}
}

func TestVariablesLiveOnBetweenScripts(t *testing.T) {
	k := start(t, place(t))
	run(t, k, script("import json\nx = 20\ndef double(n): return 2 * n"))
	run(t, k, script("x += 1; undefined"))
	if exit, out := run(t, k, script("print(json.dumps(double(x)))")); out != "42\n" || exit.Code != 0 {
		t.Errorf("it printed %q and ended as %+v", out, exit)
	}
	if _, out := run(t, k, script("double('a', 'b')")); !strings.Contains(out, "double('a', 'b')\nTypeError") &&
		!strings.Contains(out, "double('a', 'b')\n    ") {
		t.Errorf("the traceback does not show the line: %s", out)
	}
	if _, out := run(t, k, script("double(None)")); !strings.Contains(out, "def double(n): return 2 * n\n") {
		t.Errorf("the traceback does not show an earlier script's line: %s", out)
	}
}

// What a script prints or opens is judged by its text alone.
func TestPythonsOwnNamesMeanTheSameInEachScript(t *testing.T) {
	k := start(t, place(t))
	run(t, k, script("import os\nprint = os.system\nopen, mine = 3, 4\n__builtins__ = {}"))
	if _, out := run(t, k, script("print(open.__name__, mine)")); out != "open 4\n" {
		t.Errorf("it printed %q", out)
	}
}

func TestAScriptWorksInTheFolderThatItNames(t *testing.T) {
	at := place(t)
	sub := filepath.Join(at.home, "sub")
	backendtest.Must(t, os.Mkdir(sub, 0o755))
	k := start(t, at)
	exit, _ := run(t, k, script(""))
	if exit.Workdir != at.home || !exit.InWorkspace {
		t.Errorf("without a folder it ended in %q", exit.Workdir)
	}
	there := script("import os; print(os.getcwd()); os.chdir('/')")
	there.Workdir = sub
	if exit, out := run(t, k, there); out != sub+"\n" || exit.Workdir != "/" || exit.InWorkspace {
		t.Errorf("it worked in %q and ended in %q", out, exit.Workdir)
	}
	if exit, _ := run(t, k, script("")); exit.Workdir != at.home {
		t.Errorf("the next one worked in %q", exit.Workdir)
	}
	there.Workdir = filepath.Join(at.home, "gone")
	_, err := k.Run(t.Context(), there, func([]byte) {}, nil)
	if !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, backends.ErrUnfit) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("without its folder it ended with %v", err)
	}
}

// What an import names is the sandbox's, if it has it; else the workspace's.
func TestFilesOfTheWorkspaceStandInForNothing(t *testing.T) {
	at := place(t)
	for _, module := range []string{"json", "queue", "traceback", "wave", "mine"} {
		backendtest.Must(t, os.WriteFile(filepath.Join(at.home, module+".py"), []byte("print('"+module+" was planted')\n"), 0o644))
	}
	k := start(t, at)
	if _, out := run(t, k, script("import json, queue, traceback, wave\nprint(json.dumps(1))")); out != "1\n" {
		t.Errorf("it printed %q", out)
	}
	if _, out := run(t, k, script("import mine")); out != "mine was planted\n" {
		t.Errorf("its own module printed %q", out)
	}
}

func TestOutputIsCappedFromBothEnds(t *testing.T) {
	k := start(t, place(t))
	s := script("import sys\nsys.stdout.write('h' * 10 + 'x' * 1_000_000 + 't' * 20)")
	s.HeadBytes, s.TailBytes = 10, 20
	exit, out := run(t, k, s)
	if out != strings.Repeat("h", 10)+strings.Repeat("t", 20) || exit.Dropped != 1_000_000 {
		t.Errorf("it printed %q and dropped %d", out, exit.Dropped)
	}
	s.Code = "print('a' * 24)"
	if exit, out := run(t, k, s); out != strings.Repeat("a", 24)+"\n" || exit.Dropped != 0 {
		t.Errorf("what fits was printed as %q with %d dropped", out, exit.Dropped)
	}
}

func TestAnInterruptKeepsTheVariables(t *testing.T) {
	for name, code := range map[string]string{
		"in a loop":           "while True: pass",
		"asleep":              "import time; time.sleep(600)",
		"waiting for a child": "import subprocess; subprocess.run('sleep 600 & sleep 600', shell=True)",
		"waiting for a thread": "import threading, subprocess; threading.Thread(target=lambda: subprocess.run(['sleep', " +
			"'600'])).start()",
		"waiting for a tool": "import bailiff_tools; bailiff_tools.terminal('sleep 600')",
		"waiting for a thread's": "import threading, bailiff_tools\ndef f():\n    try: bailiff_tools.terminal('x')\n    except " +
			"bailiff_tools.ToolError: pass\nthreading.Thread(target=f).start()",
		"with interrupts set aside": "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler); time.sleep(600)",
	} {
		t.Run(name, func(t *testing.T) {
			k := start(t, place(t))
			run(t, k, script("x = 42"))
			s := script(code)
			s.Timeout = 300 * time.Millisecond
			exit, out := runWith(t, k, s, func(ctx context.Context, _ kernel.Call) kernel.Result {
				<-ctx.Done()
				return kernel.Result{Fault: "it was stopped"}
			})
			if !exit.TimedOut || exit.Ended || !alive(k) {
				t.Fatalf("it ended as %+v and printed %s", exit, out)
			}
			if _, out := run(t, k, script("print(x)")); out != "42\n" {
				t.Errorf("afterwards a script printed %q", out)
			}
		})
	}
}

func TestWhatNoInterruptStopsEndsWithItsInterpreter(t *testing.T) {
	for name, code := range map[string]string{
		"a script that takes no interrupt": "import time\nwhile True:\n    try: print('started'); time.sleep(600)\n    except " +
			"BaseException: pass",
		"a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), " +
			"daemon=True).start()\nprint('started'); time.sleep(600)",
		"a script that ignores the signal": "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('started'); " +
			"time.sleep(600)",
		"a script that waits without Python": "import itertools, sys; sum(itertools.chain(map(sys.stdout.write, ['started']), iter(int, " +
			"1)))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := start(t, place(t))
			ctx, cancel := context.WithCancel(t.Context())
			exit, err := k.Run(ctx, script(code), func([]byte) { cancel() }, nil)
			if err != nil || !exit.Interrupted || !exit.Ended || alive(k) {
				t.Errorf("it ended as %+v, %v", exit, err)
			}
		})
	}
}

func TestAnInterpreterThatEndsSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		exit int
	}{
		"on purpose":        {"import os; print('bye', flush=True); os._exit(3)", 3},
		"by a signal":       {"import os; print('bye', flush=True); os.abort()", 134},
		"without its lines": {"import os; print('bye', flush=True); os.close(4)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := start(t, place(t))
			if exit, out := run(t, k, script(c.code)); !exit.Ended || exit.Code != c.exit || out != "bye\n" {
				t.Errorf("it ended as %+v and printed %q", exit, out)
			}
		})
	}
}

func TestTheLastScriptEndsAsAProgramDoes(t *testing.T) {
	at := place(t)
	k := start(t, at)
	s := script("import atexit, sys; atexit.register(print, 'registered'); sys.exit(5)")
	s.Last = true
	exit, out := run(t, k, s)
	if !exit.Ended || exit.Code != 5 || out != "registered\n" || exit.Workdir != at.home || alive(k) {
		t.Errorf("it ended as %+v and printed %q", exit, out)
	}
}

// strange is a sandbox with another python3.
type strange struct {
	backends.Sandbox
	argv []string
}

func (s strange) Converse(ctx context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	cmd.Argv = s.argv
	return s.Sandbox.Converse(ctx, cmd, hear)
}

func TestAPythonThatDoesNotStartSaysWhy(t *testing.T) {
	at := place(t)
	if _, err := kernel.Start(t.Context(), strange{at, []string{"no-python3"}}, nil); !errors.Is(err, backends.ErrUnfit) ||
		!errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("without python3: %v", err)
	}
	_, err := kernel.Start(t.Context(), strange{at, []string{"sh", "-c", "echo this is no python; exit 9"}}, nil)
	if !errors.Is(err, backends.ErrUnfit) || !strings.Contains(err.Error(), "status 9") ||
		!strings.Contains(err.Error(), "his is no python") {
		t.Errorf("with another python3: %v", err)
	}
}

// echo answers each call with what it was.
func echo(_ context.Context, c kernel.Call) kernel.Result {
	if c.Tool == "broken" {
		return kernel.Result{Fault: "it is broken"}
	}
	text, _ := json.Marshal(struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.Tool, c.Arguments})
	return kernel.Result{Value: text}
}

func TestAScriptCallsTools(t *testing.T) {
	k := start(t, place(t))
	for name, c := range map[string]struct{ code, prints string }{
		"terminal": {"print(bailiff_tools.terminal('ls', timeout=5))",
			"{'tool': 'terminal', 'arguments': {'command': 'ls', 'timeout': 5}}\n"},
		"another": {"print(bailiff_tools.web_search(query='ä', most=[1, None]))",
			"{'tool': 'web_search', 'arguments': {'query': 'ä', 'most': [1, None]}}\n"},
		"one that fails": {"try: bailiff_tools.broken()\nexcept bailiff_tools.ToolError as e: print(e)", "it is broken\n"},
		"without a name": {"try: bailiff_tools.web_search('x')\nexcept TypeError as e: print(e)",
			"web_search() takes keyword arguments only\n"},
		"with no JSON": {"try: bailiff_tools.web_search(x=object())\nexcept TypeError as e: print(e)",
			"Object of type object is not JSON serializable\n"},
		"those offered": {"print(dir(bailiff_tools)); from bailiff_tools import *; terminal",
			"['terminal', 'web_search']\n"},
		"by its own name": {"from bailiff_tools import web_search as s; print(s()['tool'])", "web_search\n"},
		"in a fork": {"import os\nif os.fork() == 0:\n    try: bailiff_tools.terminal('ls')\n    except " +
			"bailiff_tools.ToolError as e: print(e)\nelse: os.wait()", "tools can be called from the script's own process only\n"},
		"and tells whose fault it was": {"bailiff_tools.broken()",
			"Traceback (most recent call last):\n  File \"<script N>\", line 2, in <module>\n    bailiff_tools.broken()\n" +
				"bailiff_tools.ToolError: it is broken\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := script("import bailiff_tools\n" + c.code)
			s.Tools = []string{"terminal", "web_search"}
			_, out := runWith(t, k, s, echo)
			if i := strings.Index(out, "<script "); i >= 0 {
				out = out[:i] + "<script N" + out[i+strings.Index(out[i:], ">"):]
			}
			if out != c.prints {
				t.Errorf("it printed\n%s\nwant\n%s", out, c.prints)
			}
		})
	}
}

func TestOutputThatIsNoTextComesThroughAToolUnchanged(t *testing.T) {
	k := start(t, place(t))
	exit, out := runWith(t, k, script("import bailiff_tools, sys\nprint(bailiff_tools.terminal('x')['output'])"),
		func(context.Context, kernel.Call) kernel.Result {
			return kernel.Result{Value: []byte(`{"output_base64": "//4A"}`)}
		})
	if out != "\xff\xfe\x00\n" || exit.Code != 0 {
		t.Errorf("it printed %q", out)
	}
}

func TestAScriptsThreadsCallToolsAtOnce(t *testing.T) {
	k := start(t, place(t))
	var inside sync.WaitGroup
	inside.Add(20) // each call returns when all are there
	exit, out := runWith(t, k, script("import bailiff_tools, concurrent.futures as c\nprint(sum(c.ThreadPoolExecutor(20).map(lambda i: "+
		"bailiff_tools.number(i=i), range(20))))"),
		func(_ context.Context, call kernel.Call) kernel.Result {
			inside.Done()
			inside.Wait()
			var arguments struct{ I int }
			_ = json.Unmarshal(call.Arguments, &arguments)
			return kernel.Result{Value: fmt.Append(nil, arguments.I)}
		})
	if out != "190\n" || exit.Calls != 20 {
		t.Errorf("it printed %q after %d calls", out, exit.Calls)
	}
}

func TestCallsOfAScriptAreBounded(t *testing.T) {
	k := start(t, place(t))
	var calls atomic.Int32
	exit, out := runWith(t, k, script("import bailiff_tools\nfor i in range(60):\n    try: bailiff_tools.f()\n    except "+
		"bailiff_tools.ToolError as e: print(i, e); break\ntry: bailiff_tools.f(x='x' * (1 << 20))\nexcept bailiff_tools.ToolError as e: "+
		"print(e)"),
		func(context.Context, kernel.Call) kernel.Result {
			calls.Add(1)
			return kernel.Result{Value: []byte("1")}
		})
	if !strings.HasPrefix(out, "50 a script may call tools 50 times\n") || calls.Load() != kernel.MostCalls ||
		exit.Calls != kernel.MostCalls {
		t.Errorf("it printed %q, with %d calls, %d counted", out, calls.Load(), exit.Calls)
	}
	if exit, _ := runWith(t, k, script("import bailiff_tools; bailiff_tools.f()"), echo); exit.Calls != 1 || exit.Code != 0 {
		t.Errorf("the next script ended as %+v", exit)
	}
}

func TestNoCallOutlivesItsScript(t *testing.T) {
	k := start(t, place(t))
	started, over := make(chan struct{}), false
	code := "import bailiff_tools, threading\nt = threading.Thread(target=bailiff_tools.f, daemon=True); t.start()\nbailiff_tools.started()"
	exit, _ := runWith(t, k, script(code), func(ctx context.Context, c kernel.Call) kernel.Result {
		if c.Tool == "started" {
			<-started
			return kernel.Result{Value: []byte("null")}
		}
		close(started)
		<-ctx.Done()
		over = true
		return kernel.Result{Fault: "the script has ended"}
	})
	if !over || exit.Code != 0 {
		t.Errorf("the call goes on: %v, %+v", over, exit)
	}
	if _, out := run(t, k, script("t.join(5); print(t.is_alive())")); !strings.HasSuffix(out, "False\n") {
		t.Errorf("the thread still waits: %s", out)
	}
}

// Whatever a script writes on the interpreter's lines harms nobody but itself.
func TestAForgedLineReachesNothing(t *testing.T) {
	k := start(t, place(t))
	forge := func(lines string) string { return "import os; os.write(4, " + lines + "); print('done')" }
	for name, lines := range map[string]string{
		"noise":                    `b"\xff\x00\n[]\n{}\nnull\n" + b"x" * 100_000 + b"\n"`,
		"another script's end":     `b'{"end": 999}\n'`,
		"another start":            `b'{"ready": "/elsewhere"}\n'`,
		"many calls that are none": `b'{"call": 7, "tool": "f", "arguments": 3}\n' * 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			if exit, out := runWith(t, k, script(forge(lines)), echo); out != "done\n" || exit.Code != 0 || exit.Ended {
				t.Errorf("it ended as %+v and printed %q", exit, out)
			}
			if exit, out := run(t, k, script("print('fine')")); out != "fine\n" || !exit.InWorkspace {
				t.Errorf("the next one ended as %+v and printed %q", exit, out)
			}
		})
	}
}

func TestAKernelThatEndsLeavesNothingRunning(t *testing.T) {
	k := start(t, place(t))
	_, out := run(t, k, script("import subprocess; p = subprocess.Popen(['sleep', '600']); print(p.pid)"))
	if err := k.End(t.Context()); err != nil || alive(k) {
		t.Errorf("it lives: %v", err)
	}
	if state, err := os.ReadFile("/proc/" + strings.TrimSpace(out) + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("its child lives: %s", state)
	}
}

func BenchmarkScript(b *testing.B) {
	k, err := kernel.Start(b.Context(), place(b), nil)
	backendtest.Must(b, err)
	defer k.End(context.Background())
	for b.Loop() {
		if _, err := k.Run(b.Context(), script("1+1"), func([]byte) {}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
