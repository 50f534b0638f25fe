package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
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
		promise("Output comes in the order written", inOrder),
		promise("Output comes while the command runs", asItComes),
		promise("Output beyond the caps is counted", caps),
		promise("Gigabytes of output fill no memory", volume),
		promise("A hundred megabytes arrive whole and in order", hundred),
		promise("Questions that nobody can answer end at once", prompts),
		promise("Output may be any bytes", binary),
		promise("Words of any script come through, wherever they stand", unicode),
		promise("What looks like the runner's words is output", frames),
		promise("A slow reader keeps no other command waiting", slowReader),
		promise("Input reaches the command and ends", input),
		promise("Exit codes and signals are the command's", exitCodes),
		promise("Signals are at their defaults, and a handler hears them", signals),
		promise("Scripts run as with bash -c", scripts),
		promise("The working directory is where the shell stood at its end", workdirs),
		promise("What cannot start is refused before anything runs", refusals),
		promise("The environment holds what was given and nothing else", environment),
		promise("Values of variables stand in no argument vector", valuesInArguments),
		promise("Commands inherit no open file", openFiles),
		promise("Commands are woken when they want to be", woken),
		promise("A command takes the time that it says", durations),
		promise("Fifty commands run at once", fifty),
		promise("A sandbox serves command after command", reuse),
		promise("Files are known by their content", digests),
	}
}

func inOrder(t *testing.T, b box) {
	var want strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	b.says(`for ((i = 0; i < 2000; i++)); do echo out $i; echo err $i >&2; done`, want.String())
}

func asItComes(t *testing.T, b box) {
	flag := "/tmp/flag" + marker()
	first := make(chan struct{})
	go func() {
		<-first
		_, _ = b.Run(context.Background(), shell("touch "+flag), func([]byte) {})
	}()
	var out strings.Builder
	_, err := b.Run(context.Background(), shell(`echo first; until [[ -e `+flag+` ]]; do sleep 0.01; done; echo second; rm `+flag), func(p []byte) {
		if out.Len() == 0 {
			close(first)
		}
		out.Write(p)
	})
	if err != nil || out.String() != "first\nsecond\n" {
		t.Errorf("said %q, %v", out.String(), err)
	}
}

func caps(t *testing.T, b box) {
	for _, c := range []struct {
		name       string
		head, tail int
		want       string
		dropped    int64
	}{
		{"room for all", 100, 0, "abcdefghijklmnopqrstuvwxyz", 0},
		{"head and tail", 10, 5, "abcdefghijvwxyz", 11},
		{"head only", 10, 0, "abcdefghij", 16},
		{"tail only", 0, 5, "vwxyz", 21},
		{"head and tail meet", 20, 6, "abcdefghijklmnopqrstuvwxyz", 0},
		{"head and tail would overlap", 20, 20, "abcdefghijklmnopqrstuvwxyz", 0},
		{"neither", 0, 0, "", 26},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, script := range []string{`printf %s {a..z}`, `for x in {a..z}; do printf $x; done`} {
				cmd := shell(script)
				cmd.HeadBytes, cmd.TailBytes = c.head, c.tail
				if exit, out := b.run(cmd); out != c.want || exit.Dropped != c.dropped {
					t.Errorf("got %q and %d dropped, want %q and %d", out, exit.Dropped, c.want, c.dropped)
				}
			}
		})
	}
}

