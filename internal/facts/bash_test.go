package facts

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What stands in texts before, between and after a call, in any order.
var (
	before = []string{
		"", "", "", "echo a ", "cat <<E\n", "cat <<'E'\n", "x=1 ", "echo $(", "echo `", "sh -c '", "eval \"", "{ ",
		"( ", "f() { ", "if true; then ", "bash <<E\n", "bash <<'E'\n", "cat <<E | sh\n", "echo 'a", "# ", "a=( ",
		"case x in x) ", "[[ a ", " ! ", "time ",
	}
	pieces = []string{
		"echo", "a", "\\", "\\\n", "\n", "#", " #", "# ", "'", "\"", "`", "$(", ")", "$'", "\r", "\r\n", ";", "&&",
		"||", "|", "&", " ", " ", "<<E\n", "<<'E'\n", "<<-E\n", "E\n", "\nE\n", "{ ", "; }", "( ", "fi", "x=", "$x",
		"${x", "}", "$((1))", "((", "))", "!", "eval ", "\t", "for i in 1; do ", "; done", "f", "\\\\", "\\'", "\\\"",
		"$\"", "<(", "~", "*", "[", "]", "=", "\\\r\n", "\v", "|&", "2>&1", "cat ", "alias z=probe\n",
		"set -- probe\n", "$1", "$@", "${x:-probe}",
	}
	joints = []string{
		"\n", " ", ";", " \n", "\\\n", "\r\n", " && ", " | ", "\\\r\n", " #\n", " # \\\n", "#\\\n", "\t\n", "E\n",
		"\nE\n", "'\n", "\"\n", "`\n", ")\n", "}\n",
	}
	probes = []string{
		"probe", "pro''be", "pro\\be", "pro\\\nbe", "$'probe'", "p\"ro\"be", "{probe,}",
	}
	behind = []string{
		"", "", "\n", " x", "'", "\"", "`", ")", " }", "; }", "; fi", "; done", ";; esac", "\nE\n", "\r", "\r\n",
		" # x", " \\",
	}
)

func TestEveryCallThatBashMakesIsRead(t *testing.T) {
	t.Parallel()
	folder, empty := probing(t, "sh", "bash", "cat"), t.TempDir()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
	one := func(of []string) string { return of[random.IntN(len(of))] }
	ran := 0
	for range 3000 {
		text := one(before)
		for range 1 + random.IntN(5) {
			text += one(pieces)
		}
		text += one(joints) + one(probes) + one(behind)
		if !bashRuns(t, folder, empty, text) {
			continue
		}
		ran++
		c := Shell(text, work)
		if c.Parsed && c.Complete && !slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "probe" }) {
			t.Errorf("bash runs a probe in %q, which is none of the calls %+v", text, c.Calls)
		}
	}
	if ran < 100 {
		t.Errorf("bash ran %d probes, so that the texts prove little", ran)
	}
}

// probing is a folder with a probe that says that it ran, and with these programs, of which "sh" is bash.
func probing(t *testing.T, names ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range names {
		of := name
		if of == "sh" {
			of = "bash"
		}
		program, err := exec.LookPath(of)
		if err == nil {
			err = os.Symlink(program, filepath.Join(folder, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	said := []byte("#!/bin/sh\nprintf 'it %s' ran >&2\nprintf 'it %s' ran\n")
	if err := os.WriteFile(filepath.Join(folder, "probe"), said, 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return folder
}

// bashRuns says whether a text has bash run the probe, which is in a folder, while it stands in an empty one.
func bashRuns(t *testing.T, folder, empty, text string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	bash := exec.CommandContext(ctx, filepath.Join(folder, "bash"), "-c", text)
	bash.Env, bash.Dir, bash.WaitDelay = []string{"PATH=" + folder}, empty, time.Second
	said, _ := bash.CombinedOutput() // most of the texts are none that bash understands
	return bytes.Contains(said, []byte("it ran"))
}
