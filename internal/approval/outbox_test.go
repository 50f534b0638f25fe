package approval

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// life takes a book through every kind of step.
func life(t *testing.T, f *fixture) {
	f.approve(f.ask(claim("rm 1", "x")), "ana", "session")
	f.redeem(claim("rm 1", "x"))
	if _, err := f.Revoke(t.Context(), f.Grants()[0].ID, by("ben")); err != nil {
		t.Fatal(err)
	}
	f.Answer(t.Context(), f.ask(claim("rm 2", "x")), by("cleo"), bailiff.Verdict{Reason: "no"})
	id := f.ask(claim("rm 3", "x"))
	f.approve(id, "ana", "once")
	f.Void(t.Context(), id, "drift")
	f.floodUnanswerable(1)
	f.ask(claim("rm 4", "x"))
	f.Freeze(t.Context(), api.Freeze{Kind: "user", ID: "42", By: "ben", Reason: "lunch"})
	f.Thaw(t.Context(), "user", "42", by("ben"))
	f.ask(claim("rm 5", "x"))
	time.Sleep(time.Minute)
}

var lifeSteps = []string{
	"asked", "vote", "approved", "redeemed", "revoked",
	"asked", "vote", "denied",
	"asked", "vote", "approved", "void",
	"asked", "unanswerable",
	"asked", "frozen", "cancelled", "thawed",
	"asked", "expired",
}

func TestEveryStepIsInTheDecisionLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		life(t, f)
		synctest.Wait()
		if got := f.journal.steps(); !slices.Equal(got, lifeSteps) {
			t.Errorf("steps are %v", got)
		}
		seen := map[time.Time]bool{}
		for _, e := range f.journal.events {
			if e.Custom.Event != api.ApprovalEvent || e.RequestedBy == "" || e.Custom.Message == "" || seen[e.Timestamp] {
				t.Errorf("event %+v", e)
			}
			seen[e.Timestamp] = true
			if a := e.Custom.Approval; a != nil && (a.ID == "" || e.DecisionID != "d1" || e.RequestedBy != "hermes" ||
				e.Custom.Session != "s1") {
				t.Errorf("event %+v of %+v", e, a)
			}
		}
		f.restart()
		f.Close()
		if got := f.journal.steps(); len(got) != len(lifeSteps) {
			t.Errorf("a restart told again: %v", got)
		}
	})
}

func TestStepsWaitOnDiskForADecisionLogThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.journal.setBroken(true)
		life(t, f)
		f.restart()
		if got := f.journal.steps(); len(got) != 0 {
			t.Fatalf("steps are %v", got)
		}
		f.journal.setBroken(false)
		time.Sleep(2 * recordRetry)
		if got := f.journal.steps(); !slices.Equal(got, lifeSteps) {
			t.Errorf("steps are %v", got)
		}
		f.Close()
	})
}

func TestAnEventThatIsToldTwiceIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.ask(claim("rm 1", "x"))
		synctest.Wait()
		f.failWrites() // the event is in the log, but cannot be forgotten
		time.Sleep(2 * time.Minute)
		f.restart()
		f.Close()
		first, again := f.journal.events[0], f.journal.events[1]
		x, _ := json.Marshal(first)
		if y, _ := json.Marshal(again); string(x) != string(y) {
			t.Errorf("%s\n%s", x, y)
		}
	})
}
