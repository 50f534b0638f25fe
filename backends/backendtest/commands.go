package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func commandChecks() []check {
	return []check{
		promise("Output comes in the order written", onRunner, inOrder),
		promise("Output comes while the command runs", OnStream, asItComes),
		promise("Output beyond the caps is counted", onRunner, caps),
		promise("Gigabytes of output fill no memory", onRunner, byFlood(volume)),
		promise("A hundred megabytes arrive whole and in order", OnStream, hundred),
		promise("Questions that nobody can answer end at once", onRunner, prompts),
		promise("Output may be any bytes", OnStream, binary),
		promise("Words of any script come through, wherever they stand", onRunner, unicode),
		promise("What looks like the runner's words is output", onRunner, frames),
		promise("A slow reader keeps no other command waiting", OnStream, slowReader),
		promise("Input reaches the command and ends", onRunner, input),
		promise("Exit codes and signals are the command's", onRunner, exitCodes),
		promise("Signals are at their defaults, and a handler hears them", OnPlace, signals),
		promise("Scripts run as with bash -c", onRunner, scripts),
		promise("The working directory is where the shell stood at its end", onRunner, workdirs),
		promise("What cannot start is refused before anything runs", onRunner, refusals),
		promise("The environment holds what was given and nothing else", OnPlace, environment),
		promise("Values of variables stand in no argument vector", OnPlace, valuesInArguments),
		promise("Commands inherit no open file", OnPlace, openFiles),
		promise("Commands are woken when they want to be", OnPlace, woken),
		promise("A command takes the time that it says", onRunner, durations),
		promise("Fifty commands run at once", OnPlace, fifty),
		promise("A sandbox serves command after command", onRunner, reuse),
		promise("Files are known by their content", onRunner, digests),
	}
}

func slowReader(t *testing.T, b box) {
	ctx, cancel := context.WithCancel(context.Background())
	started, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan backends.Exit)
	go func() {
		var once sync.Once
		cmd := shell("yes")
		cmd.HeadBytes = 1 << 30
		exit, err := b.Run(ctx, cmd, func([]byte) { once.Do(func() { close(started); <-goOn }) })
		NoError(t, err)
		ended <- exit
	}()
	<-started
	for range 20 {
		b.says("seq 10000 | tail -n 1", "10000\n")
	}
	close(goOn)
	cancel()
	if exit := <-ended; !exit.Interrupted || exit.Code != 130 {
		t.Errorf("the slow one ended as %+v", exit)
	}
}

func input(t *testing.T, b box) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, c := range []struct {
		name, script string
		stdin        []byte
		want         string
	}{
		{"it is passed on", "cat", []byte("hello"), "hello"},
		{"it may be binary", "cat", []byte("\x00\xff\n\x01"), "\x00\xff\n\x01"},
		{"without any, it ends at once", "cat; echo end", nil, "end\n"},
		{"a megabyte", "cat", big, string(big)},
		{"a megabyte that nobody reads", "echo end", big, "end\n"},
		{"a megabyte of which the beginning is read", "head -c 3", big, "012"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(c.script)
			cmd.Stdin = c.stdin
			if exit, out := b.run(cmd); out != c.want || exit.Code != 0 {
				t.Errorf("got %d bytes %.80q, code %d", len(out), out, exit.Code)
			}
		})
	}
}

func exitCodes(t *testing.T, b box) {
	for script, want := range map[string]int{
		"true": 0, "exit 3": 3, "exit 255": 255, "false": 1, "no-such-program-here": 127, "/etc/passwd": 126,
		"if": 2, "set -e; false; exit 0": 1, "set -u; echo $nothing": 127, "trap 'exit 9' EXIT": 9,
		"kill -TERM $$": 143, "kill -KILL $$": 137, "kill -SEGV $$": 139, "exec bash -c 'kill -INT $$'": 130,
	} {
		if exit, _ := b.run(shell(script)); exit.Code != want || exit.TimedOut || exit.Interrupted {
			t.Errorf("%q ended as %+v, want code %d", script, exit, want)
		}
	}
}

func signals(t *testing.T, b box) {
	_, status := b.run(argv("cat", "/proc/self/status"))
	for _, field := range []string{"SigBlk", "SigIgn", "SigCgt"} {
		if !strings.Contains(status, field+":\t0000000000000000\n") {
			t.Errorf("of a command's signals some are in %s:\n%s", field, status)
		}
	}
	b.says("(exec yes) | head -n 1; echo ${PIPESTATUS[*]}", "y\n141 0\n")
	b.says("trap 'echo heard; exit 0' USR1; kill -USR1 $$; echo deaf", "heard\n")
	b.says("sleep 1000 & kill -STOP $!; kill -CONT $!; kill -TERM $!; wait $!; echo $?", "143\n")
}

