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
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// backgroundChecks are those of commands that outlive the call that starts them.
func backgroundChecks() []check {
	return []check{
		promise("A background command's output is kept and read from anywhere", onRunner, backgroundLog),
		promise("A log holds what was written last", OnPlace, backgroundTail),
		promise("A background command that nobody reads runs on", onRunner, backgroundUnread),
		promise("A background command reads what is written to it", onRunner, backgroundInput),
		promise("A background command ends with all that it started", OnPlace, backgroundEnds),
		promise("A background command is no leftover and hears of none", onRunner, backgroundApart),
		promise("A background command that cannot start is refused", onRunner, backgroundRefused),
		promise("Background commands are remembered until they are forgotten", onRunner, backgroundForgotten),
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
	Await(b.t, "the log holds "+text, func() bool { return strings.Contains(string(b.log(p, 0).Data), text) })
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
	Must(t, p.Write(t.Context(), []byte("\n")))
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

// numbered is what "seq 1000001 …" prints, 8 bytes a line. With a format seq would take a hundred times as long.
func numbered(n int) []byte {
	var all bytes.Buffer
	for i := range n {
		fmt.Fprintf(&all, "%d\n", 1_000_001+i)
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
				p := b.in(t).start(fmt.Sprintf(`seq 1000001 %d; read`, 1_000_000+c.lines))
				Await(t, "all is written", func() bool {
					piece, err := p.Log(t.Context(), 0, 0)
					return err == nil && piece.Written == int64(len(all))
				})
				if over {
					NoError(t, p.CloseInput(t.Context()))
					ended(t, p.Done())
				}
				piece := b.log(p, 0)
				if len(piece.Data) < c.least || piece.Written != int64(len(all)) || int(piece.From)+len(piece.Data) != len(all) ||
					!bytes.Equal(piece.Data, all[piece.From:]) {
					t.Errorf("over: %t: %d bytes from %d on of %d, want at least %d, the last ones", over, len(piece.Data), piece.From,
						piece.Written, c.least)
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
		Must(t, p.Write(t.Context(), data))
	}
	b.awaitLog(p, "got beginning\n")
	Must(t, p.CloseInput(t.Context()))
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
			Await(t, "all is started", func() bool { return len(b.marked(m)) > scattered })
			NoError(t, p.Kill(t.Context()))
			return p
		},
		"timed out": func(m string) backends.Process {
			return b.start(scatter(m)+"sleep "+m, func(c *backends.Command) { c.Timeout = 500 * time.Millisecond })
		},
		"ended by itself, then killed": func(m string) backends.Process {
			p := b.start(scatter(m) + "exit 3")
			ended(t, p.Done())
			NoError(t, p.Kill(t.Context()))
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, other := marker(), marker()
			b.start("sleep " + other)
			p := end(m)
			ended(t, p.Done())
			want := map[string]backends.Exit{"killed": {Code: 130, Interrupted: true}, "timed out": {Code: 124, TimedOut: true}}
			exit := p.Exit()
			exit.Duration = 0
			if wanted, told := want[name]; told && exit != wanted {
				t.Errorf("ended as %+v, want %+v", exit, wanted)
			}
			b.nothingLeft(t, m)
			Await(t, "the other background command is there", func() bool { return len(b.marked(other)) == 1 })
		})
	}
}

func backgroundApart(t *testing.T, b box) {
	m := marker()
	b.start("(setsid sleep " + m + " &); sleep " + m)
	Await(t, "both are there", func() bool { return len(b.marked(m)) == 2 })
	b.run(shell("sleep " + m + " & disown"))
	Await(t, "the leftover is there", func() bool { return len(b.marked(m)) == 3 })
	if n := b.alive(); n != 1 {
		t.Errorf("%d processes are counted, want the leftover alone", n)
	}
	NoError(t, b.Kill(t.Context()))
	// Awaited, since a process that is just being replaced by its program shows no arguments.
	Await(t, "the background command's two alone are there", func() bool { return len(b.marked(m)) == 2 })
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
	Must(b.t, err)
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
		Must(t, err)
		ended(t, short.Done())
		started = append(started, short)
	}
	if _, err := b.Start(t.Context(), shell(":"), "too-many"); !errors.Is(err, backends.ErrNotStarted) ||
		!errors.Is(err, backends.ErrFull) {
		t.Errorf("one too many: %v, want an error that wraps ErrNotStarted and ErrFull", err)
	}
	if tags := b.tags(); len(tags) != most || tags[0] != p.Tag() {
		t.Errorf("known are %v", tags)
	}
	for i, short := range started {
		if text := string(b.log(short, 0).Data); text != fmt.Sprintln(i+1) {
			t.Errorf("%s said %q", short.Tag(), text)
		}
		NoError(t, short.Forget(t.Context()))
		if _, err := short.Log(t.Context(), 0, 1); err == nil {
			t.Error("what is forgotten has a log still")
		}
	}
	if tags := b.tags(); !slices.Equal(tags, []string{p.Tag()}) {
		t.Errorf("known are %v, want %s alone", tags, p.Tag())
	}
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
