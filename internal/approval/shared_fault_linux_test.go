package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// backends are the processes that serve the sidecars, as an operator of PostgreSQL sees them.
const backends = "FROM pg_stat_activity WHERE application_name = 'bailiff'"

func operator(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.DSN("postgres"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// TestWhatFailsAtPostgreSQL harms the server, and wants nothing to be granted meanwhile, and all to go on by
// itself afterwards.
func TestWhatFailsAtPostgreSQL(t *testing.T) {
	server = postgrestest.Start(t)
	for name, test := range map[string]func(*testing.T){"a server without an answer": serverFails,
		"connections that end in the midst of steps": connectionsEnd, "a full disk": fullDisk} {
		t.Run(name, test)
	}
}

// A server of which a sidecar gets no answer grants nothing, and all goes on by itself afterwards.
func serverFails(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(*testing.T) (mend func())
		says string
	}{
		"its processes are stopped":   {stoppedServer, "PostgreSQL"},
		"others have all connections": {takenServer, "too many clients"},
	} {
		t.Run(name, func(t *testing.T) {
			server.Empty(t)
			f := sharedBook(t)
			c1, c2 := claim("rm", "x"), claim("rm 2", "y")
			f.approve(f.ask(c1), "ana", "once")
			f.approve(f.ask(c2), "ana", "session")
			mend := c.harm(t)
			awaittest.Until(t, "freezing all", func() bool {
				_, frozen := f.Frozen(bailiff.Session{ID: "s1"})
				return frozen && f.Err() != nil
			})
			_, granted, err := f.Redeem(t.Context(), c1)
			if granted || !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "PostgreSQL") {
				t.Errorf("granted %v, %v", granted, err)
			}
			reason, _ := f.Frozen(bailiff.Session{ID: "s1"})
			for _, told := range []string{reason, err.Error()} {
				if strings.Contains(told, "user=") || strings.Contains(told, server.Dir) || strings.Contains(told, "too many clients") {
					t.Errorf("agents are told %s", told)
				}
			}
			if why := postgres.Detail(f.Err()); !strings.Contains(why, c.says) {
				t.Errorf("operators are told %s, want %s", why, c.says)
			}
			if a, err := f.Ask(t.Context(), claim("rm 3", "z")); !errors.Is(err, ErrStore) || f.Covered(c2) {
				t.Errorf("asked %+v, %v; another is covered: %v", a, err, f.Covered(c2))
			}
			mend()
			awaittest.Until(t, "going on", func() bool { return f.Err() == nil })
			if used := []bool{f.redeem(c1), f.redeem(c1), f.redeem(c2)}; !slices.Equal(used, []bool{true, false, true}) {
				t.Errorf("what was approved once, the same again, and what was approved for the session are granted: %v", used)
			}
		})
	}
}

// sharedBook is a book in the database as it is.
func sharedBook(t *testing.T) *fixture {
	t.Helper()
	return open(t, func(c *Config) { c.Path, c.Shared = "", replicaOf(t, server.DSN("bailiff"), "one") })
}

func stoppedServer(t *testing.T) (mend func()) {
	mine := 0
	must(t, operator(t).QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&mine))
	return server.Stop(t, mine)
}

// takenServer takes each connection that there is, those of the sidecar too. The server shows none that is being made,
// so that only a test that has as many as the server allows knows that the sidecar has none.
func takenServer(t *testing.T) (mend func()) {
	ending, all, most := operator(t), []*pgx.Conn{}, 0
	must(t, ending.QueryRow(t.Context(), "SELECT setting::int FROM pg_settings WHERE name = 'max_connections'").Scan(&most))
	awaittest.Until(t, "others have all connections", func() bool {
		_, err := ending.Exec(t.Context(), "SELECT pg_terminate_backend(pid) "+backends)
		must(t, err)
		for err == nil {
			var conn *pgx.Conn
			if conn, err = pgx.Connect(t.Context(), server.DSN("postgres")); err == nil {
				all = append(all, conn)
			}
		}
		return len(all)+1 == most
	})
	return func() {
		for _, conn := range all {
			_ = conn.Close(t.Context())
		}
	}
}

// Connections that end in the midst of steps lose none and make none twice.
func connectionsEnd(t *testing.T) {
	server.Empty(t)
	f := sharedBook(t)
	conn := operator(t)
	used := 0
	for round := range backendtest.Rounds(15, 300) {
		c := claim("rm "+rand.Text(), "x")
		awaittest.Until(t, "an approval", func() bool {
			a, err := f.Ask(t.Context(), c)
			if err == nil && a.State == bailiff.ApprovalPending {
				_, err = f.Answer(t.Context(), a.ID, by("ana"), bailiff.Verdict{Approve: true, Scope: "once"})
			}
			return err == nil
		})
		var granted atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, ok, err := f.Redeem(t.Context(), c); err == nil && ok {
					granted.Add(1)
				}
			})
		}
		_, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) "+backends+" AND random() < 0.5")
		must(t, err)
		all.Wait()
		if n := granted.Load(); n > 1 {
			t.Errorf("round %d: granted %d times", round, n)
		}
		used += int(granted.Load())
	}
	t.Logf("%d of the grants were used at once", used)
}

// A full disk refuses what is to be kept, and is gone on from once there is room.
func fullDisk(t *testing.T) {
	before, disk := server, t.TempDir()
	defer func() { server = before }()
	backendtest.SmallDisk(t, disk, "100m")
	for _, folder := range []string{filepath.Dir(disk), disk} {
		must(t, os.Chmod(folder, 0o755)) // PostgreSQL has another user
	}
	t.Setenv("TMPDIR", disk)
	server = postgrestest.Start(t)
	f := sharedBook(t)
	c := claim("rm", "x")
	f.approve(f.ask(c), "ana", "once")
	filler := filepath.Join(disk, "of others")
	file, err := os.Create(filler)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	_ = file.Close()
	for n := 0; err == nil || !errors.Is(err, ErrStore); n++ { // what is left of the files that are there
		var text strings.Builder
		for range 4000 {
			text.WriteString(rand.Text())
		}
		if _, err = f.Ask(t.Context(), claim(text.String(), "x")); n > 2000 {
			t.Fatal("the disk is never full")
		}
	}
	if !strings.Contains(err.Error(), "PostgreSQL") {
		t.Errorf("refused with %v", err)
	}
	must(t, os.Remove(filler))
	if conn, err := pgx.Connect(t.Context(), server.DSN("bailiff")); err == nil {
		_ = conn.Close(t.Context())
	} else {
		server.Kill() // it has ended by itself
		server.Run(t)
	}
	awaittest.Until(t, "going on", func() bool { return f.Err() == nil })
	awaittest.Until(t, "asking", func() bool {
		_, err := f.Ask(t.Context(), claim("rm 2", "x"))
		return err == nil
	})
	if !f.redeem(c) || f.redeem(c) {
		t.Error("it is not granted once")
	}
}
