package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// dialogueChecks are those of commands that talk with their caller.
func dialogueChecks() []check {
	return []check{
		promise("A dialogue hears what was printed before each line", onRunner, dialogueOrder),
		promise("A dialogue carries lines of any length both ways", OnStream, dialogueLines),
		promise("Many may speak in a dialogue at once", onRunner, dialogueTogether),
		promise("A line without measure ends its dialogue", onRunner, dialogueTooLong),
		promise("A dialogue that is broken off goes on", onRunner, dialogueBreak),
		promise("A dialogue ends with all that it started", onRunner, dialogueEnds),
		promise("A dialogue that cannot start is refused", onRunner, dialogueRefused),
		promise("Only a dialogue has more than three files, and its children none of them", onRunner, dialogueFiles),
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
	case <-Late(t):
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
	d, e := b.converse(shell(`cat; for ((i = 0; i < 300; i++)); do echo "printed $i"; echo "warned $i" >&2; echo "line $i" >&4; done; ` +
		`printf 'no line' >&4; exit 5`))
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

// echo is a program that says each line that it hears, and after "more" one that is
// too long.
const echo = `
import os
with os.fdopen(3, "rb") as r, os.fdopen(4, "wb", 0) as w:
    for line in r:
        if line == b"more\n":
            w.write(b"x" * (9 << 20) + b"\n")
        w.write(line)
`

func dialogueLines(t *testing.T, b box) {
	d, e := b.converse(argv("python3", "-c", echo))
	for _, line := range []string{"hello", "", "\x00\xff binary", strings.Repeat("0123456789", 300_000)} {
		Must(t, d.Say([]byte(line)))
		if got := e.next(t); got != line {
			t.Errorf("said %d bytes %.60q, heard %d bytes %.60q", len(line), line, len(got), got)
		}
	}
	if err := d.Say([]byte("two\nlines")); err == nil {
		t.Error("two lines were taken as one")
	}
}

func dialogueTogether(t *testing.T, b box) {
	d, e := b.converse(argv("python3", "-c", echo))
	var all sync.WaitGroup
	want := map[string]bool{}
	for i := range 50 {
		line := fmt.Sprintf("%d %s", i, strings.Repeat("y", 20_000))
		want[line] = true
		all.Go(func() {
			NoError(t, d.Say([]byte(line)))
		})
	}
	for range 50 {
		line := e.next(t)
		if !want[line] {
			t.Errorf("heard %d bytes that nobody said: %.60q", len(line), line)
		}
		delete(want, line)
	}
	all.Wait()
}

func dialogueTooLong(t *testing.T, b box) {
	d, _ := b.converse(argv("python3", "-c", echo))
	NoError(t, d.Say([]byte("more")))
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
            print("busy", file=w)
            time.sleep(1000)
        except KeyboardInterrupt:
            print("interrupted", file=w)
`))
	for range 2 {
		Must(t, d.Say([]byte("go")))
		if line := e.next(t); line != "busy" {
			t.Fatalf("heard %q", line)
		}
		Await(t, "what it started is there", func() bool { return len(b.marked(m)) > scattered })
		Must(t, d.Break())
		if line := e.next(t); line != "interrupted" {
			t.Errorf("heard %q", line)
		}
		Await(t, "what it started is gone", func() bool { return len(b.marked(m)) == 1 }) // its own program holds the marker
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
	NoError(t, d.Kill(t.Context()))
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
	if _, err := b.Converse(t.Context(), argv("no-such-program"), newEar()); !errors.Is(err, backends.ErrNotStarted) ||
		!errors.Is(err, backends.ErrUnfit) {
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
