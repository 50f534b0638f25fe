package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

func TestTheSameRequestIsAskedOnce(t *testing.T) {
	f := open(t)
	var ids sync.Map
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			c := claim("rm -r build", "build")
			c.Request.ID = fmt.Sprint(n)
			ids.Store(f.ask(c), true)
		})
	}
	all.Wait()
	entries, _ := f.List(api.Query{})
	if len(entries) != 1 {
		t.Fatalf("%d approvals", len(entries))
	}
	for _, other := range []func(*bailiff.Claim){
		func(c *bailiff.Claim) { c.Request.Caller = "other" },
		func(c *bailiff.Claim) { c.Request.Peer = "uid:1002" },
		func(c *bailiff.Claim) { c.Request.Session.ID = "s2" },
		func(c *bailiff.Claim) { c.Request.Args.Command += " " },
	} {
		if id := f.ask(with(claim("rm -r build", "build"), other)); id == entries[0].ID {
			t.Error("another request joined")
		}
	}
	f.approve(entries[0].ID, "ana", "once")
	if a, err := f.Ask(t.Context(), claim("rm -r build", "build")); err != nil || a.State != bailiff.ApprovalApproved ||
		a.ID != entries[0].ID {
		t.Errorf("asked again after the yes: %+v, %v", a, err)
	}
}

func TestALaterConnectionThatWaitsIsToldOfInTheSameQuestion(t *testing.T) {
	f := open(t)
	first, later := time.Now().Add(time.Minute), time.Now().Add(time.Hour)
	for _, c := range []struct{ until, shown time.Time }{
		{first, first}, {first.Add(9 * time.Second), first}, {later, later}, {first, later}, {time.Time{}, later},
	} {
		id := f.ask(with(claim("curl x.test", "x.test:443"), func(claim *bailiff.Claim) { claim.HeldUntil = c.until }))
		entries, _ := f.List(api.Query{})
		if len(entries) != 1 || entries[0].ID != id || !entries[0].HeldUntil.Equal(c.shown) {
			t.Errorf("asked with %s, there are %+v, want one that is held until %s", c.until, entries, c.shown)
		}
	}
}

func TestWhatNobodyCanAnswerEndsAtOnce(t *testing.T) {
	f := open(t, func(c *Config) { c.Router = roster{} })
	a, err := f.Ask(t.Context(), claim("rm", "x"))
	if err != nil || a.State != bailiff.ApprovalExpired || a.Message != "nobody is configured to answer" {
		t.Errorf("%+v, %v", a, err)
	}
	if got := f.Await(t.Context(), a.ID); !reflect.DeepEqual(got, a) {
		t.Errorf("awaited %+v", got)
	}
}

func TestTimeRunsOut(t *testing.T) {
	t.Run("for a pending approval", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id, begun := f.ask(claim("rm", "x")), time.Now()
			a := f.Await(t.Context(), id)
			if waited := time.Since(begun); a.State != bailiff.ApprovalExpired || a.Message != "nobody answered within 1m0s" ||
				waited < time.Minute || waited > time.Minute+time.Second {
				t.Errorf("after %s: %+v", waited, a)
			}
			if _, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true}); !errors.Is(err, api.ErrSettled) {
				t.Errorf("answered: %v", err)
			}
			f.Close()
		})
	})
	t.Run("for one whose time passed while the book was closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.Close()
			time.Sleep(2 * time.Minute)
			f.start()
			if state := f.state(id); state != bailiff.ApprovalExpired {
				t.Errorf("it is %s", state)
			}
			f.Close()
		})
	})
	t.Run("for one that is asked again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			time.Sleep(time.Minute)
			if again := f.ask(claim("rm", "x")); again == id || f.state(id) != bailiff.ApprovalExpired {
				t.Errorf("joined one that is %s", f.state(id))
			}
			f.Close()
		})
	})
	for scope, lives := range map[string]bool{"once": false, "session": false, "always": true} {
		t.Run("for a grant of scope "+scope, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t)
				f.approve(f.ask(claim("rm", "x")), "ana", scope)
				time.Sleep(599 * time.Second)
				if !f.Covered(claim("rm", "x")) {
					t.Error("it ended early")
				}
				time.Sleep(time.Second)
				if f.redeem(claim("rm", "x")) != lives || len(f.Grants()) > 0 != lives {
					t.Errorf("it lives: %v", !lives)
				}
				f.Close()
			})
		})
	}
}

