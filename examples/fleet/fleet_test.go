// Package fleet_test sets up the fleet of this folder as an operator does, with a real PostgreSQL and two sidecars.
package fleet_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// machines are two, in folders of one.
type machines struct {
	t      *testing.T
	server *postgrestest.Server
	folder string
}

// path is what a path of an example's machine is here.
func (m *machines) path(name, path string) string { return filepath.Join(m.folder, name, path) }

// write writes a file of a machine, for its owner alone.
func (m *machines) write(name, path, text string) string {
	m.t.Helper()
	at := m.path(name, path)
	backendtest.Must(m.t, os.MkdirAll(filepath.Dir(at), 0o755))
	backendtest.Must(m.t, os.WriteFile(at, []byte(text), 0o600))
	return at
}

// configure writes the example's configuration for a machine that is a folder.
func (m *machines) configure(name string) {
	m.t.Helper()
	text, err := os.ReadFile(name + ".yaml")
	backendtest.Must(m.t, err)
	address := porttest.Address(m.t)
	m.write(name, "etc/bailiff/bailiff.yaml", strings.NewReplacer(
		"/var/lib/bailiff", m.path(name, "state"), "/run/bailiff", m.path(name, "run"), "/etc/bailiff", m.path(name, "etc/bailiff"),
		"0.0.0.0:7411", address, name+".example.com:7411", address, "docker: {}",
		"bubblewrap: {accept_missing_limits: [cpus, memory_mb, pids]}", ", uids: [1001]", "", ", uids: [0, 1000]", "",
	).Replace(string(text))+"metrics: {listen: \"\"}\n")
	m.write(name, "etc/bailiff/postgres.dsn", "host="+m.server.Dir+" user=bailiff dbname=bailiff\n")
}

// bailiff runs a command line on a machine, and returns what it prints and its exit status.
func (m *machines) bailiff(name string, args ...string) (printed string, status int) {
	m.t.Helper()
	cmd := exec.Command(filepath.Join(apptest.Programs(m.t), "bailiff"), args...)
	cmd.Env = append(os.Environ(), "BAILIFF_CONFIG="+m.path(name, "etc/bailiff/bailiff.yaml"))
	text, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		m.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (m *machines) says(want string, status int, name string, args ...string) {
	m.t.Helper()
	if printed, got := m.bailiff(name, args...); got != status || !strings.Contains(printed, want) {
		m.t.Fatalf("bailiff %s: status %d, want %d and %q:\n%s", strings.Join(args, " "), got, status, want, printed)
	}
}

// serve starts a machine's sidecar, which is stopped in order.
func (m *machines) serve(name string) {
	m.t.Helper()
	cmd := exec.Command(filepath.Join(apptest.Programs(m.t), "bailiff"), "serve")
	cmd.Env = append(os.Environ(), "BAILIFF_CONFIG="+m.path(name, "etc/bailiff/bailiff.yaml"))
	log := &strings.Builder{}
	cmd.Stderr = log
	backendtest.Must(m.t, cmd.Start())
	m.t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			m.t.Errorf("sidecar %s: %v\n%s", name, err, log)
		}
	})
	m.says("lives", 0, name, "status", "--wait", "1m")
}

func TestTwoMachinesBecomeAFleet(t *testing.T) {
	m := &machines{t: t, server: postgrestest.Start(t), folder: apptest.OpenDir(t)}
	m.server.Exec(t, "postgres", "DROP DATABASE bailiff")
	out, err := exec.Command("psql", "-v", "ON_ERROR_STOP=1", "-h", m.server.Dir, "-U", "postgres", "-f", "setup.sql", "postgres").
		CombinedOutput()
	if err != nil {
		t.Fatalf("setup.sql: %v\n%s", err, out)
	}
	owner := m.write("", "owner.dsn", "host="+m.server.Dir+" user=bailiff_owner dbname=bailiff\n")
	certificates := m.path("", "peers")
	m.says("peers-ca.key away", 0, "bailiff-0", "fleet", "certificates", "--dir", certificates, "bailiff-0=127.0.0.1",
		"bailiff-1=127.0.0.1")
	names := []string{"bailiff-0", "bailiff-1"}
	for _, name := range names {
		m.configure(name)
		for _, file := range []string{"peers-ca.pem", name + ".pem", name + ".key"} {
			text, err := os.ReadFile(filepath.Join(certificates, file))
			backendtest.Must(t, err)
			m.write(name, "etc/bailiff/"+file, string(text))
		}
		m.write(name, "etc/bailiff/postgres-ca.pem", read(t, filepath.Join(certificates, "peers-ca.pem")))
	}

	m.says("give the connection string of one that may with --dsn-file", 1, names[0], "store", "migrate")
	m.says("The tables are made; 0 approvals were moved.", 0, names[0], "store", "migrate", "--dsn-file", owner)
	m.says("The tables were up to date; 0 approvals were moved.", 0, names[0], "store", "migrate")
	m.says("The tables were up to date; 0 approvals were moved.", 0, names[1], "store", "migrate", "--dsn-file", owner)
	m.server.Exec(t, "bailiff", "SET ROLE bailiff_owner; CREATE TABLE bailiff.later (one int); CREATE SEQUENCE bailiff.later_numbers")
	if m.server.Number(t, "bailiff", `SELECT (has_table_privilege('bailiff', 'bailiff.later', 'INSERT') AND
		has_sequence_privilege('bailiff', 'bailiff.later_numbers', 'USAGE'))::int`) != 1 {
		t.Error("the sidecars' user may not use what a later migration makes")
	}

	for _, name := range names {
		m.serve(name)
	}
	for _, name := range names { // a session is served by one of them, whichever is asked
		m.says("one\n", 0, name, "exec", "--platform", "telegram", "--user", "42", "--session", "s1", "--",
			"cat /tmp/kept || echo one > /tmp/kept; cat /tmp/kept")
	}
	m.says("frozen: session s1", 0, names[0], "freeze", "--session", "s1")
	m.says("froze this session", 126, names[1], "exec", "--platform", "telegram", "--user", "42", "--session", "s1", "--", "true")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	backendtest.Must(t, err)
	return string(text)
}
