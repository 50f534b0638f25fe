package approval

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
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
	for _, f := range books {
		awaittest.Until(t, "seeing how far the one that stopped went", func() bool {
			_, err := f.storage.Confirm(t.Context()) // which looks at what others did
			return err == nil
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