func TestAwaitTellsAtOnce(t *testing.T) {
	f := open(t)
	var late []time.Duration
	for n := range 20 {
		id := f.ask(claim(fmt.Sprint("rm ", n), "x"))
		woken := make(chan time.Time)
		go func() {
			if a := f.Await(t.Context(), id); a.State != bailiff.ApprovalApproved || a.By != "ana" || a.Via != "uid:ana on operator" {
				t.Errorf("awaited %+v", a)
			}
			woken <- time.Now()
		}()
		f.approve(id, "ana", "once")
		answered := time.Now()
		late = append(late, (<-woken).Sub(answered))
		f.redeem(claim(fmt.Sprint("rm ", n), "x"))
	}
	slices.Sort(late) // the slowest are the machine's doing
	if late[len(late)/2] > 10*time.Millisecond {
		t.Errorf("told after %s", late)
	}
}

func TestAwaitEndsWithItsCaller(t *testing.T) {
	f := open(t)
	id := f.ask(claim("rm", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := f.Await(ctx, id); a.State != bailiff.ApprovalPending ||
		!strings.HasPrefix(a.Message, "waiting for ana or ben or cleo to answer on operator until ") {
		t.Errorf("%+v", a)
	}
	if a := f.Await(t.Context(), "a-nothing"); a.State != bailiff.ApprovalExpired {
		t.Errorf("unknown: %+v", a)
	}
}

// Where the wait for an answer and the question end at once, the question is not told as one that can still be answered.
func TestAQuestionWhoseTimeIsOverHasExpiredBeforeThatIsWritten(t *testing.T) {
	var asked atomic.Bool
	written := make(chan struct{})
	f := open(t, func(c *Config) {
		r := c.Router.(roster)
		r.timeout = 30 * time.Millisecond
		c.Router = r
		c.reached = func(point string) {
			if point == "staged" && asked.Swap(true) { // what comes after the question itself
				<-written
			}
		}
	})
	id := f.ask(claim("rm", "x"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	a := f.Await(ctx, id)
	close(written)
	if a.State != bailiff.ApprovalExpired || a.Message != "nobody answered within 30ms" {
		t.Errorf("at its end it is %+v", a)
	}
}

func TestTooManyPending(t *testing.T) {
	for _, c := range []struct {
		name  string
		caps  Caps
		other func(*bailiff.Claim)
		says  string
	}{
		{"of a caller", Caps{Caller: 2}, func(c *bailiff.Claim) { c.Request.Caller = "other" }, `caller "hermes" has 2 approvals pending`},
		{"of a session", Caps{Session: 2}, func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }, `session "s1" has 2 approvals pending`},
		{"of a user", Caps{User: 2}, func(c *bailiff.Claim) { c.Request.Session.UserID = "43" }, `user "42" has 2 approvals pending`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, func(config *Config) { config.Caps = c.caps })
			first := f.ask(claim("rm 1", "x"))
			f.ask(claim("rm 2", "x"))
			f.restart()
			_, err := f.Ask(t.Context(), claim("rm 3", "x"))
			if err == nil || !strings.HasPrefix(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			f.ask(claim("rm 1", "x")) // joins
			f.ask(with(claim("rm 3", "x"), c.other))
			f.approve(first, "ana", "once")
			f.ask(claim("rm 3", "x"))
		})
	}
}

func TestAQuestionThatIsRefusedIsCountedAndLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observed, log := &counts{pending: map[string]int{}, resolved: map[string]int{}}, &strings.Builder{}
		f := open(t, func(c *Config) {
			c.Caps, c.Observer, c.Log = Caps{User: 1}, observed, slog.New(slog.NewTextHandler(log, nil))
		})
		f.ask(claim("rm", "x"))
		for range 2 {
			for n := range 3 {
				if _, err := f.Ask(t.Context(), claim(fmt.Sprint("rm ", n), "x")); err == nil {
					t.Error("it was kept")
				}
			}
			time.Sleep(time.Second)
		}
		if observed.refused != 6 || observed.pending["telegram"] != 1 {
			t.Errorf("%d refused, %d pending", observed.refused, observed.pending["telegram"])
		}
		if lines := strings.Count(log.String(), "a question to people was refused"); lines != 2 {
			t.Errorf("the log says it %d times:\n%s", lines, log)
		}
		f.Close()
	})
}

func TestAQuestionThatReachesNobodyIsCountedAndNotKept(t *testing.T) {
	observed := &counts{pending: map[string]int{}, resolved: map[string]int{}}
	down := errors.New("the token is not valid")
	f := open(t, func(c *Config) { c.Observer, c.Reachable = observed, func(api.Plan) error { return down } })
	if a, err := f.Ask(t.Context(), claim("rm", "x")); !errors.Is(err, ErrUnreachable) ||
		!strings.HasSuffix(err.Error(), "the token is not valid") {
		t.Errorf("got %+v, %v", a, err)
	}
	if entries, _ := f.List(api.Query{}); len(entries) != 0 || observed.resolved["unreachable"] != 1 || observed.pending["telegram"] != 0 {
		t.Errorf("kept are %v, counted is %+v", entries, observed)
	}
}

