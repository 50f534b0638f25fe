package main_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const program = "/.bailiff/runner"

// lent is a machine with the runner in it.
func lent(t *testing.T) *machine.Machine {
	t.Helper()
	m := machine.New(t)
	content, err := os.ReadFile(backendtest.Runner(t))
	if err == nil {
		err = m.WriteFile(program, content, 0o111, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// piped is what a process hears and says.
type piped struct {
	io.Reader
	io.Writer
	process *machine.Process
}

func (p piped) Close() error {
	return errors.Join(p.process.Stdin.Close(), p.process.Stdout.Close(), p.process.Stderr.Close())
}

func start(t *testing.T, m *machine.Machine, argv ...string) piped {
	t.Helper()
	p, err := m.Start(machine.Cmd{Argv: append([]string{program}, argv...), Env: []string{"CLOUD_TOKEN=hidden"}})
	if err != nil {
		t.Fatal(err)
	}
	go func(to io.Writer) { _, _ = io.Copy(to, p.Stderr) }(backendtest.Shown(t))
	return piped{p.Stdout, p.Stdin, p}
}

func attach(t *testing.T, stream io.ReadWriteCloser) *runner.Client {
	t.Helper()
	client, err := runner.Attach(t.Context(), stream, runner.Place{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func says(t *testing.T, client *runner.Client, script string) string {
	t.Helper()
	cmd := runner.Shell(script)
	cmd.HeadBytes, cmd.Timeout = 64<<20, time.Minute
	var out strings.Builder
	exit, err := client.Run(context.Background(), cmd, func(p []byte) { out.Write(p) })
	if err != nil || exit.Dropped > 0 {
		t.Fatalf("%s ended as %+v, %v", script, exit, err)
	}
	return out.String()
}

// posted is a stream whose input goes as files.
type posted struct {
	piped
	*carrier.BatchWriter
}

func (p posted) Write(data []byte) (int, error) { return p.BatchWriter.Write(data) }
func (p posted) Close() error                   { return errors.Join(p.BatchWriter.Close(), p.piped.Close()) }

func post(m *machine.Machine, to piped) posted {
	return posted{to, carrier.NewFileWriter(func(number int, content []byte) error {
		return m.WriteFile("/.bailiff/input/"+carrier.FileName(number), content, 0o600, 0)
	}, func(error) { to.Close() })}
}

// ways are the streams by which a runner in a machine is spoken to.
var ways = map[string]func(*testing.T, *machine.Machine) io.ReadWriteCloser{
	"bytes": func(t *testing.T, m *machine.Machine) io.ReadWriteCloser {
		return start(t, m, "settle", "10000:10000", "confine")
	},
	"text": func(t *testing.T, m *machine.Machine) io.ReadWriteCloser {
		return carrier.Text(start(t, m, "text", "settle", "10000:10000", "confine"))
	},
	"files and text": func(t *testing.T, m *machine.Machine) io.ReadWriteCloser {
		if _, _, err := m.Do(t.Context(), machine.Cmd{Argv: []string{"/bin/mkdir", "-m", "0700", "/.bailiff/input"}}, nil); err != nil {
			t.Fatal(err)
		}
		return carrier.Text(post(m, start(t, m, "files", "/.bailiff/input", "text", "settle", "10000:10000", "confine")))
	},
}

func TestARunnerServesInAMachineByEachWayThereIs(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			m := lent(t)
			client := attach(t, way(t, m))
			for _, c := range []struct{ script, want string }{
				{"echo hello; pwd; echo $HOME", "hello\n/workspace\n/home\n"},
				{"stat -c '%U %a %n' /workspace /home", "UNKNOWN 700 /workspace\nUNKNOWN 700 /home\n"},
				{"echo kept >/workspace/file; echo kept >/home/file; cat /workspace/file /home/file", "kept\nkept\n"},
				{"head -c 3000000 /dev/zero | tr '\\0' x | wc -c", "3000000\n"},
				{"env | cut -d= -f1 | sort | tr '\\n' ' '", "HOME LANG PATH PWD SHELL SHLVL TERM _ "},
			} {
				if out := says(t, client, c.script); out != c.want {
					t.Errorf("%s said %q, want %q", c.script, out, c.want)
				}
			}
			if out := says(t, client, "head -c 2000000 /dev/urandom >f; cat f | base64 -w0"); len(out) != 2666668 {
				t.Errorf("%d bytes came, want 2666668", len(out))
			}
		})
	}
}

func TestWhoHasSettledNeverComesBack(t *testing.T) {
	m := lent(t)
	if _, code, err := m.Do(t.Context(), machine.Cmd{Argv: []string{"/bin/sh", "-c", "cp /usr/bin/dash /suid && chmod 4755 /suid"},
		Env: []string{"PATH=/bin"}}, nil); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	if out, _, _ := m.Do(t.Context(), machine.Cmd{Argv: []string{"/suid", "-p", "-c", "id -u"}, Env: []string{"PATH=/bin"}, User: 1000},
		nil); string(out) != "0\n" {
		t.Fatalf("the program that makes root says %q", out)
	}
	client := attach(t, start(t, m, "settle", "10000:10000", "confine"))
	for _, c := range []struct{ script, want string }{
		{"id -u; id -G", "10000\n10000\n"},
		{"grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' /proc/self/status | tr -s '\\t ' ' '",
			"Uid: 10000 10000 10000 10000\nGid: 10000 10000 10000 10000\nGroups: \n" +
				"CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\nCapAmb: " +
				"0000000000000000\nNoNewPrivs: 1\n"},
		{"/suid -p -c 'id -u'", "10000\n"},
		{"python3 -c 'import os; os.setuid(0)' 2>&1 | tail -n 1", "PermissionError: [Errno 1] Operation not permitted\n"},
		{"python3 -c 'import os; os.setgroups([0])' 2>&1 | tail -n 1", "PermissionError: [Errno 1] Operation not permitted\n"},
		{program + " settle 20000:20000 confine 2>&1", "bailiff-runner: settling: only root can become somebody else\n"},
	} {
		if out := says(t, client, c.script); out != c.want {
			t.Errorf("%s said %q, want %q", c.script, out, c.want)
		}
	}
}

func TestNoCommandReachesWhatCarriesTheStream(t *testing.T) {
	m := lent(t)
	client := attach(t, carrier.Text(start(t, m, "text", "settle", "10000:10000", "confine")))
	carrier, _, _ := m.Do(t.Context(), machine.Cmd{Argv: []string{"/usr/bin/pgrep", "-f", "runner text"}, Env: []string{"PATH=/bin"}}, nil)
	pid := strings.TrimSpace(string(carrier))
	for _, script := range []string{"kill -9 " + pid, "cat /proc/" + pid + "/environ", "echo x >/proc/" + pid + "/fd/0",
		"echo x >/proc/" + pid + "/fd/1"} {
		if out := says(t, client, "("+script+") 2>/dev/null || echo refused"); out != "refused\n" {
			t.Errorf("%s said %q", script, out)
		}
	}
	if out := says(t, client, "echo fine"); out != "fine\n" {
		t.Errorf("then it said %q", out)
	}
}

func TestAHomeThatOthersLiveInIsSharedSafely(t *testing.T) {
	m := lent(t)
	if err := m.WriteFile("/home/default/.bashrc", []byte("theirs"), 0o644, 0); err != nil {
		t.Fatal(err)
	}
	client := attach(t, start(t, m, "settle", "10000:10000", "confine"))
	if out := says(t, client, "echo mine >/home/file && cat /home/file; mv /home/default /home/moved 2>/dev/null || echo refused; rm -rf "+
		"/home/default 2>/dev/null || echo refused"); out != "mine\nrefused\nrefused\n" {
		t.Errorf("it said %q", out)
	}
}

func TestARunnerSaysWhatItCannotBe(t *testing.T) {
	m := lent(t)
	for _, c := range []struct {
		argv []string
		user int
		want string
	}{
		{[]string{"settle", "0:0", "confine"}, 0, "above zero"},
		{[]string{"settle", "10000:0", "confine"}, 0, "above zero"},
		{[]string{"settle", "x", "confine"}, 0, "above zero"},
		{[]string{"settle"}, 0, "no user"},
		{[]string{"settle", "10000:10000", "confine"}, 1000, "only root"},
		{[]string{"files"}, 0, "no folder"},
		{[]string{"files", "/tmp", "confine"}, 0, "mode 0700"},
		{[]string{"files", "/missing", "confine"}, 0, "no such file"},
		{[]string{"confine", "settle"}, 0, "no argument"},
		{[]string{"nonsense"}, 0, "no argument"},
	} {
		out, code, err := m.Do(t.Context(), machine.Cmd{Argv: append([]string{program}, c.argv...), User: c.user}, nil)
		if err != nil || code != 125 || !strings.Contains(string(out), c.want) {
			t.Errorf("%q said %q and ended with %d, %v; want it to speak of %q", c.argv, out, code, err, c.want)
		}
	}
}

func TestTheEndOfTheRunnerIsTheEndOfItsCarrier(t *testing.T) {
	m := lent(t)
	carried := start(t, m, "text", "settle", "10000:10000", "confine")
	client := attach(t, carrier.Text(carried))
	if out := says(t, client, "sleep 1000 >/dev/null 2>&1 & echo started"); out != "started\n" {
		t.Fatalf("it said %q", out)
	}
	client.Close()
	awaittest.Value(t, "the end of the carrier", carried.process.Done())
	backendtest.Await(t, "what it started is gone", func() bool {
		_, code, _ := m.Do(t.Context(), machine.Cmd{Argv: []string{"/usr/bin/pgrep", "-f", "sleep 1000"}, Env: []string{"PATH=/bin"}}, nil)
		return code == 1
	})
}
