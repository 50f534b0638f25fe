package machine_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

func says(t *testing.T, m *machine.Machine, user int, script string) string {
	t.Helper()
	out, _, err := m.Do(context.Background(), machine.Cmd{Argv: []string{"/bin/bash", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin:/usr/sbin"}, User: user}, nil)
	backendtest.Must(t, err)
	return string(out)
}

func TestAMachineIsApartFromThisOne(t *testing.T) {
	m := machine.New(t)
	outside := filepath.Join(t.TempDir(), "outside")
	backendtest.Must(t, os.WriteFile(outside, nil, 0o644))
	for _, c := range []struct{ script, want string }{
		{"id -u; hostname", "0\nmachine\n"},
		{"ls " + outside + " 2>/dev/null || echo none", "none\n"},
		{"ls -d /workspace 2>/dev/null || echo none", "none\n"},
		{"[[ $(ls /proc | grep -c '^[0-9]') -lt 10 ]] && echo few processes", "few processes\n"},
		{"touch /usr/x 2>/dev/null || echo read-only", "read-only\n"},
		{"touch /x /etc/x && echo written", "written\n"},
		{"ls /sys/class/net 2>/dev/null; cut -d: -f1 -s /proc/net/dev | tr -d ' '", "lo\n"},
		{"cat /proc/self/uid_map | tr -s ' '", " 0 100000 65536\n"},
		{"python3 -c 'print(6*7)'", "42\n"},
	} {
		if out := says(t, m, 0, c.script); out != c.want {
			t.Errorf("%s said %q, want %q", c.script, out, c.want)
		}
	}
	if out := says(t, m, 1000, "id -u; id -G; touch /x2 2>/dev/null || echo refused"); out != "1000\n1000\nrefused\n" {
		t.Errorf("a user of it said %q", out)
	}
}

func TestAProgramOfAMachineHasWhatItIsGiven(t *testing.T) {
	m := machine.New(t)
	p, err := m.Start(machine.Cmd{Argv: []string{"/usr/bin/env"}, Env: []string{"ONE=1"}})
	backendtest.Must(t, err)
	if out, _ := io.ReadAll(p.Stdout); string(out) != "ONE=1\n" {
		t.Errorf("its variables are %q", out)
	}
	p, err = m.Start(machine.Cmd{Argv: []string{"/bin/sh", "-c", "pwd; cat; echo to the side >&2; exit 3"}, Dir: "/tmp"})
	backendtest.Must(t, err)
	_, _ = io.WriteString(p.Stdin, "hello\n")
	p.Stdin.Close()
	out, _ := io.ReadAll(p.Stdout)
	side, _ := io.ReadAll(p.Stderr)
	if code := p.Wait(); code != 3 || string(out) != "/tmp\nhello\n" || string(side) != "to the side\n" {
		t.Errorf("it said %q and %q and ended with %d", out, side, code)
	}
	p, err = m.Start(machine.Cmd{Argv: []string{"/bin/sleep", "1000"}})
	backendtest.Must(t, err)
	backendtest.Await(t, "it runs", func() bool { return says(t, m, 0, "pgrep -c sleep") == "1\n" })
	p.Kill()
	if code := p.Wait(); code != 137 {
		t.Errorf("killed, it ended with %d", code)
	}
	backendtest.Await(t, "it is gone", func() bool { return says(t, m, 0, "pgrep -c sleep") == "0\n" })
	says(t, m, 0, "for i in 1 2 3; do (sleep 0.01 &) ; done")
	backendtest.Await(t, "what was left to its first process is reaped", func() bool { return says(t, m, 0, "pgrep -c sleep") == "0\n" })
}

func TestTheFilesOfAMachineCanBeTakenToAnother(t *testing.T) {
	m := machine.New(t)
	backendtest.Must(t, m.WriteFile("/var/deep/file", []byte("kept"), 0o640, 0))
	if err := m.WriteFile("/etc/not-yours", nil, 0o640, 1000); err == nil {
		t.Error("a user wrote to a folder of root's")
	}
	says(t, m, 0, "chown 10000:10000 /var/deep/file")
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	backendtest.Must(t, m.Snapshot(snapshot))
	m.Stop()
	again := machine.Restore(t, snapshot)
	if out := says(t, again, 0, "stat -c '%u:%g %a' /var/deep/file; ls -a / | grep -c outside"); out != "10000:10000 640\n0\n" {
		t.Errorf("its files are %q", out)
	}
	if content, err := again.ReadFile("/var/deep/file"); err != nil || !strings.Contains(string(content), "kept") {
		t.Errorf("the file holds %q, %v", content, err)
	}
}
