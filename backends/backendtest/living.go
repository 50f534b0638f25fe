package backendtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// livingChecks are those of commands that outlive the call that starts them.
func livingChecks() []check {
	return []check{
		{"A background command's output is kept and read from anywhere", backgroundLog},
		{"A log holds what was written last", backgroundTail},
		{"A background command that nobody reads runs on", backgroundUnread},
		{"A background command reads what is written to it", backgroundInput},
		{"A background command ends with all that it started", backgroundEnds},
		{"A background command is no leftover and hears of none", backgroundApart},
		{"A background command that cannot start is refused", backgroundRefused},
		{"Background commands are remembered until they are forgotten", backgroundForgotten},
		{"A dialogue hears what was printed before each line", dialogueOrder},
		{"A dialogue carries lines of any length both ways", dialogueLines},
		{"A dialogue that is broken off goes on", dialogueBreak},
		{"A dialogue ends with all that it started", dialogueEnds},
		{"A dialogue that cannot start is refused", dialogueRefused},
		{"Only a dialogue has more than three files, and its children none of them", dialogueFiles},
	}
}

// start starts a command in the background, which is forgotten with the test.
func (b box) start(script string, change ...func(*backends.Command)) backends.Process {
	b.t.Helper()
	cmd := shell(script)
	for _, f := range change {
		f(&cmd)
	}
	p, err := b.Start(b.t.Context(), cmd, "p"+marker())
	if err != nil {
		b.t.Fatalf("starting %.60q: %v", script, err)
	}
	b.t.Cleanup(func() {
		if err := errors.Join(p.Kill(context.Background()), p.Forget(context.Background())); err != nil {
			b.t.Errorf("ending %.60q: %v", script, err)
		}
	})
	return p
}

// log reads all that there is from an offset on.
func (b box) log(p backends.Process, offset int64) backends.Piece {
	b.t.Helper()
	piece, err := p.Log(context.Background(), offset, 8<<20)
	if err != nil {
		b.t.Fatalf("reading a log: %v", err)
	}
	return piece
}

// awaitLog waits until a log holds a text.
func (b box) awaitLog(p backends.Process, text string) {
	b.t.Helper()
	await(b.t, "the log holds "+text, func() bool { return strings.Contains(string(b.log(p, 0).Data), text) })
}

// ended waits for the end of a background command.
func ended(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("waited in vain for the end of a command")
	}
}

