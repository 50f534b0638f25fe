package kernel_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// forged says that the script has ended, by the number that its frames know.
const forged = `import json, os, subprocess, sys, time
frame = sys._getframe()
while 'number' not in frame.f_locals: frame = frame.f_back
end = json.dumps({'end': frame.f_locals['number'], 'code': 0, 'dir': '/'}).encode() + b'\n'
`

func TestAScriptThatGoesOnAfterItsEndEndsItsInterpreter(t *testing.T) {
	for name, code := range map[string]string{
		"silently":                 forged + "os.write(4, end); time.sleep(600)",
		"and prints":               forged + "os.write(4, end)\nwhile True: print('still here', flush=True)",
		"and says that it has not": forged + "os.write(4, end + b'{\"end\": 1}\\n'); time.sleep(600)",
		"and ends a second time":   forged + "os.write(4, end)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := start(t, place(t))
			if exit, _ := run(t, k, script(code)); !exit.Ended || !exit.Restless || alive(k) {
				t.Errorf("it ended as %+v", exit)
			}
		})
	}
}

func TestAnInterpreterThatIsHeardBetweenScriptsIsRestless(t *testing.T) {
	for name, code := range map[string]string{
		"a child prints": "import subprocess; subprocess.Popen(['sh', '-c', 'read line; echo late'], stdin=open('go'))",
		"a thread prints": "import threading; threading.Thread(target=lambda: (open('go').readline(), print('late')), " +
			"daemon=True).start()",
		"a thread writes": "import os, threading; threading.Thread(target=lambda: (open('go').readline(), os.write(4, b'late\\n')), " +
			"daemon=True).start()",
		"a thread ends it all": forged +
			"import threading; threading.Thread(target=lambda: (open('go').readline(), os.write(4, end)), daemon=True).start()",
	} {
		t.Run(name, func(t *testing.T) {
			at := place(t)
			k := start(t, at)
			run(t, k, script("import os; os.mkfifo('go'); held = os.open('go', os.O_RDWR)"))
			if exit, _ := run(t, k, script(code)); exit.Ended || k.Restless() {
				t.Fatalf("it ended as %+v, restless %v", exit, k.Restless())
			}
			backendtest.Must(t, release(filepath.Join(at.home, "go")))
			backendtest.Await(t, "it is restless", k.Restless)
		})
	}
}

func release(fifo string) error {
	f, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("go\n")
	return err
}

func TestThreadsOfEarlierScriptsCallNoTools(t *testing.T) {
	for name, code := range map[string]string{
		"one that it left": "threading.Thread(target=late, daemon=True).start()",
		"one that this one starts": "threading.Thread(target=lambda: (go.wait(), threading.Thread(target=late, daemon=True).start()), " +
			"daemon=True).start()",
		"one that no module knows of": "_thread.start_new_thread(late, ())",
		"one of a pool that is kept":  "pool = c.ThreadPoolExecutor(1); pool.submit(late)",
	} {
		t.Run(name, func(t *testing.T) {
			k := start(t, place(t))
			run(t, k, script(`import _thread, bailiff_tools, concurrent.futures as c, queue, threading
go, said = threading.Event(), queue.SimpleQueue()
def late():
    go.wait()
    try: said.put(bailiff_tools.terminal('x'))
    except bailiff_tools.ToolError as e: said.put(e)
`+code))
			exit, out := runWith(t, k, script("go.set(); print(said.get())"), echo)
			if out != "the script that started this thread has ended\n" || exit.Calls != 0 {
				t.Errorf("it printed %q with %d calls", out, exit.Calls)
			}
		})
	}
}

// What an earlier script left cannot call as another by what it knew of itself.
func TestACallIsOfTheScriptThatItNames(t *testing.T) {
	k := start(t, place(t))
	run(t, k, script(forged+"then = frame.f_locals['number']"))
	exit, out := runWith(t, k, script(`import bailiff_tools
os.write(4, json.dumps({'call': 7, 'script': then, 'tool': 'f', 'arguments': {}}).encode() + b'\n')
os.write(4, b'{"call": 8, "tool": "f", "arguments": {}}\n')
print(bailiff_tools.f()['tool'])`), echo)
	if out != "f\n" || exit.Calls != 1 {
		t.Errorf("it printed %q with %d calls", out, exit.Calls)
	}
}

func TestNothingOfTheUsersOwnRunsUnaskedInAnInterpreter(t *testing.T) {
	home := t.TempDir()
	where := exec.Command("python3", "-c", "import site; print(site.getusersitepackages())")
	where.Env = append(os.Environ(), "HOME="+home)
	out, err := where.Output()
	backendtest.Must(t, err)
	folder, planted := strings.TrimSpace(string(out)), filepath.Join(home, "planted")
	backendtest.Must(t, os.MkdirAll(folder, 0o755))
	for file, text := range map[string]string{
		"usercustomize.py": "open('" + planted + "', 'w')", "x.pth": "import os; open('" + planted + "', 'w')", "mine.py": "print('mine')",
		"queue.py": "print('no queue')", "wave.py": "print('no wave')",
	} {
		backendtest.Must(t, os.WriteFile(filepath.Join(folder, file), []byte(text+"\n"), 0o644))
	}
	k, err := kernel.Start(t.Context(), place(t), map[string]bailiff.Secret{"HOME": bailiff.NewSecret(home)})
	backendtest.Must(t, err)
	t.Cleanup(func() { _ = k.End(context.Background()) })
	s := script("import queue, wave, mine")
	if exit, out := run(t, k, s); exit.Code != 1 || !strings.Contains(out, "No module named 'mine'") {
		t.Errorf("without what is the user's it printed %q", out)
	}
	s.UserSite = true
	if _, out := run(t, k, s); out != "mine\n" {
		t.Errorf("with it it printed %q", out)
	}
	if _, err := os.Stat(planted); !os.IsNotExist(err) {
		t.Errorf("what was planted ran: %v", err)
	}
}
