package hermes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// Between a look at a home and the proof, its owner may change what lies there.
func TestTheProofRunsNothingThatLiesInAHome(t *testing.T) {
	t.Parallel()
	home := equipped(t, sound, "unix:///nonexistent/a.sock")
	mark := filepath.Join(home.Folder, "ran")
	code := "open(" + strconv.Quote(mark) + ", 'w')\n"
	err := errors.Join(os.Remove(filepath.Join(home.pluginFolder(), "__pycache__")), plant(home.pluginFolder(), "identity", code),
		appendTo(filepath.Join(home.pluginFolder(), "client.py"), "\n"+code), appendTo(filepath.Join(home.pluginFolder(), "json.py"), code))
	must(t, err)
	d := &Diagnosis{}
	home.examineGate(t.Context(), d)
	if d.of("gate without a sidecar").State != diagnosis.Fine || settings.Exists(mark) {
		t.Errorf("code of the home's was run, or nothing was:\n%s", told(*d))
	}
	// The same is run where the folder's own code is.
	load := "import sys; sys.path.insert(0, sys.argv[1]); import identity"
	if out, err := exec.Command("python3", "-c", load, home.pluginFolder()).CombinedOutput(); err != nil || !settings.Exists(mark) {
		t.Errorf("what was planted does nothing, so that nothing is shown: %v %s", err, out)
	}
}

func TestTheProofHasNoTerminalToTypeInto(t *testing.T) {
	t.Parallel()
	home := equipped(t, sound, "unix:///nonexistent/a.sock")
	program, err := home.python()
	must(t, err)
	cmd := home.asOwner(t.Context(), program, "-c", `import os
assert os.getsid(0) == os.getpid(), "it is in another's session"
assert not any(os.isatty(fd) for fd in range(3)), "it has a terminal"
try:
    os.open("/dev/tty", os.O_RDWR)
except OSError:
    print("none", end="")`)
	if out, err := cmd.Output(); err != nil || string(out) != "none" {
		t.Errorf("%v: %s", err, out)
	}
}

