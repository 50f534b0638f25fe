package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bailiff": main})
}

// The scripts are the command line as its users see it: what they type, what is
// printed, and the exit status.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	runner, shipped, again := backendtest.Runner(t), t.TempDir(), patient(awaittest.End(t))
	policytest.Copy(t, shipped)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			folder := apptest.OpenDir(t)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("FOLDER", folder)
			return expandFiles(env.WorkDir, folder, runner, shipped)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": exitsWith, "await": again.await,
			"capture": again.capture},
	})
}

// expandFiles fills in, in the yaml files of a script, what only the test knows.
func expandFiles(workdir, folder, runner, shipped string) error {
	files, err := filepath.Glob(filepath.Join(workdir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		filled := os.Expand(string(text), func(name string) string {
			return map[string]string{"FOLDER": folder, "RUNNER": runner, "UID": strconv.Itoa(os.Getuid()), "SHIPPED": shipped}[name]
		})
		if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// exitsWith runs a command that must end with the exit status given first:
// status 126 bailiff exec -- …
func exitsWith(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("running %v: %v", args[1:], err)
		}
		code = ended.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%v ended with %d, want %s", args[1:], code, args[0])
	}
}

// patient is until when commands are run again and again.
type patient time.Time

// pause is between two runs of a command, which would keep a processor from what it waits for.
const pause = 32 * time.Millisecond

// await runs a command again and again until it succeeds.
func (p patient) await(ts *testscript.TestScript, _ bool, args []string) {
	for ; time.Now().Before(time.Time(p)); time.Sleep(pause) {
		if ts.Exec(args[0], args[1:]...) == nil {
			return
		}
	}
	ts.Fatalf("%v did not succeed", args)
}

// capture runs a command again and again until its output matches, and sets a
// variable to what the group matched:
// capture ID '(a-[a-z]+)' bailiff approvals list
func (p patient) capture(ts *testscript.TestScript, _ bool, args []string) {
	wanted := regexp.MustCompile(args[1])
	for ; time.Now().Before(time.Time(p)); time.Sleep(pause) {
		if err := ts.Exec(args[2], args[3:]...); err != nil {
			ts.Fatalf("running %v: %v", args[2:], err)
		}
		if match := wanted.FindStringSubmatch(ts.ReadFile("stdout")); match != nil {
			ts.Setenv(args[0], match[1])
			return
		}
	}
	ts.Fatalf("%v never printed %s", args[2:], args[1])
}