func scripts(t *testing.T, b box) {
	long := strings.Repeat("# a comment that makes this script long\n", 1<<20/40)
	for _, c := range []struct{ name, script, want string }{
		{"name, arguments, status", `echo "$0 $# $?"`, "/bin/bash 0 0\n"},
		{"nothing read before it", `shopt -q login_shell || echo $-`, "hBc\n"},
		{"line numbers", "\n\necho $LINENO", "3\n"},
		{"traps of its own", `trap 'echo bye' EXIT; echo hello`, "hello\nbye\n"},
		{"no function or alias of ours", `declare -F; alias; trap`, ""},
		{"a quote and a newline", "echo 'a\nb' \"$(printf c)\"", "a\nb c\n"},
		{"a megabyte of script", long + `echo "$0 $# [$IFS] $LINENO"`,
			fmt.Sprintf("/bin/bash 0 [ \t\n] %d\n", 1+strings.Count(long, "\n"))},
	} {
		t.Run(c.name, func(t *testing.T) { b.in(t).says(c.script, c.want) })
	}
}

func workdirs(t *testing.T, b box) {
	start, _ := b.run(shell("true"))
	for script, want := range map[string]string{
		"true":                               start.Workdir,
		"cd /usr":                            "/usr",
		"cd /usr; exit 3":                    "/usr",
		"cd /usr; exec true":                 "/usr",
		"cd /usr; kill -9 $$":                "/usr",
		"set -e; cd /usr; false; cd /":       "/usr",
		"trap 'cd /usr' EXIT; cd /":          "/usr",
		"trap 'cd /; exit 1' TERM; cd /usr":  "/usr",
		"(cd /usr)":                          start.Workdir,
		"cd /usr; if":                        start.Workdir,
		"cd /; cd usr/bin/..":                "/usr",
		"d=$(mktemp -d); cd $d; rmdir $d":    "",
		"cd /usr; pwd() { :; }; cd() { :; }": "/usr",
		"cd /usr; bash -c 'cd /' & wait":     "/usr",
	} {
		if exit, out := b.run(shell(script)); exit.Workdir != want {
			t.Errorf("%q ended in %q, want %q (%s)", script, exit.Workdir, want, out)
		}
	}
	cmd := shell("pwd; umask; cd /; umask 077")
	for range 2 {
		cmd.Workdir = "/usr/bin"
		if _, out := b.run(cmd); out != "/usr/bin\n0022\n" {
			t.Errorf("started in %q", out)
		}
	}
}

func refusals(t *testing.T, b box) {
	change := func(f func(*backends.Command)) backends.Command {
		cmd := shell("true")
		f(&cmd)
		return cmd
	}
	for _, c := range []struct {
		name, sentence string
		cmd            backends.Command
	}{
		{"a folder that does not exist", "/no/where", change(func(c *backends.Command) { c.Workdir = "/no/where" })},
		{"a folder that is a file", "/etc/passwd", change(func(c *backends.Command) { c.Workdir = "/etc/passwd" })},
		{"a folder that no system has", "longer than", change(func(c *backends.Command) { c.Workdir = "/" + strings.Repeat("x", 40000) })},
		{"a folder that is relative", "absolute", change(func(c *backends.Command) { c.Workdir = "usr" })},
		{"no program", "no program", argv()},
		{"a program that is not there", `no program "no-such-program": its image`, argv("no-such-program")},
		{"a program that is none", "/etc/passwd", argv("/etc/passwd")},
		{"a NUL byte", "NUL", shell("echo a\x00b")},
		{"a variable with a strange name", "A=B", change(func(c *backends.Command) { c.Env = map[string]bailiff.Secret{"A=B": {}} })},
		{"a value with a NUL byte", "TOKEN", change(func(c *backends.Command) {
			c.Env = map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret("hush\x00hush")}
		})},
		{"five megabytes of arguments", "bytes", shell(strings.Repeat("#", 5<<20))},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.Run(context.Background(), c.cmd, func([]byte) { t.Error("there was output") })
			if !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, backends.ErrUnfit) ||
				!strings.Contains(err.Error(), c.sentence) || strings.Contains(err.Error(), "hush") {
				t.Errorf("error is %v, want one that wraps ErrNotStarted and ErrUnfit and speaks of %q", err, c.sentence)
			}
		})
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Run(ended, shell("true"), nil); !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	b.says("echo and goes on", "and goes on\n")
}

