package facts

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	var texts []string
	for range 3000 {
		text := one(before)
		for range 1 + random.IntN(5) {
			text += one(pieces)
		}
		texts = append(texts, text+one(joints)+one(probes)+one(behind))
	}
	ran := 0
	for i, said := range bashSays(t, filepath.Join(folder, "bash"), "2>&1", empty, []string{"PATH=" + folder}, texts) {
		if !said.ranProbe() {
			continue
		}
		ran++
		c := Shell(texts[i], work)
		if c.Parsed && c.Complete && !slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "probe" }) {
			t.Errorf("bash runs a probe in %q, which is none of the calls %+v", texts[i], c.Calls)
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

// said is what a text had bash print, and how it ended.
type said struct {
	text   string
	failed bool
}

// ranProbe says whether it was a probe of [probing] that printed it.
func (s said) ranProbe() bool { return strings.Contains(s.text, "it ran") }

// each has one bash run many texts, each in a subshell of its own, which is much less work than to start a bash for each. A text that
// takes the processor for seconds is ended, and what it left behind is waited for.
const each = `while IFS= read -r -d '' _text; do
	_said=$(exec STDERR </dev/null; ulimit -t 5; eval "$_text")
	printf '%s\0%s\0' "$?" "$_said"
done`

// alone finds texts with what is not the same in such a subshell: a bash goes on after faults of these, and tells words apart without IFS.
var alone = regexp.MustCompile(`(?m)^a=\(|readonly |IFS=''`)

// bashSays has a bash run texts in an empty folder; where what they print to standard error goes stands in the words of bash. Most
// texts are none that bash understands.
func bashSays(t *testing.T, program, stderr, empty string, env, texts []string) (all []said) {
	t.Helper()
	run := func(script string, stdin io.Reader) said {
		bash := exec.CommandContext(t.Context(), program, "-c", script)
		bash.Env, bash.Dir, bash.Stdin = env, empty, stdin
		output, err := bash.Output()
		return said{text: string(output), failed: err != nil}
	}
	name := filepath.Join(t.TempDir(), "texts") // of a pipe bash would read byte by byte
	if err := os.WriteFile(name, []byte(strings.Join(texts, "\x00")+"\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parts := strings.Split(run(strings.Replace(each, "STDERR", stderr, 1), file).text, "\x00")
	if len(parts) != 2*len(texts)+1 {
		t.Fatalf("bash ran %d of %d texts", len(parts)/2, len(texts))
	}
	for i, text := range texts {
		if alone.MatchString(text) {
			all = append(all, run("exec "+stderr+"\n"+text, nil))
			continue
		}
		all = append(all, said{text: parts[2*i+1], failed: parts[2*i] != "0"})
	}
	return all
}
