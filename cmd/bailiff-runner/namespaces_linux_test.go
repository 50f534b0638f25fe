package main_test

import (
	"bufio"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// service is one of the machine's own, which asks nobody who they are.
const service = `
import socket
s = socket.create_server(("127.0.0.1", 2280))
print("up", flush=True)
while True:
    s.accept()[0].sendall(b"root at your service")
`

const reachService = `python3 -c '
import socket
try:
    print(socket.create_connection(("127.0.0.1", 2280), 5).recv(99).decode())
except OSError as e:
    print(e.strerror)'`

func TestWhoIsKeptApartMeetsNothingElseOfTheMachine(t *testing.T) {
	m := lent(t)
	served, err := m.Start(machine.Cmd{Argv: []string{"/usr/bin/python3", "-c", service}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Kill)
	if said, err := bufio.NewReader(served.Stdout).ReadString('\n'); said != "up\n" {
		t.Fatal(said, err)
	}
	beside := attach(t, start(t, m, "settle", "10000:10000", "confine"))
	if out := says(t, beside, reachService); out != "root at your service\n" {
		t.Fatalf("beside the service a command hears %q: there is nothing to be kept from", out)
	}
	apart := attach(t, start(t, m, "apart", "network", "settle", "10000:10000", "confine"))
	for _, c := range []struct{ script, want string }{
		{reachService, "Connection refused\n"},
		{"cat /proc/net/dev | sed 1,2d | cut -d: -f1 | tr -d ' '", "lo\n"},
		{"stat -c %u /proc/[0-9]* | sort -u", "10000\n"},
		{"readlink /proc/1/exe >/dev/null || echo closed", "closed\n"},
		{"python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname()); " +
			"print(\"its own\")'", "its own\n"},
		{"echo 1 2>/dev/null >/proc/sys/kernel/ns_last_pid || echo closed", "closed\n"},
		{"kill -9 -1", ""},
		{"echo still there", "still there\n"},
	} {
		if out := says(t, apart, c.script); out != c.want {
			t.Errorf("%s said %q, want %q", c.script, out, c.want)
		}
	}
	if out := says(t, beside, "echo still there"); out != "still there\n" {
		t.Errorf("beside it all a command said %q", out)
	}
}

func TestAClosedRootIsWritableInItsFoldersOnly(t *testing.T) {
	m := lent(t)
	if _, code, err := m.Do(t.Context(), machine.Cmd{Argv: []string{"/bin/sh", "-c", "mkdir -m 1777 /opt/all && echo x >/run/x.sock"},
		Env: []string{"PATH=/bin"}}, nil); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	client := attach(t, start(t, m, "apart", "root", "settle", "10000:10000", "confine"))
	writable := slices.DeleteFunc(slices.Clone(workdirs.Writable), func(folder string) bool { return folder == workdirs.Root })
	for _, c := range []struct{ script, want string }{
		{"for d in " + strings.Join(writable, " ") + "; do echo x >$d/x && cat $d/x; done", strings.Repeat("x\n", len(writable))},
		{"for d in /opt/all / /etc /dev /.bailiff; do echo x 2>/dev/null >$d/x || echo closed; done", strings.Repeat("closed\n", 5)},
		{"ls /run; echo x >/dev/null; head -c 2 /dev/zero | wc -c", "x\n2\n"},
	} {
		if out := says(t, client, c.script); out != c.want {
			t.Errorf("%s said %q, want %q", c.script, out, c.want)
		}
	}
	if _, err := m.ReadFile("/run/x.sock"); err != nil {
		t.Errorf("outside there is something missing: %v", err)
	}
	open := attach(t, start(t, lent(t), "apart", "", "settle", "10000:10000", "confine"))
	if out := says(t, open, "echo x >/var/tmp/x; ls -d /run /opt"); out != "/opt\n/run\n" {
		t.Errorf("where the root is not closed, it said %q", out)
	}
}

func TestProcessesAreBoundedWhereTheyAreKeptApart(t *testing.T) {
	client := attach(t, start(t, lent(t), "apart", "pids=100", "settle", "10000:10000", "confine"))
	const many = `
import os, time
made = 0
try:
    while made < 200:
        if os.fork() == 0:
            time.sleep(1000)
        made += 1
except BlockingIOError:
    print("refused")`
	if out := says(t, client, "python3 -c '"+many+"'"); out != "refused\n" {
		t.Errorf("of 200 processes, where 100 may be, it said %q", out)
	}
	if err := client.Kill(t.Context()); err != nil {
		t.Error(err)
	}
	if out := says(t, client, "ulimit -u 200 2>/dev/null || echo not to be raised"); out != "not to be raised\n" {
		t.Errorf("raising the bound said %q", out)
	}
}

func TestTheEndOfAPlaceApartIsTheEndOfAllInIt(t *testing.T) {
	m := lent(t)
	stream := start(t, m, "apart", "network", "settle", "10000:10000", "confine")
	client := attach(t, stream)
	says(t, client, "setsid sleep 87654321 >/dev/null 2>&1 &")
	there := func() bool {
		out, _, err := m.Do(t.Context(), machine.Cmd{Argv: []string{"/usr/bin/pgrep", "-fc", "^sleep 87654321"}}, nil)
		return err == nil && strings.TrimSpace(string(out)) != "0"
	}
	backendtest.Await(t, "a process is there", there)
	stream.process.Kill() // which looks after the place, from outside
	<-client.Done()
	backendtest.Await(t, "the process is gone", func() bool { return !there() })
}

func TestARunnerSaysWhatItCannotBeKeptFrom(t *testing.T) {
	m := lent(t)
	for _, c := range []struct {
		argv []string
		user int
		want string
	}{
		{[]string{"apart"}, 0, "nothing says from what"},
		{[]string{"apart", "weather", "settle", "10000:10000"}, 0, `"weather" is nothing to be kept from`},
		{[]string{"apart", "pids=0", "settle", "10000:10000"}, 0, `"0" is no number of processes`},
		{[]string{"apart", "network", "settle", "10000:10000"}, 1000, "needs a root that may make namespaces"},
		{[]string{"first", "network", "settle", "10000:10000"}, 0, "is for the first process"},
	} {
		out, code, err := m.Do(t.Context(), machine.Cmd{Argv: append([]string{program}, c.argv...), User: c.user}, nil)
		if err != nil || code != 125 || !strings.Contains(string(out), c.want) {
			t.Errorf("%q ended with %d, %v and said %q, want %q", c.argv, code, err, out, c.want)
		}
	}
}
