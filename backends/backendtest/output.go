package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

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
	_, err := b.Run(context.Background(), shell(`echo first; until [[ -e `+flag+` ]]; do sleep 0.01; done; echo second; rm `+flag),
		func(p []byte) {
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
		most = Rounds(2, 5) << 30
	}
	for _, c := range []struct{ size, head int }{{most, 1000}, {100 << 20, 100 << 20}} {
		cmd := shell(fmt.Sprintf(`echo first; head -c %d /dev/zero; echo; read p <<<$PPID; grep VmHWM /proc/$p/status; while read k v _; `+
			`do [[ $k == PPid: ]] && grep VmHWM /proc/$v/status; done </proc/$p/status; echo last`, c.size))
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
		if whole := int64(got) + exit.Dropped; err != nil || whole < int64(c.size) || whole > int64(c.size)+200 ||
			string(first) != "first\n" {
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
		need.within(t, c.size)
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

// within wants this process to have kept little of what came.
func (k *need) within(t *testing.T, came int) {
	t.Helper()
	if most := k.look(); most > 32<<20 {
		t.Errorf("this process kept %d bytes of %d, want at most 32 MB", most, came)
	}
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
// so that one that is missing, changed or out of its place shows. This process may not keep them.
func hundred(t *testing.T, b box) {
	const lines, width = 100_000, 1000
	padding := strings.Repeat("x", width-len("00000000\n")) + "\n"
	cmd := python(fmt.Sprintf("import sys\nfor i in range(%d): sys.stdout.write('%%08d%%s' %% (i, %q))", lines, padding))
	cmd.HeadBytes, cmd.Timeout = lines*width, 5*time.Minute
	cmd.Argv = []string{"python3", "-"} // with a buffer
	next, rest, need := 0, []byte{}, newNeed()
	exit, err := b.Run(context.Background(), cmd, func(p []byte) {
		rest = append(rest, p...)
		for ; len(rest) >= width && string(rest[:width]) == fmt.Sprintf("%08d%s", next, padding); next++ {
			rest = rest[width:]
		}
		rest = bytes.Clone(rest[:min(len(rest), width)])
		if next > need.looks*(lines/10) {
			need.look()
		}
	})
	if err != nil || exit.Code != 0 || exit.Dropped != 0 || next != lines || len(rest) != 0 {
		t.Errorf("it ended as %+v, %v, and has %d lines, want %d; after that it says %.100q", exit, err, next, lines, rest)
	}
	need.within(t, lines*width)
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
	for _, text := range []string{"naïve Ἑλληνική 日本語 עברית 🧑‍🚀 \u202e", "a \" 'quote' \\ $X `y`\t\n",
		"\xff\xfe\x80"} {
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
			_ = w.Send(wire.Frame{Kind: wire.Kind(kind), Stream: stream, Payload: wire.Encode(wire.End{Code: 77}), Last: true})
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