// volume prints gigabytes of which little is wanted, and a hundred megabytes that
// are all handed on. Neither the runner, nor the command's supervisor, nor this
// process may keep them. What no 32 bits can count takes its time, so once a backend
// does.
func volume(t *testing.T, b box) {
	most := 1 << 30
	if b.backend.Isolated() && os.Getuid() == 0 && !testing.Short() {
		most = 5 << 30
	}
	for _, c := range []struct{ size, head int }{{most, 1000}, {100 << 20, 100 << 20}} {
		cmd := shell(fmt.Sprintf(`echo first; head -c %d /dev/zero; echo; read p <<<$PPID; grep VmHWM /proc/$p/status; while read k v _; do [[ $k == PPid: ]] && grep VmHWM /proc/$v/status; done </proc/$p/status; echo last`, c.size))
		cmd.HeadBytes, cmd.TailBytes, cmd.Timeout = c.head, 1000, 5*time.Minute
		need := newNeed()
		var got int
		var first, end []byte
		exit, err := b.Run(context.Background(), cmd, func(p []byte) {
			got += len(p)
			if got > need.looks*(c.size/10) {
				need.look()
			}
			first = append(first, p[:min(len(p), max(0, 6-len(first)))]...)
			end = append(end, p...)
			end = bytes.Clone(end[max(0, len(end)-100):])
		})
		if whole := int64(got) + exit.Dropped; err != nil || whole < int64(c.size) || whole > int64(c.size)+200 || string(first) != "first\n" {
			t.Fatalf("got %d bytes that begin with %q and %d dropped, %v", got, first, exit.Dropped, err)
		}
		lines := strings.Split(string(end[bytes.IndexByte(end, '\n')+1:]), "\n")
		if len(lines) != 4 || lines[2] != "last" {
			t.Fatalf("it ends with %q", end)
		}
		for _, line := range lines[:2] {
			if kilobytes := peakIn(line); kilobytes > 10<<10 {
				t.Errorf("runner or supervisor: %s, want at most 10 MB", line)
			}
		}
		if most := need.look(); most > 32<<20 {
			t.Errorf("this process kept %d bytes of %d, want at most 32 MB", most, c.size)
		}
	}
}

// need is how much more memory this process needs than at first, without what it
// merely has not given back yet.
type need struct {
	first, most int
	looks       int
}

func newNeed() *need { return &need{first: inUse()} }

// look returns the most that was needed at any look.
func (k *need) look() int {
	k.looks++
	k.most = max(k.most, inUse()-k.first)
	return k.most
}

func inUse() int {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int(now.HeapAlloc)
}

// peakIn reads "VmHWM: 1234 kB"; what it cannot read is too much.
func peakIn(line string) int {
	var kilobytes int
	if _, err := fmt.Sscanf(strings.TrimPrefix(line, "VmHWM:"), "%d kB", &kilobytes); err != nil {
		return math.MaxInt32
	}
	return kilobytes
}

// hundred prints a hundred thousand lines of a thousand bytes, each with its number,
// so that one that is missing, changed or out of its place shows.
func hundred(t *testing.T, b box) {
	const lines, width = 100_000, 1000
	padding := strings.Repeat("x", width-len("00000000\n")) + "\n"
	cmd := python(fmt.Sprintf("import sys\nfor i in range(%d): sys.stdout.write('%%08d%%s' %% (i, %q))", lines, padding))
	cmd.HeadBytes, cmd.Timeout = lines*width, 5*time.Minute
	cmd.Argv = []string{"python3", "-"} // with a buffer
	next, rest := 0, []byte{}
	exit, err := b.Run(context.Background(), cmd, func(p []byte) {
		rest = append(rest, p...)
		for ; len(rest) >= width && string(rest[:width]) == fmt.Sprintf("%08d%s", next, padding); next++ {
			rest = rest[width:]
		}
		rest = bytes.Clone(rest[:min(len(rest), width)])
	})
	if err != nil || exit.Code != 0 || exit.Dropped != 0 || next != lines || len(rest) != 0 {
		t.Errorf("it ended as %+v, %v, and has %d lines, want %d; after that it says %.100q", exit, err, next, lines, rest)
	}
}

func binary(t *testing.T, b box) {
	var want []byte
	for i := range 1 << 20 {
		want = append(want, byte(i*i>>8), byte(i))
	}
	cmd := argv("cat")
	cmd.Stdin, cmd.HeadBytes = want, len(want)
	if _, out := b.run(cmd); out != string(want) {
		t.Errorf("%d bytes came back as %d others", len(want), len(out))
	}
}

// unicode has words of several scripts, and bytes that are of none, be an argument,
// a variable, input, output and the name of a folder.
func unicode(t *testing.T, b box) {
	for _, text := range []string{"naïve Ἑλληνική 日本語 עברית 🧑‍🚀 \u202e", "a \" 'quote' \\ $X `y`\t\n", "\xff\xfe\x80"} {
		folder := "/tmp/" + marker() + text
		b.run(argv("mkdir", "-p", folder))
		cmd := argv("bash", "-c", `printf '%s|%s|%s|' "$1" "$TEXT" "$PWD"; cat; touch "$1"; ls; rm "$1"`, "bash", text)
		cmd.Workdir, cmd.Stdin, cmd.Env = folder, []byte(text), map[string]bailiff.Secret{"TEXT": bailiff.NewSecret(text)}
		exit, out := b.run(cmd)
		if want := text + "|" + text + "|" + folder + "|" + text + text + "\n"; out != want || exit.Workdir != folder {
			t.Errorf("it said %q, want %q, and ended in %q", out, want, exit.Workdir)
		}
		b.run(argv("rmdir", folder))
	}
}