func TestWhatWasAskedAndGrantedBeforeHoldsWhereNobodyIsReachedAnyMore(t *testing.T) {
	var down error
	f := open(t, func(c *Config) { c.Reachable = func(api.Plan) error { return down } })
	granted, pending := f.ask(claim("rm", "x")), f.ask(claim("rm", "y"))
	f.approve(granted, "ana", "session")
	down = errors.New("the service is away")
	if !f.redeem(claim("rm", "x")) {
		t.Error("a grant does not hold")
	}
	if id := f.ask(claim("rm", "y")); id != pending {
		t.Errorf("what is pending is asked anew, as %s", id)
	}
	f.approve(pending, "ana", "once")
	if err := f.Replan(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfASessionTakesItsQuestionsBack(t *testing.T) {
	t.Parallel()
	f := open(t)
	other := claim("rm", "y")
	other.Request.Session.ID = "another"
	mine, its := f.ask(claim("rm", "x")), f.ask(other)
	session := claim("rm", "x").Request
	must(t, f.Withdraw(t.Context(), "another caller", session.Session.ID))
	if e, _ := f.Get(mine); e.State != bailiff.ApprovalPending {
		t.Errorf("by another caller's session of that name it is %s", e.State)
	}
	must(t, f.Withdraw(t.Context(), session.Caller, session.Session.ID))
	f.restart()
	if e, _ := f.Get(mine); e.State != bailiff.ApprovalCancelled || e.Message != "the session that asked has ended" {
		t.Errorf("it is %s: %s", e.State, e.Message)
	}
	if e, _ := f.Get(its); e.State != bailiff.ApprovalPending {
		t.Errorf("another session's is %s", e.State)
	}
}

func TestVoid(t *testing.T) {
	drift := "the file changed"
	t.Run("takes the grant of an approval back", func(t *testing.T) {
		for _, scope := range []string{"once", "session"} {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.approve(id, "ana", scope)
			must(t, f.Void(t.Context(), id, drift))
			f.restart()
			if e, _ := f.Get(id); e.State != bailiff.ApprovalVoid || e.Message != drift || f.redeem(claim("rm", "x")) {
				t.Errorf("%s: %s", e.State, e.Message)
			}
		}
	})
	t.Run("comes too late for a grant that was used", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.approve(id, "ana", "once")
		f.redeem(claim("rm", "x"))
		if err := f.Void(t.Context(), id, drift); !errors.Is(err, api.ErrSettled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("knows a grant whose approval is forgotten", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.approve(id, "ana", "once")
		f.floodUnanswerable(state.KeepResolved)
		if _, found := f.Get(id); found {
			t.Fatal("it is still known")
		}
		if err := f.Void(t.Context(), id, drift); err != nil || f.redeem(claim("rm", "x")) {
			t.Errorf("the grant lives, %v", err)
		}
	})
	t.Run("of what nobody has approved", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		if err := f.Void(t.Context(), id, drift); err == nil || f.state(id) != bailiff.ApprovalPending {
			t.Errorf("it is %s, %v", f.state(id), err)
		}
	})
	t.Run("of what nobody knows", func(t *testing.T) {
		if err := open(t).Void(t.Context(), "a-nothing", drift); !errors.Is(err, api.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

// floodUnanswerable asks for as much as nobody can answer.
func (f *fixture) floodUnanswerable(n int) {
	f.Book.config.Router = roster{}
	var all sync.WaitGroup
	room := make(chan struct{}, 64)
	for n := range n {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if _, err := f.Ask(f.t.Context(), claim(fmt.Sprint("flood ", n), "y")); err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	f.Book.config.Router = f.config.Router
	if s, shared := f.storage.(*shared.Store); shared {
		must(f.t, s.Keep(f.t.Context()))
		s.Refresh()
	}
}

func TestResolvedApprovalsAreKeptForAWhile(t *testing.T) {
	t.Run("the last thousand", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.floodUnanswerable(state.KeepResolved + 50)
		for range 2 {
			entries, _ := f.List(api.Query{Limit: 5000})
			if len(entries) != state.KeepResolved+1 || f.state(id) != bailiff.ApprovalPending {
				t.Errorf("%d are kept, and the pending one is %s", len(entries), f.state(id))
			}
			f.restart()
		}
	})
	t.Run("seven days", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.approve(id, "ana", "always")
			time.Sleep(state.KeepFor - time.Second)
			if _, found := f.Get(id); !found {
				t.Error("it is gone too early")
			}
			time.Sleep(2 * sweepTime)
			if _, found := f.Get(id); found || !f.Covered(claim("rm", "x")) {
				t.Errorf("it is kept: %v; its grant lives: %v", found, f.Covered(claim("rm", "x")))
			}
			f.Close()
		})
	})
}
