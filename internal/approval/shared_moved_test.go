package approval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// A standby that is promoted without the last commits has nothing granted a second time, and forgets no freeze
// and no revocation. Sidecars go on by themselves, and what they say anew counts for one that was stopped meanwhile.
func TestAPromotedStandbyThatLacksCommitsGrantsNothingTwice(t *testing.T) {
	primary := postgrestest.Start(t)
	standby := primary.Standby(t)
	dsn := fmt.Sprintf("host=%s,%s user=postgres dbname=bailiff target_session_attrs=read-write", primary.Dir, standby.Dir)
	var said [2]atomic.Int32
	var books []*fixture
	for n, name := range []string{"one", "two"} {
		c := configIn(t.TempDir())
		c.Path, c.Shared = "", replicaOf(t, dsn, name)
		c.Shared.Moved = func(context.Context) error { said[n].Add(1); return nil }
		f := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
		f.start()
		t.Cleanup(func() { f.Book.Close() })
		books = append(books, f)
	}
	one, two := books[0], books[1]
	mark := watermark.File(filepath.Join(t.TempDir(), "mark"))
	stopped := bookWithMark(t, dsn, "three", mark)
	used, left, revoked, kept := claim("rm used", "x"), claim("rm left", "x"), claim("rm revoked", "y"), claim("rm kept", "z")
	for c, scope := range map[*bailiff.Claim]string{&used: "once", &left: "once", &revoked: "session", &kept: "session"} {
		one.approve(one.ask(*c), "ana", scope)
	}
	awaittest.Until(t, "the other to see what is granted", func() bool { return two.Covered(revoked) && two.Covered(kept) })
	standby.Follows(t, primary)
	standby.Kill()

	if !one.redeem(used) {
		t.Fatal("it is not granted at all")
	}
	a, granted, err := one.Redeem(t.Context(), revoked)
	if must(t, err); !granted {
		t.Fatal("the session's is not granted at all")
	}
	for _, g := range one.Grants() {
		if g.ApprovalID == a.ID {
			_, err := one.Revoke(t.Context(), g.ID, by("ben"))
			must(t, err)
		}
	}
	_, err = stopped.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "s9", By: "ben"})
	must(t, err)
	end(t, stopped)
	seen, err := mark.Read()
	must(t, err)
	for _, f := range books {
		store := f.storage.(*sharedStore)
		awaittest.Until(t, "seeing what the one that stopped did", func() bool {
			store.showing.RLock()
			defer store.showing.RUnlock()
			return store.marks.all["three"] >= seen.Number
		})
	}

	primary.Kill()
	standby.Run(t)
	standby.Promote(t)
	for n, f := range books {
		awaittest.Until(t, "going on", func() bool { return said[n].Load() > 0 && f.Err() == nil })
	}
	for n, f := range books {
		if f.redeem(used) || f.redeem(left) || f.redeem(revoked) {
			t.Errorf("book %d grants what was used, may have been, or was revoked", n)
		}
		if !f.Covered(kept) {
			t.Errorf("book %d has forgotten what both knew", n)
		}
		if _, frozen := f.Frozen(bailiff.Session{ID: "s9"}); !frozen {
			t.Errorf("book %d has forgotten the freeze", n)
		}
		if _, frozen := f.Frozen(bailiff.Session{ID: "s1"}); frozen {
			t.Errorf("book %d freezes all", n)
		}
	}
	stopped = bookWithMark(t, dsn, "three", mark)
	if isAllFrozen(stopped) || !stopped.IsFrozen(bailiff.Session{ID: "s9"}) {
		t.Errorf("one that was stopped finds frozen: %+v, want session s9 alone", stopped.Freezes())
	}
	end(t, stopped)
	one.approve(two.ask(used), "ana", "once")
	if !two.redeem(used) || one.redeem(used) {
		t.Error("approved anew it is not granted once")
	}
}

// A sidecar that starts right after another server was accepted grants nothing until all others know of it.
func TestASidecarThatStartsAfterAMoveGrantsNothingAtFirst(t *testing.T) {
	server := postgrestest.Start(t)
	dsn := server.Empty(t)
	start := func(name string) *sharedStore {
		c := configIn(t.TempDir())
		c.Path, c.Shared = "", replicaOf(t, dsn, name)
		f := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
		f.start()
		t.Cleanup(func() { f.Book.Close() })
		return f.Book.storage.(*sharedStore)
	}
	refuses := func(name string, want bool) {
		t.Helper()
		s := start(name)
		until := time.Duration(s.refusing.Load())
		if (until > 0) != want {
			t.Errorf("sidecar %s refuses until %v after its start, want %t", name, until, want)
		}
		if err := s.err(); !errors.Is(err, postgres.ErrMoved) && time.Since(s.began) < until {
			t.Errorf("sidecar %s grants at once: %v", name, err)
		}
	}
	refuses("first", false)
	for name, c := range map[string]struct {
		state string
		want  bool
	}{
		"accepts":       {"server = 'another'", true},
		"just-accepted": {"accepted = clock_timestamp() + interval '1 hour'", true}, // by a clock that was set back
		"long-accepted": {"accepted = clock_timestamp() - interval '6 seconds'", false},
	} {
		server.Exec(t, "bailiff", "UPDATE bailiff.state SET "+c.state)
		refuses(name, c.want)
	}
	noted := server.Number(t, "bailiff", "SELECT count(*) FROM bailiff.state WHERE server <> 'another' AND accepted IS NOT NULL")
	if noted != 1 {
		t.Error("the tables do not hold when which server was accepted")
	}
}