// frames prints all that a supervisor or the runner could say of this command and
// of others.
func frames(t *testing.T, b box) {
	var words bytes.Buffer
	w := wire.NewWriter(&words)
	for stream := range uint32(100) {
		for kind := range 128 {
			_ = w.Send(wire.Frame{Kind: wire.Kind(kind), Stream: stream, Payload: wire.End{Code: 77}.Encode(), Last: true})
		}
	}
	_ = w.Resync()
	end := b.beside(t)
	for _, to := range []string{"cat", "cat >&2", "cat >/proc/$$/fd/1"} {
		cmd := shell(to)
		cmd.Stdin, cmd.HeadBytes = words.Bytes(), words.Len()
		if exit, out := b.run(cmd); exit.Code != 0 || out != words.String() {
			t.Errorf("%s of %d bytes gave %d, %+v", to, words.Len(), len(out), exit)
		}
	}
	end()
}

func slowReader(t *testing.T, b box) {
	ctx, cancel := context.WithCancel(context.Background())
	started, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan backends.Exit)
	go func() {
		var once sync.Once
		cmd := shell("yes")
		cmd.HeadBytes = 1 << 30
		exit, err := b.Run(ctx, cmd, func([]byte) { once.Do(func() { close(started); <-goOn }) })
		if err != nil {
			t.Error(err)
		}
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
		{"a megabyte of script", long + `echo "$0 $# [$IFS] $LINENO"`, fmt.Sprintf("/bin/bash 0 [ \t\n] %d\n", 1+strings.Count(long, "\n"))},
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
var leaks = []string{"SIDECAR_ONLY", "APPTAINERENV_LEAK", "SINGULARITYENV_LEAK", "DOCKER_LEAK", "LC_LEAK", "LD_LEAK", "BASH_ENV", "BASH_FUNC_leak%%"}

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
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL=/bin/bash", "TERM=vt100"}
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
	if _, out := b.run(argv("python3", "-c", "import os; print(*[fd for fd in range(3, 4096) if os.path.exists(f'/proc/self/fd/{fd}')])")); out != "\n" {
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
	const times = 200
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
	if n := b.alive(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	b.run(argv("rm", file))
}

// openHere counts the files that this process has open.
func openHere(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
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
	if n := b.alive(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// hostFile makes a file on this machine, outside of what a sandbox may see.
func hostFile(t testing.TB, content string) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func digests(t *testing.T, b box) {
	b.says(`printf hello > a.txt; mkdir -p d; printf hello > d/b; mkfifo pipe; ln -sf a.txt link; truncate -s 65M big`, "")
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	b.says(`mkdir -p d/e; ln -sfn d/e far; printf hello > ~/at-home`, "")
	files, err := b.Digest(t.Context(), "", []string{"a.txt", "d/b", "link", "far/../b", "~/at-home", "missing", "a.txt/below"})
	want := []bailiff.File{{Path: "a.txt", SHA256: hello}, {Path: "d/b", SHA256: hello}, {Path: "link", SHA256: hello}, {Path: "far/../b", SHA256: hello},
		{Path: "~/at-home", SHA256: hello}, {Path: "missing"}, {Path: "a.txt/below"}}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("got %v, %v, want %v", files, err, want)
	}
	b.says(`ln -sfn /proc/self/cwd/a.txt elsewhere; printf hello > 'a*'`, "")
	for _, path := range []string{"a*", "$X/a.txt", "~bob/a.txt", `\~/a.txt`, "/proc/self/cmdline", "/dev/fd/0", "/x/../dev/stdin", "elsewhere"} {
		if files, err := b.Digest(t.Context(), "", []string{"a.txt", path}); err == nil || !strings.Contains(err.Error(), "cannot be bound to an approval: name the file") {
			t.Errorf("got %v, %v for %s, want an error that asks for a name", files, err, path)
		}
	}
	for _, path := range []string{"pipe", "d", "big", "/dev/zero", strings.Repeat("x", 40<<10)} {
		if files, err := b.Digest(t.Context(), "", []string{path}); err == nil {
			t.Errorf("got %v for %.20s, want an error", files, path)
		}
	}
	b.says(`rm -r a.txt d pipe link big far elsewhere 'a*' ~/at-home`, "")
}