// Python writes no compiled code of the plug-in beside it, which nobody could look into.
func TestAPlugInThatWasLoadedIsStillTheShippedOne(t *testing.T) {
	t.Parallel()
	home := equipped(t, sound, "unix:///nonexistent/a.sock")
	load := "import sys; sys.path.insert(0, sys.argv[1]); import bailiff.gate"
	if out, err := exec.Command("python3", "-c", load, filepath.Dir(home.pluginFolder())).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if faults := home.pluginFaults(); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestWhatAProofPrintsIsBounded(t *testing.T) {
	t.Parallel()
	var b bounded
	_, err := io.Copy(&b, io.LimitReader(endless{}, 1<<30))
	if err == nil || len(b.text) > maxFile {
		t.Errorf("it kept %d bytes, %v", len(b.text), err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// silent is a sidecar that does not answer.
type silent struct{}

func (silent) Status(context.Context) (api.Status, error) {
	return api.Status{}, errors.New("no sidecar answers")
}

// blocked is a canary as it must come out.
var blocked = canaryCall{Platform: "telegram", Outcome: "deny", Hook: `{"action": "block", "message": "BLOCKED: x"}`,
	Result: `{"output": "", "exit_code": -1, "error": "BLOCKED: x", "status": "blocked"}`}

func TestAGateIsShutOnlyIfEverythingSaysSo(t *testing.T) {
	t.Parallel()
	if fault, _ := blocked.fault(); fault != "" {
		t.Fatal(fault)
	}
	for name, change := range map[string]func(*canaryCall){
		"it ran":                     func(t *canaryCall) { t.Ran = true },
		"an error":                   func(t *canaryCall) { t.Error = "refused" },
		"asked about":                func(t *canaryCall) { t.Outcome = "ask" },
		"no outcome":                 func(t *canaryCall) { t.Outcome = "" },
		"an exception":               func(t *canaryCall) { t.Raised = "ValueError()" },
		"a hook that says nothing":   func(t *canaryCall) { t.Hook = "null" },
		"a hook that asks":           func(t *canaryCall) { t.Hook = `{"action": "approve"}` },
		"no result":                  func(t *canaryCall) { t.Result = "" },
		"a result that is none":      func(t *canaryCall) { t.Result = "{}" },
		"output":                     func(t *canaryCall) { t.Result = strings.Replace(t.Result, `""`, `"x"`, 1) },
		"an exit code":               func(t *canaryCall) { t.Result = strings.Replace(t.Result, "-1", "0", 1) },
		"another status":             func(t *canaryCall) { t.Result = strings.Replace(t.Result, `"blocked"`, `"ok"`, 1) },
		"an error in other words":    func(t *canaryCall) { t.Result = strings.Replace(t.Result, "BLOCKED: ", "", 1) },
		"nothing at all is no proof": func(t *canaryCall) { *t = canaryCall{} },
	} {
		changed := blocked
		change(&changed)
		if fault, _ := changed.fault(); fault == "" {
			t.Errorf("%s: it is taken for shut", name)
		}
	}
}

func TestADoctorNamesThePythonThatIsTooOld(t *testing.T) {
	home := equipped(t, sound, "unix:///nonexistent/a.sock")
	real, err := home.python()
	must(t, err)
	folder := t.TempDir()
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	of := func(version string) string {
		return "exec " + real + ` -c 'import sys; sys.version_info = ` + version + `; exec(sys.argv[1])' "$4"`
	}
	for does, want := range map[string]string{
		of("(3, 8, 1)"):  "/python3: exit status 1: it is Python 3.8, and Hermes and its plug-in need 3.11",
		of("(3, 10, 9)"): "/python3: exit status 1: it is Python 3.10, and",
		"exit 3":         "/python3: exit status 3",
		"echo no":        "reading what came of it: ",
	} {
		if err := os.WriteFile(filepath.Join(folder, "python3"), []byte("#!/bin/sh\n"+does+"\n"),
			0o700); err != nil { //nolint:gosec // it is to be started
			t.Fatal(err)
		}
		d := &Diagnosis{}
		home.examineGate(t.Context(), d)
		if c := d.of("gate"); c.State != diagnosis.Failed || !strings.Contains(c.Message, want) {
			t.Errorf("%s: it found:\n%s", does, told(*d))
		}
	}
}

func TestADoctorSaysWhichTokenIsWrong(t *testing.T) {
	url, bearer := apptest.Share(t, "").TCP(t)
	home := equipped(t, strings.Replace(sound, "timeout: 1", "timeout: 5, token_file: TOKEN", 1),
		strings.Replace(url, "http://", "tcp://", 1))
	token := filepath.Join(t.TempDir(), "token")
	t.Setenv("BAILIFF_TOKEN_FILE", token)
	for text, want := range map[string]diagnosis.State{bearer: diagnosis.Fine, "another": diagnosis.Failed} {
		must(t, os.WriteFile(token, []byte(strings.TrimPrefix(text, "Bearer ")), 0o600))
		d := &Diagnosis{}
		home.examineGate(t.Context(), d)
		c := d.of("gate cli")
		if c.State != want || (want == diagnosis.Failed) != strings.Contains(c.Do, "plugins.entries.bailiff.settings.token_file") ||
			strings.Contains(told(*d), bearer) {
			t.Errorf("it found:\n%s%s", told(*d), c.Do)
		}
	}
}

// A sidecar that takes connections and says nothing, for many platforms.
func TestADoctorAsksASilentSidecarOnce(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(apptest.OpenDir(t), "s.sock"))
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	home := equipped(t, strings.Replace(sound, "TELEGRAM", "DISCORD_BOT_TOKEN=hunter2\nSLACK_BOT_TOKEN=hunter2\nTELEGRAM", 1),
		"unix://"+listener.Addr().String())
	told, err := home.tryGate(t.Context())
	if err != nil || len(told.Calls) != 2 || told.Calls[0].Error == "" || told.Calls[1].Platform != "" {
		t.Errorf("%+v, %v", told, err)
	}
}

// The sidecar lets in the home's owner only, and whoever runs the doctor is root.
func TestADoctorAsksAsTheHomesOwner(t *testing.T) {
	t.Parallel()
	const owner = 54321
	if os.Geteuid() != 0 {
		backendtest.Needs(t, "ROOT", errors.New("only root can act as another user"))
	}
	s := apptest.Serve(t, fmt.Sprintf(`agent: {listeners: [{name: test, listen: "<agent>", uids: [%d], platforms: ["*"]}]}`, owner))
	home := equipped(t, sound, s.Agent)
	open := apptest.OpenDir(t)
	must(t, os.CopyFS(open, os.DirFS(home.Folder)))
	must(t, exec.Command("chown", "-R", fmt.Sprint(owner), open).Run())
	moved, err := Read(open, filepath.Join(open, "managed"))
	if err != nil || moved.Owner != owner {
		t.Fatalf("read %+v, %v", moved, err)
	}
	d := &Diagnosis{}
	moved.examineGate(t.Context(), d)
	if d.of("gate telegram").State != diagnosis.Fine || d.of("gate cli").State != diagnosis.Fine ||
		!strings.Contains(d.of("gate cli").Message, "asked as uid 54321") {
		t.Errorf("it found:\n%s", told(*d))
	}
}