// leaks are variables of a sidecar that a technology might take for its own, or for
// the sandbox's.
var leaks = []string{"SIDECAR_ONLY", "APPTAINERENV_LEAK", "SINGULARITYENV_LEAK", "DOCKER_LEAK", "LC_LEAK", "LD_LEAK", "BASH_ENV",
	"BASH_FUNC_leak%%"}

func environment(t *testing.T, b box) {
	for _, name := range leaks {
		t.Setenv(name, "() { :; }; leak")
	}
	fresh := b.another(t, b.spec)
	cmd := argv("env", "-0")
	cmd.Env = map[string]bailiff.Secret{"GITHUB_TOKEN": bailiff.NewSecret("line one\nline two"), "TERM": bailiff.NewSecret("vt100")}
	_, out := fresh.run(cmd)
	got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(got)
	_, home := fresh.run(shell("cd && pwd"))
	want := []string{"GITHUB_TOKEN=line one\nline two", "HOME=" + strings.TrimSpace(home), "LANG=C.UTF-8",
		"PATH=" + wire.SearchPath, "SHELL=/bin/bash", "TERM=vt100"}
	if !slices.Equal(got, want) {
		t.Errorf("variables are\n%q, want\n%q", got, want)
	}
	fresh.says("compgen -e | sort | tr '\\n' ' '", "HOME LANG PATH PWD SHELL SHLVL TERM ")
	fresh.says(`cd && [[ $HOME == "$PWD" && -w $HOME ]] && echo at home`, "at home\n")
	fresh.says("echo ${GITHUB_TOKEN-gone}; declare -F", "gone\n")
}

func valuesInArguments(t *testing.T, b box) {
	value := "value" + marker()
	cmd := argv("sh", "-c", "echo ready; cat >/dev/null; sleep 0.01; echo $TOKEN")
	cmd.Env = map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret(value)}
	cmd.Stdin = []byte("some")
	var out strings.Builder
	_, err := b.Run(context.Background(), cmd, func(p []byte) {
		if pids := b.marked(value); len(pids) > 0 {
			t.Errorf("processes %v have it among their arguments", pids)
		}
		out.Write(p)
	})
	if err != nil || out.String() != "ready\n"+value+"\n" {
		t.Errorf("said %q, %v", out.String(), err)
	}
}

func openFiles(t *testing.T, b box) {
	if _, out := b.run(argv("python3", "-c",
		"import os; print(*[fd for fd in range(3, 4096) if os.path.exists(f'/proc/self/fd/{fd}')])")); out != "\n" {
		t.Errorf("a program has open: %s", out)
	}
}

func woken(t *testing.T, b box) { b.says("cat /proc/self/timerslack_ns", "50000\n") }

func durations(t *testing.T, b box) {
	began := time.Now()
	exit, _ := b.run(argv("sleep", "0.2"))
	if took := time.Since(began); exit.Duration < 200*time.Millisecond || exit.Duration > took {
		t.Errorf("what sleeps for 0.2 s and was waited for during %v says that it took %v", took, exit.Duration)
	}
}

// reuse has each command find what the one before it left in a file, and wants
// neither processes nor files of this process to become more with each.
func reuse(t *testing.T, b box) {
	times := Rounds(60, 200)
	file := "/tmp/count" + marker()
	b.run(shell("echo 0 >" + file))
	var before int
	for i := range times {
		if i == times/2 {
			before = openHere(t)
		}
		if b.says("n=$(<"+file+"); echo $((n + 1)) | tee "+file, fmt.Sprintln(i+1)); t.Failed() {
			return
		}
	}
	if now := openHere(t); now > before+10 {
		t.Errorf("this process had %d files open after %d commands, and %d after %d", before, times/2, now, times)
	}
	b.noneAlive()
	b.run(argv("rm", file))
}

// openHere counts the files that this process has open.
func openHere(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	Must(t, err)
	return len(list)
}

func fifty(t *testing.T, b box) {
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			cmd := shell("cat; echo $N; exit $N")
			cmd.Stdin = bytes.Repeat([]byte{byte('a' + i%26)}, 50_000)
			cmd.Env = map[string]bailiff.Secret{"N": bailiff.NewSecret(strconv.Itoa(i))}
			var out strings.Builder
			exit, err := b.Run(context.Background(), cmd, func(p []byte) { out.Write(p) })
			if want := string(cmd.Stdin) + strconv.Itoa(i) + "\n"; err != nil || exit.Code != i || out.String() != want {
				t.Errorf("command %d: %d bytes, %+v, %v", i, out.Len(), exit, err)
			}
		})
	}
	all.Wait()
	b.noneAlive()
}
