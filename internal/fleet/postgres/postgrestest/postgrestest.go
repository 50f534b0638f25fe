// Package postgrestest starts a PostgreSQL for tests: one cluster in a folder of its own, which
// is reached by a Unix socket there.
//
// Not here: what a sidecar makes of it (internal/fleet/postgres).
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Server is a PostgreSQL. It ends with its test.
type Server struct {
	// Dir holds the cluster and its socket.
	Dir string

	bin     string
	as      *syscall.SysProcAttr
	running *exec.Cmd
	ended   chan struct{} // closed when it is
}

// Start starts a server, or skips the test where there is none.
func Start(tb testing.TB) *Server {
	tb.Helper()
	bin, err := programs()
	backendtest.Needs(tb, "PostgreSQL", err)
	s := &Server{bin: bin}
	s.as, err = account()
	backendtest.Needs(tb, "a user to run PostgreSQL as", err)
	if s.Dir, err = os.MkdirTemp("", "postgres"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(s.Dir) })
	if c := s.as.Credential; c != nil {
		if err := os.Chown(s.Dir, int(c.Uid), int(c.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.makeCluster(); err != nil {
		tb.Fatal(err)
	}
	s.Run(tb)
	tb.Cleanup(s.Kill)
	s.makeTables(tb)
	return s
}

// temporary is where the temporary folder was before a test had another one.
var temporary = os.TempDir()

// makeCluster copies what initdb makes, which takes a fifth of its time. It makes that once a machine, for each user and
// version.
func (s *Server) makeCluster() error {
	kept := filepath.Join(temporary, fmt.Sprintf("bailiff-postgres-%d%s", os.Getuid(), strings.ReplaceAll(s.bin, "/", "-")))
	if _, err := os.Stat(kept); err != nil {
		made := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale",
			"--wal-segsize=1")
		if out, err := made.CombinedOutput(); err != nil {
			return fmt.Errorf("initdb: %w\n%s", err, out)
		}
		_ = os.Rename(s.data(), kept) // unless another test was faster, or it is another disk
	}
	if _, err := os.Stat(s.data()); err == nil {
		return nil
	}
	copied := exec.Command("cp", "-a", kept, s.data())
	copied.SysProcAttr = s.as
	if out, err := copied.CombinedOutput(); err != nil {
		return fmt.Errorf("copying an empty cluster: %w\n%s", err, out)
	}
	return nil
}

// programs is the folder of the newest version's programs.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // beside it there is all that belongs to it
			found = append(found, path)
		}
	}
	if found == nil {
		return "", errors.New("no /usr/lib/postgresql/*/bin/postgres: install Debian's package postgresql")
	}
	return filepath.Dir(slices.Max(found)), nil
}

// account is another user's for root, as whom PostgreSQL does not run.
func account() (*syscall.SysProcAttr, error) {
	as := &syscall.SysProcAttr{}
	if os.Geteuid() != 0 {
		return as, nil
	}
	other, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.ParseUint(other.Uid, 10, 32)
	gid, _ := strconv.ParseUint(other.Gid, 10, 32)
	as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return as, nil
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir = s.as, s.Dir
	return cmd
}

// Run starts the server, anew after [Server.Kill], and waits until it answers.
func (s *Server) Run(tb testing.TB) {
	tb.Helper()
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	s.running = s.command("postgres", "-D", s.data(), "-k", s.Dir, "-c", "listen_addresses=", "-c", "max_connections=200",
		"-c", "fsync=off", "-c", "shared_preload_libraries=pg_stat_statements")
	s.running.SysProcAttr = &syscall.SysProcAttr{Credential: s.as.Credential, Pdeathsig: syscall.SIGKILL}
	s.running.Stdout, s.running.Stderr = log, log
	if err := s.start(); err != nil {
		tb.Fatal(err)
	}
	for end := awaittest.End(tb); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(tb.Context(), s.DSN("postgres"))
		if err == nil {
			_ = conn.Close(tb.Context())
			return
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			tb.Fatalf("PostgreSQL does not answer: %v\n%s", err, text)
		}
	}
}