func backgroundLog(t *testing.T, b box) {
	p := b.start(`echo one; echo two >&2; read; echo three; exit 7`)
	b.awaitLog(p, "two\n")
	if piece := b.log(p, 4); string(piece.Data) != "two\n" || piece.From != 4 || piece.Written != 8 {
		t.Errorf("from 4 on it is %+v", piece)
	}
	select {
	case <-p.Done():
		t.Error("it has ended before its time")
	default:
	}
	if err := p.Write(t.Context(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	ended(t, p.Done())
	if exit := p.Exit(); exit.Code != 7 || exit.TimedOut || exit.Interrupted || exit.Lost || exit.Duration <= 0 {
		t.Errorf("ended as %+v", exit)
	}
	for _, c := range []struct {
		from int64
		most int
		want string
	}{{0, 100, "one\ntwo\nthree\n"}, {4, 3, "two"}, {8, 100, "three\n"}, {14, 100, ""}, {0, 0, ""}} {
		piece, err := p.Log(t.Context(), c.from, c.most)
		if err != nil || string(piece.Data) != c.want || piece.From != c.from || piece.Written != 14 {
			t.Errorf("%d bytes from %d on are %+v, %v, want %q", c.most, c.from, piece, err, c.want)
		}
	}
}

// numbered is what "seq -w" prints, 8 bytes a line.
func numbered(n int) []byte {
	var all bytes.Buffer
	for i := range n {
		fmt.Fprintf(&all, "%07d\n", i+1)
	}
	return all.Bytes()
}

func backgroundTail(t *testing.T, b box) {
	for _, c := range []struct {
		name  string
		lines int
		least int // bytes that the log holds at least
	}{
		{"less than fits into memory", 1000, 8000},
		{"more than fits into memory", 20_000, 64 << 10},
		{"more than is kept at all", 999_999, 64 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := numbered(c.lines)
			for _, over := range []bool{false, true} {
				p := box{b.Sandbox, t, b.backend, b.spec}.start(fmt.Sprintf(`seq -f %%07.0f %d; read`, c.lines))
				await(t, "all is written", func() bool { return b.log(p, 0).Written == int64(len(all)) })
				if over {
					if err := p.CloseInput(t.Context()); err != nil {
						t.Error(err)
					}
					ended(t, p.Done())
				}
				piece := b.log(p, 0)
				if len(piece.Data) < c.least || piece.Written != int64(len(all)) || int(piece.From)+len(piece.Data) != len(all) || !bytes.Equal(piece.Data, all[piece.From:]) {
					t.Errorf("over: %t: %d bytes from %d on of %d, want at least %d, the last ones", over, len(piece.Data), piece.From, piece.Written, c.least)
				}
				if len(piece.Data) > 5<<20 {
					t.Errorf("%d bytes are kept, want at most 4 MiB and a little", len(piece.Data))
				}
			}
		})
	}
}

func backgroundUnread(t *testing.T, b box) {
	p := b.start(`head -c 200000000 /dev/zero; echo; echo done`)
	ended(t, p.Done())
	piece := b.log(p, 200000000)
	if string(piece.Data) != "\ndone\n" || piece.Written != 200000006 {
		t.Errorf("at its end are %q of %d", piece.Data, piece.Written)
	}
}

func backgroundInput(t *testing.T, b box) {
	p := b.start(`read first; echo "got $first"; sha256sum; echo end`, func(c *backends.Command) { c.Stdin = []byte("begin") })
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, data := range [][]byte{[]byte("ning\n"), big} {
		if err := p.Write(t.Context(), data); err != nil {
			t.Fatal(err)
		}
	}
	b.awaitLog(p, "got beginning\n")
	if err := p.CloseInput(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended(t, p.Done())
	if text := string(b.log(p, 0).Data); text != "got beginning\n"+sum(big)+"  -\nend\n" {
		t.Errorf("said %q", text)
	}
	if err := p.Write(t.Context(), []byte("x")); err == nil {
		t.Error("what has ended takes input still")
	}
	deaf := b.start(`echo ready; sleep ` + marker())
	b.awaitLog(deaf, "ready")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := deaf.Write(ctx, big); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("writing to what does not read: %v", err)
	}
	closed := b.start(`exec <&-; echo ready; sleep ` + marker())
	b.awaitLog(closed, "ready")
	if err := closed.Write(t.Context(), []byte("x")); !errors.Is(err, backends.ErrUnfit) {
		t.Errorf("writing to what has closed its input: %v, want an error that wraps ErrUnfit", err)
	}
}

func backgroundEnds(t *testing.T, b box) {
	for name, end := range map[string]func(m string) backends.Process{
		"killed": func(m string) backends.Process {
			p := b.start(scatter(m) + "sleep " + m)
			await(t, "all is started", func() bool { return len(marked(m)) > scattered })
			if err := p.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			return p
		},
		"timed out": func(m string) backends.Process {
			return b.start(scatter(m)+"sleep "+m, func(c *backends.Command) { c.Timeout = 500 * time.Millisecond })
		},
		"ended by itself, then killed": func(m string) backends.Process {
			p := b.start(scatter(m) + "exit 3")
			ended(t, p.Done())
			if err := p.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, other := marker(), marker()
			beside := b.start("sleep " + other)
			p := end(m)
			ended(t, p.Done())
			want := map[string]backends.Exit{"killed": {Code: 130, Interrupted: true}, "timed out": {Code: 124, TimedOut: true}}
			exit := p.Exit()
			exit.Duration = 0
			if wanted, told := want[name]; told && exit != wanted {
				t.Errorf("ended as %+v, want %+v", exit, wanted)
			}
			b.nothingLeft(t, m)
			if len(marked(other)) != 1 {
				t.Error("another background command is gone, too")
			}
			_ = beside
		})
	}
}

