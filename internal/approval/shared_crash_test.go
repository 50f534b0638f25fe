package approval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

const (
	// crashDSN and crashReplica have a book that is killed share a database, as that sidecar.
	crashDSN     = "APPROVAL_CRASH_DSN"
	crashReplica = "APPROVAL_CRASH_REPLICA"
	workers      = 4
)

// sharedPoints are between which a crash must lose nothing.
var sharedPoints = []string{"staged", "committed", "shown", "recorded"}

// inCrash has the configuration share the database that the environment names, if any.
func (c *Config) inCrash() error {
	dsn := os.Getenv(crashDSN)
	if dsn == "" {
		return nil
	}
	db, err := postgres.Open(context.Background(), postgres.Config{DSN: bailiff.NewSecret(dsn)})
	c.Path, c.Shared = "", &shared.Config{DB: db, Replica: os.Getenv(crashReplica)}
	return err
}

// kills is how often each worker is killed: BAILIFF_TEST_KILLS.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("BAILIFF_TEST_KILLS")
	if text == "" {
		return backendtest.Rounds(8, 100)
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// TestKilledWorkersShareABook has workers race for grants of scope once and be killed, each many times, while
// the connections of all end now and then. No grant is used twice, what was acknowledged stays, and each step
// comes to a log.
func TestKilledWorkersShareABook(t *testing.T) {
	server = postgrestest.Start(t)
	t.Setenv(crashDSN, server.Empty(t))
	dirs := make([]string, workers)
	var all sync.WaitGroup
	for n := range workers {
		dirs[n] = t.TempDir()
		all.Go(func() { killAgain(t, dirs[n], n) })
	}
	all.Wait()
	if t.Failed() {
		return
	}
	c := configIn(t.TempDir())
	c.Path, c.Shared = "", replicaOf(t, server.DSN("bailiff"), "last")
	logDir := t.TempDir()
	log, err := openNotes(filepath.Join(logDir, "log"))
	must(t, err)
	c.Recorder = log
	b, err := Open(c)
	must(t, err)
	server.Exec(t, "bailiff", "UPDATE bailiff.replicas SET seen = '-infinity' WHERE id <> 'last'") // long enough ago
	awaittest.Until(t, "the events of the dead to be logged", func() bool {
		return server.Number(t, "bailiff", "SELECT count(*) FROM bailiff.outbox") == 0
	})
	grants := map[string]bool{}
	for _, g := range b.Grants() {
		grants[g.ID] = true
	}
	p := &promises{t: t, b: b, full: true, grants: grants, ran: map[string]int{}, frozen: map[string]bool{}}
	logged := stepsIn(t, filepath.Join(logDir, "log"))
	for _, dir := range dirs {
		for step := range stepsIn(t, filepath.Join(dir, "log")) {
			logged[step] = true
		}
	}
	for _, dir := range dirs {
		for _, line := range linesOf(t, filepath.Join(dir, "said")) {
			p.check(strings.Fields(line))
			wantLogged(t, line, logged)
		}
	}
	for session, frozen := range p.frozen {
		if _, is := b.Frozen(bailiff.Session{ID: session}); frozen && !is {
			t.Errorf("the freeze of %s is lost", session)
		}
	}
	must(t, b.Close())
	t.Logf("%d workers were killed %d times each; %d approvals were asked for, %d grants ran, none twice", workers, kills(t), p.asked,
		len(p.ran))
}

// killAgain lets a worker live again and again, each time as another sidecar.
func killAgain(t *testing.T, dir string, worker int) {
	for n := range kills(t) {
		when := ""
		if n%2 == 0 {
			when = fmt.Sprintf("%s %d", sharedPoints[n/2%len(sharedPoints)], rand.IntN(12))
		}
		killed(t, dir, fmt.Sprint(worker, "-", n), when, crashReplica+"="+fmt.Sprint("w", worker, "-", n))
		if t.Failed() {
			return
		}
	}
}
