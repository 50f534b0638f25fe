package approval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// copies has PostgreSQL hold an approval many times more, from a number on, in a state and with what else is told of it.
func copies(t *testing.T, a api.Entry, from, n int, pending bool, state, gone string) {
	t.Helper()
	answered := "NULL"
	if !pending {
		answered = fmt.Sprintf("clock_timestamp() - make_interval(secs => %d - n)", from+n)
	}
	server.Exec(t, "bailiff", fmt.Sprintf(`INSERT INTO bailiff.approvals (id, seq, pending, digest, caller, session, person, expires,
		resolved, version, doc, gone) SELECT id || '-' || n, n, %[4]t, digest || n, caller, session, person, expires, %[5]s, 1,
		regexp_replace(replace(replace(replace(doc, id, id || '-' || n), digest, digest || n), '"pending"', '%[6]s'),
		'"seq":[0-9]+', '"seq":' || n), %[7]s FROM bailiff.approvals, generate_series(%[2]d, %[3]d) AS n
		WHERE id = '%[1]s'`, a.ID, from, from+n-1, pending, answered,
		`"`+state+`"`, gone))
	server.Exec(t, "bailiff", fmt.Sprintf(`INSERT INTO bailiff.claims SELECT n, claim FROM bailiff.claims NATURAL JOIN bailiff.approvals,
		generate_series(%d, %d) AS n WHERE id = '%s'`, from, from+n-1, a.ID))
}

// A sidecar that runs follows what is more than a page, and another one starts on it.
func TestASidecarStartsWithManyApprovals(t *testing.T) {
	pending, answered, gone := backendtest.Rounds(2_500, 10_000), backendtest.Rounds(2_000, 5_000), backendtest.Rounds(2_000, 5_000)
	const page = 1000 // of approvals, as the store reads them
	server = postgrestest.Start(t)
	server.Exec(t, "bailiff", "CREATE EXTENSION pg_stat_statements")
	server.Empty(t)
	one := member(t, "one")
	entry, found := one.Get(one.ask(claim("rm "+strings.Repeat("x", 1000), "x")))
	if !found {
		t.Fatal("what was asked is not there")
	}
	began := time.Now()
	copies(t, entry, 1_000_000, pending, true, "pending", "NULL")
	copies(t, entry, 2_000_000, answered, false, "denied", "NULL")
	copies(t, entry, 3_000_000, gone, false, "denied", "clock_timestamp()")
	made := time.Since(began)
	id := func(n int) string { return fmt.Sprint(entry.ID, "-", n) }
	awaittest.Until(t, "all to be followed", func() bool {
		return one.item(id(2_000_000+answered-1)) != nil && one.Err() == nil
	})
	began = time.Now()
	two := member(t, "two")
	t.Logf("%d rows were made in %v, and a sidecar started on them in %v", pending+answered+gone, made, time.Since(began))
	for name, f := range map[string]*fixture{"one that runs": one, "one that starts": two} {
		for n, want := range map[int]bool{1_000_000: true, 1_000_000 + pending - 1: true, 2_000_000 + answered - 1: true,
			3_000_000: false} {
			if found := f.item(id(n)) != nil; found != want {
				t.Errorf("%s knows of %d: %v, want %v", name, n, found, want)
			}
		}
		if n, _ := f.counted(); n != pending+1 {
			t.Errorf("%s knows of %d that are pending, want %d", name, n, pending+1)
		}
	}
	if _, n := two.counted(); n != state.KeepResolved {
		t.Errorf("one that starts knows of %d that are answered, want %d", n, state.KeepResolved)
	}
	most := server.Number(t, "bailiff", `SELECT max(rows / calls) FROM pg_stat_statements WHERE query LIKE 'SELECT seq%'`)
	if most > page || most == 0 {
		t.Errorf("%d rows were read at once, want %d at most", most, page)
	}
	if _, err := two.Answer(t.Context(), id(1_000_000+pending-1), by("ana"), bailiff.Verdict{Approve: true, Scope: "once"}); err != nil {
		t.Error(err)
	}
	awaittest.Until(t, "the answer to be followed", func() bool {
		return one.state(id(1_000_000+pending-1)) == bailiff.ApprovalApproved
	})
	must(t, two.storage.(*shared.Store).Keep(t.Context()))
	awaittest.Until(t, "the old ones to go", func() bool { _, n := one.counted(); return n <= state.KeepResolved+1 })
}

// member is the book of one sidecar, of which no question ends during a test.
func member(t *testing.T, name string) *fixture {
	t.Helper()
	return open(t, func(c *Config) {
		r := c.Router.(roster)
		r.timeout = time.Hour
		c.Router, c.Path, c.Shared = r, "", replicaOf(t, server.DSN("bailiff"), name)
	})
}

// counted are how many approvals a book knows that are pending, and answered.
func (f *fixture) counted() (pending, answered int) {
	entries, _ := f.List(api.Query{Limit: 100_000})
	for _, e := range entries {
		if e.State == bailiff.ApprovalPending {
			pending++
		} else {
			answered++
		}
	}
	return pending, answered
}