// start starts the server on a thread that lasts as long as it: by Pdeathsig it ends with the thread
// that started it, and threads end by themselves where sandboxes are made: for no other program is that asked.
func (s *Server) start() error {
	started, ended := make(chan error, 1), make(chan struct{})
	s.ended = ended
	go func(running *exec.Cmd) {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := running.Start()
		started <- err
		if err == nil {
			_ = running.Wait()
		}
	}(s.running)
	return <-started
}

// Standby is a copy of the server that follows it, in a folder of its own. It ends with its test.
func (s *Server) Standby(tb testing.TB) *Server {
	tb.Helper()
	copied := &Server{bin: s.bin, as: s.as}
	var err error
	if copied.Dir, err = os.MkdirTemp("", "standby"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(copied.Dir) })
	if c := s.as.Credential; c != nil {
		if err := os.Chown(copied.Dir, int(c.Uid), int(c.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	out, err := s.command("pg_basebackup", "-D", copied.data(), "-h", s.Dir, "-U", "postgres", "-R", "--no-sync", "-c", "fast").
		CombinedOutput()
	if err != nil {
		tb.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	copied.Run(tb)
	tb.Cleanup(copied.Kill)
	return copied
}

// Follows waits until a standby has all that was committed at the server.
func (s *Server) Follows(tb testing.TB, primary *Server) {
	tb.Helper()
	position := primary.Number(tb, "postgres", "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint")
	for end := awaittest.End(tb); s.Number(tb, "postgres", "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint") < position; {
		if time.Now().After(end) {
			tb.Fatal("the standby does not follow")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Promote has a standby be a server of its own.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	if out, err := s.command("pg_ctl", "-D", s.data(), "-w", "promote").CombinedOutput(); err != nil {
		tb.Fatalf("promoting the standby: %v\n%s", err, out)
	}
}

func (s *Server) signal(signal syscall.Signal) { _ = s.running.Process.Signal(signal) }

// Stop stops the server and then all its processes but one, those too that serve a connection that is being made: once
// it has stopped, it makes no more of them.
func (s *Server) Stop(tb testing.TB, but int) (goOn func()) {
	tb.Helper()
	main := s.running.Process.Pid
	s.signal(syscall.SIGSTOP)
	awaittest.Until(tb, "the server to stop", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", main))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", main, main))
	if err != nil {
		tb.Fatal(err)
	}
	var stopped []int
	for _, field := range strings.Fields(string(text)) {
		if pid, _ := strconv.Atoi(field); pid != but {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			stopped = append(stopped, pid)
		}
	}
	return func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		s.signal(syscall.SIGCONT)
	}
}

// Kill ends the server and its connections at once.
func (s *Server) Kill() {
	if s.running == nil {
		return
	}
	s.signal(syscall.SIGCONT)
	s.signal(syscall.SIGQUIT) // without a checkpoint, as if it had crashed
	<-s.ended
	s.running = nil
}

// DSN is a connection string of a database.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("host=%s user=postgres dbname=%s", s.Dir, database)
}

const database = "bailiff"

func (s *Server) makeTables(tb testing.TB) {
	tb.Helper()
	s.Exec(tb, "postgres", "CREATE DATABASE "+database)
	db, err := postgres.Open(tb.Context(), postgres.Config{DSN: bailiff.NewSecret(s.DSN(database))})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// Empty empties the one database, and returns its connection string. What had it open before is
// of no use any more.
func (s *Server) Empty(tb testing.TB) string {
	tb.Helper()
	sql := "UPDATE bailiff.state SET freezes = 0"
	for _, table := range []string{"replicas", "claims", "approvals", "grants", "freezes", "outbox", "moved", "homes", "requests", "duties",
		"log_heads"} {
		sql += "; DELETE FROM bailiff." + table // which makes no file anew, as TRUNCATE does for each table and index
	}
	s.Exec(tb, database, sql)
	return s.DSN(database)
}

// Exec executes a statement as the owner of all.
func (s *Server) Exec(tb testing.TB, database, sql string) {
	tb.Helper()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(tb.Context()), awaittest.End(tb))
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN(database))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		tb.Fatal(err)
	}
}

// Number is the one that a query finds.
func (s *Server) Number(tb testing.TB, database, sql string) (n int) {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), s.DSN(database))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(tb.Context())
	if err := conn.QueryRow(tb.Context(), sql).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}