func backgroundApart(t *testing.T, b box) {
	m := marker()
	p := b.start("(setsid sleep " + m + " &); sleep " + m)
	await(t, "both are there", func() bool { return len(marked(m)) == 2 })
	b.run(shell("sleep " + m + " & disown"))
	await(t, "the leftover is there", func() bool { return len(marked(m)) == 3 })
	if n := b.alive(); n != 1 {
		t.Errorf("%d processes are counted, want the leftover alone", n)
	}
	if err := b.Kill(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(marked(m)); n != 2 {
		t.Errorf("%d processes are there, want the background command's two", n)
	}
	_ = p
}

func backgroundRefused(t *testing.T, b box) {
	p := b.start("read")
	for name, c := range map[string]struct {
		cmd backends.Command
		tag string
	}{
		"no program":            {argv("no-such-program"), "other"},
		"no folder":             {func() backends.Command { c := shell(":"); c.Workdir = "/no/where"; return c }(), "other"},
		"a tag that is taken":   {shell(":"), p.Tag()},
		"no tag":                {shell(":"), ""},
		"a tag without measure": {shell(":"), strings.Repeat("x", 1000)},
	} {
		if _, err := b.Start(t.Context(), c.cmd, c.tag); !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, backends.ErrUnfit) {
			t.Errorf("%s: %v, want an error that wraps ErrNotStarted and ErrUnfit", name, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Start(over, shell(":"), "other"); !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if tags := b.tags(); !slices.Equal(tags, []string{p.Tag()}) {
		t.Errorf("known are %v, want %s alone", tags, p.Tag())
	}
}

func (b box) tags() (list []string) {
	b.t.Helper()
	known, err := b.Processes(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range known {
		list = append(list, p.Tag())
	}
	return list
}

func backgroundForgotten(t *testing.T, b box) {
	const most = 64
	p := b.start("read")
	if err := p.Forget(t.Context()); !errors.Is(err, backends.ErrUnfit) {
		t.Errorf("forgetting what runs: %v, want an error that wraps ErrUnfit", err)
	}
	var started []backends.Process
	for i := 1; i < most; i++ {
		short, err := b.Start(t.Context(), shell("echo "+fmt.Sprint(i)), fmt.Sprintf("short-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		ended(t, short.Done())
		started = append(started, short)
	}
	if _, err := b.Start(t.Context(), shell(":"), "too-many"); !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, backends.ErrFull) {
		t.Errorf("one too many: %v, want an error that wraps ErrNotStarted and ErrFull", err)
	}
	if tags := b.tags(); len(tags) != most || tags[0] != p.Tag() {
		t.Errorf("known are %v", tags)
	}
	for i, short := range started {
		if text := string(b.log(short, 0).Data); text != fmt.Sprintln(i+1) {
			t.Errorf("%s said %q", short.Tag(), text)
		}
		if err := short.Forget(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := short.Log(t.Context(), 0, 1); err == nil {
			t.Error("what is forgotten has a log still")
		}
	}
	if tags := b.tags(); !slices.Equal(tags, []string{p.Tag()}) {
		t.Errorf("known are %v, want %s alone", tags, p.Tag())
	}
}

// ear writes down what a dialogue says.
type ear struct {
	mu    sync.Mutex
	heard strings.Builder
	lines chan string
}

func newEar() *ear { return &ear{lines: make(chan string, 10_000)} }

func (e *ear) Output(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard.Write(p)
}

func (e *ear) Line(line []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(&e.heard, "<%s>", line)
	e.lines <- string(line)
}

func (e *ear) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard.String()
}

// next is the next line that is said.
func (e *ear) next(t testing.TB) string {
	t.Helper()
	select {
	case line := <-e.lines:
		return line
	case <-time.After(20 * time.Second):
		t.Fatalf("waited in vain for a line; heard %q", e.all())
		return ""
	}
}

// converse starts a dialogue that ends with the test.
func (b box) converse(cmd backends.Command) (backends.Dialogue, *ear) {
	b.t.Helper()
	e := newEar()
	d, err := b.Converse(b.t.Context(), cmd, e)
	if err != nil {
		b.t.Fatalf("starting a dialogue: %v", err)
	}
	b.t.Cleanup(func() {
		if err := d.Kill(context.Background()); err != nil {
			b.t.Errorf("ending a dialogue: %v", err)
		}
	})
	return d, e
}

func dialogueOrder(t *testing.T, b box) {
	d, e := b.converse(shell(`cat; for ((i = 0; i < 300; i++)); do echo "printed $i"; echo "warned $i" >&2; echo "line $i" >&4; done; printf 'no line' >&4; exit 5`))
	ended(t, d.Done())
	if exit := d.Exit(); exit.Code != 5 || exit.Interrupted {
		t.Errorf("ended as %+v", exit)
	}
	var printed strings.Builder
	rest := e.all()
	for i := range 300 {
		before, after, found := strings.Cut(rest, fmt.Sprintf("<line %d>", i))
		printed.WriteString(before)
		rest = after
		if !found || !strings.HasSuffix("\n"+printed.String(), "\n") || !strings.Contains(printed.String(), fmt.Sprintf("warned %d\n", i)) {
			t.Fatalf("line %d came too early or not at all: %.2000q", i, e.all())
		}
	}
	if strings.Contains(e.all(), "no line") {
		t.Error("what is no line was heard as one")
	}
}

func dialogueLines(t *testing.T, b box) {
	d, e := b.converse(argv("python3", "-c", `
import os
with os.fdopen(3, "rb") as r, os.fdopen(4, "wb", 0) as w:
    for line in r:
        if line == b"more\n":
            w.write(b"x" * (9 << 20) + b"\n")
        w.write(line)
`))
	for _, line := range []string{"hello", "", "\x00\xff binary", strings.Repeat("0123456789", 300_000)} {
		if err := d.Say([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if got := e.next(t); got != line {
			t.Errorf("said %d bytes %.60q, heard %d bytes %.60q", len(line), line, len(got), got)
		}
	}
	var all sync.WaitGroup
	want := map[string]bool{}
	for i := range 50 {
		line := fmt.Sprintf("%d %s", i, strings.Repeat("y", 20_000))
		want[line] = true
		all.Go(func() {
			if err := d.Say([]byte(line)); err != nil {
				t.Error(err)
			}
		})
	}
	for range 50 {
		if line := e.next(t); !want[line] {
			t.Errorf("heard %d bytes that nobody said: %.60q", len(line), line)
		}
	}
	all.Wait()
	if err := d.Say([]byte("two\nlines")); err == nil {
		t.Error("two lines were taken as one")
	}
	if err := d.Say([]byte("more")); err != nil {
		t.Error(err)
	}
	ended(t, d.Done())
	if exit := d.Exit(); !exit.Interrupted {
		t.Errorf("after a line without measure, it ended as %+v", exit)
	}
	if err := d.Say([]byte("late")); err == nil {
		t.Error("what has ended hears still")
	}
}

func dialogueBreak(t *testing.T, b box) {
	m := marker()
	d, e := b.converse(argv("python3", "-c", `
import os, subprocess, time
with os.fdopen(3) as r, os.fdopen(4, "w", 1) as w:
    for line in r:
        try:
            subprocess.Popen(["bash", "-c", """`+strings.ReplaceAll(scatter(m), `"`, `\"`)+`"""])
            time.sleep(0.1)
            print("busy", file=w)
            time.sleep(1000)
        except KeyboardInterrupt:
            print("interrupted", file=w)
`))
	for range 2 {
		if err := d.Say([]byte("go")); err != nil {
			t.Fatal(err)
		}
		if line := e.next(t); line != "busy" {
			t.Fatalf("heard %q", line)
		}
		await(t, "what it started is there", func() bool { return len(marked(m)) > scattered })
		if err := d.Break(); err != nil {
			t.Fatal(err)
		}
		if line := e.next(t); line != "interrupted" {
			t.Errorf("heard %q", line)
		}
		await(t, "what it started is gone", func() bool { return len(marked(m)) == 1 }) // its own program holds the marker
	}
}

func dialogueEnds(t *testing.T, b box) {
	m := marker()
	d, e := b.converse(shell(scatter(m) + "echo ready >&4; sleep " + m))
	if line := e.next(t); line != "ready" {
		t.Errorf("heard %q", line)
	}
	if n := b.alive(); n != 0 {
		t.Errorf("%d processes are counted as leftovers", n)
	}
	if err := d.Kill(t.Context()); err != nil {
		t.Error(err)
	}
	if exit := d.Exit(); !exit.Interrupted || exit.Code != 130 {
		t.Errorf("ended as %+v", exit)
	}
	b.nothingLeft(t, m)
	if d.Break() == nil {
		t.Error("what has ended can be broken off")
	}
	late := shell("sleep " + m)
	late.Timeout = 300 * time.Millisecond
	d, _ = b.converse(late)
	ended(t, d.Done())
	if exit := d.Exit(); !exit.TimedOut || exit.Code != 124 {
		t.Errorf("ended as %+v", exit)
	}
	b.nothingLeft(t, m)
}

func dialogueRefused(t *testing.T, b box) {
	if _, err := b.Converse(t.Context(), argv("no-such-program"), newEar()); !errors.Is(err, backends.ErrNotStarted) || !errors.Is(err, backends.ErrUnfit) {
		t.Errorf("error is %v, want one that wraps ErrNotStarted and ErrUnfit", err)
	}
}

func dialogueFiles(t *testing.T, b box) {
	const list = `import os; print(*[fd for fd in range(0, 4096) if os.path.exists(f'/proc/self/fd/{fd}')])`
	d, e := b.converse(argv("python3", "-c", list+`
import subprocess
subprocess.run(["python3", "-c", """`+list+`"""])
print(os.read(0, 1))`))
	ended(t, d.Done())
	if got, want := e.all(), "0 1 2 3 4\n0 1 2\nb''\n"; sorted(got) != sorted(want) {
		t.Errorf("said %q, want %q", got, want)
	}
}

// sorted are the lines of a text in order: what two processes say may mix.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
