package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
)

// database is where the sidecars of a test meet.
type database struct {
	*postgrestest.Server
	dsn string
}

func newDatabase(tb testing.TB) *database {
	tb.Helper()
	server := postgrestest.Start(tb)
	return &database{server, server.Empty(tb)}
}

func (d *database) do(tb testing.TB, sql string) {
	tb.Helper()
	d.Exec(tb, "bailiff", sql)
}

// join is a sidecar that lives, in its first epoch.
func (d *database) join(tb testing.TB, name string) *Fleet {
	tb.Helper()
	d.do(tb, fmt.Sprintf("INSERT INTO bailiff.replicas (id, epoch, seen, freezes) VALUES ('%s', 1, now() + interval '1 hour', 0)", name))
	db, err := postgres.Open(tb.Context(), postgres.Config{DSN: bailiff.NewSecret(d.dsn)})
	backendtest.Must(tb, err)
	tb.Cleanup(db.Close)
	f, err := New(tb.Context(), Config{DB: db, Replica: name, Address: name + ":1", Revision: func() string { return "r" },
		Head:     func() LogHead { return LogHead{Chain: name, Lines: 3, Hash: "h"} },
		Standing: func() Standing { return Standing{Epoch: 1} }})
	backendtest.Must(tb, err)
	return f
}

// dies has a sidecar be silent for longer than the others wait.
func (d *database) dies(tb testing.TB, name string) {
	tb.Helper()
	d.do(tb, fmt.Sprintf("UPDATE bailiff.replicas SET seen = clock_timestamp() - interval '16 seconds' WHERE id = '%s'", name))
}

func homeOfSession(tb testing.TB, h *Homes, s Session) Home {
	tb.Helper()
	home, err := h.Of(tb.Context(), s)
	backendtest.Must(tb, err)
	return home
}

func TestASessionHasOneHome(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	one, two := d.join(t, "one").Homes(), d.join(t, "two").Homes()
	ana := Session{"hermes", "s1", "telegram", "ana"}
	if home := homeOfSession(t, one, ana); !home.Mine {
		t.Errorf("the first that it comes to is not its home: %+v", home)
	}
	if home := homeOfSession(t, two, ana); home != (Home{Replica: "one", Address: "one:1"}) {
		t.Errorf("the other says that its home is %+v", home)
	}
	other := ana
	other.ID = "s2"
	if home := homeOfSession(t, two, other); home.Replica != "one" {
		t.Errorf("another session of the user's has the home %+v", home)
	}
	if home, err := two.Home(t.Context(), Session{Caller: "hermes", ID: "s9"}); err != nil || home != (Home{}) {
		t.Errorf("a session that never was has the home %+v, %v", home, err)
	}
	backendtest.Must(t, one.Leave(t.Context(), ana))
	two.Forget(ana)
	if home, err := two.Home(t.Context(), ana); err != nil || home != (Home{}) {
		t.Errorf("one that has ended has the home %+v, %v", home, err)
	}
}

func TestManyThatTakeAHomeAtOnceAgree(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	sides := []*Homes{d.join(t, "one").Homes(), d.join(t, "two").Homes(), d.join(t, "three").Homes()}
	names := []string{"one", "two", "three"}
	for n := range 20 {
		s := Session{"hermes", fmt.Sprint("s", n), "telegram", fmt.Sprint("u", n/2)}
		said := make([]Home, 3*len(sides))
		var all sync.WaitGroup
		for i := range said {
			all.Go(func() { said[i], _ = sides[i%len(sides)].Of(t.Context(), s) })
		}
		all.Wait()
		for i, home := range said {
			if home.Replica == "" || home.Replica != said[0].Replica || home.Mine != (home.Replica == names[i%3]) {
				t.Fatalf("they say %+v", said)
			}
		}
	}
}

func TestADeadSidecarsHomesAreTaken(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	silences := atomic.Uint64{}
	first := d.join(t, "one")
	first.config.Standing = func() Standing { return Standing{Epoch: 1, Silences: silences.Load()} }
	one, two := first.Homes(), d.join(t, "two").Homes()
	s := Session{"hermes", "s1", "telegram", "ana"}
	homeOfSession(t, one, s)
	homeOfSession(t, two, s)
	d.dies(t, "one")
	two.Forget(s)
	if home := homeOfSession(t, two, s); !home.Mine {
		t.Errorf("its home is %+v", home)
	}
	silences.Add(1) // as it finds when it comes back
	lost, err := one.LostSessions(t.Context(), []Session{s, {Caller: "hermes", ID: "s9"}})
	backendtest.Must(t, err)
	if !slices.Equal(lost, []Session{s}) {
		t.Errorf("it has lost %+v", lost)
	}
	if home := homeOfSession(t, one, s); home.Replica != "two" || home.Mine {
		t.Errorf("it says that the home is %+v", home)
	}
}

// What a sidecar gives away is served by the next that is asked, what it keeps is not. What none has taken
// is its own again once it is started anew.
func TestAHomeThatIsGivenAwayIsTheNextSidecars(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	var epoch atomic.Int64
	epoch.Store(1)
	first := d.join(t, "one")
	first.config.Standing = func() Standing { return Standing{Epoch: epoch.Load()} }
	one, two := first.Homes(), d.join(t, "two").Homes()
	busy, ofSameUser := Session{"hermes", "busy", "telegram", "ana"}, Session{"hermes", "new", "telegram", "ana"}
	idle, untouched := Session{"hermes", "idle", "telegram", "ben"}, Session{"hermes", "untouched", "telegram", "cleo"}
	for _, s := range []Session{busy, idle, untouched} {
		homeOfSession(t, one, s)
	}
	backendtest.Must(t, one.GiveAway(t.Context(), []Session{busy}))
	for s, want := range map[Session]string{busy: "one", ofSameUser: "one", idle: "two"} {
		if home := homeOfSession(t, two, s); home.Replica != want {
			t.Errorf("the home of %s is %+v, want %s", s.ID, home, want)
		}
	}
	if _, err := one.Of(t.Context(), Session{Caller: "hermes", ID: "late"}); err == nil {
		t.Error("it takes another session")
	}
	for s, want := range map[Session]string{busy: "one", idle: "two"} {
		if home, err := one.Home(t.Context(), s); home.Replica != want || home.Mine != (want == "one") {
			t.Errorf("it knows the home of %s as %+v, %v", s.ID, home, err)
		}
	}
	backendtest.Must(t, one.GiveAway(t.Context(), nil))
	two.Forget(busy)
	if home := homeOfSession(t, two, busy); home.Replica != "two" {
		t.Errorf("the home of what has ended is %+v", home)
	}
	d.do(t, "UPDATE bailiff.replicas SET epoch = 2 WHERE id = 'one'")
	epoch.Store(2)
	again := first.Homes()
	first.leaving.Store(false)
	if home := homeOfSession(t, again, untouched); !home.Mine {
		t.Errorf("started anew, what none has taken has the home %+v", home)
	}
	if home := homeOfSession(t, two, untouched); home.Replica != "one" {
		t.Errorf("the other says that it is %+v", home)
	}
	if home := homeOfSession(t, again, idle); home.Replica != "two" {
		t.Errorf("what the other has taken has the home %+v", home)
	}
}

// A sidecar that takes a home while the last one comes back takes it only if that has not.
func TestAHomeIsNotTakenFromASidecarThatIsBack(t *testing.T) {
	t.Parallel()
	const ofOne = " WHERE id = 'one'"
	for name, c := range map[string]struct{ gone, back string }{
		"heard again": {"UPDATE bailiff.replicas SET seen = clock_timestamp() - interval '16 seconds'" + ofOne,
			"UPDATE bailiff.replicas SET seen = clock_timestamp()" + ofOne},
		"started anew": {"UPDATE bailiff.replicas SET seen = '-infinity'" + ofOne,
			"UPDATE bailiff.replicas SET seen = clock_timestamp(), epoch = 2" + ofOne},
		"had given it": {"UPDATE bailiff.homes SET given = 'one 1'", "UPDATE bailiff.replicas SET epoch = 2" + ofOne},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			one, two := d.join(t, "one").Homes(), d.join(t, "two").Homes()
			s := Session{"hermes", "s1", "telegram", "ana"}
			homeOfSession(t, one, s)
			d.do(t, c.gone)
			conn, err := two.config.DB.Pool().Acquire(t.Context())
			backendtest.Must(t, err)
			defer release(conn)
			var ofSession, ofUser had
			backendtest.Must(t, two.lock(t.Context(), conn, s, &ofSession, &ofUser))
			if ofSession.home.Replica != "" {
				t.Fatalf("it has the home %+v", ofSession.home)
			}
			d.do(t, c.back)
			home := Home{Replica: "two", Address: "two:1"}
			if err := two.put(t.Context(), conn, s, home, ofSession, ofUser, Standing{Epoch: 1}); !errors.Is(err, errFenced) {
				t.Errorf("it is taken: %v", err)
			}
		})
	}
}

// An id that is free is another sidecar's to claim, once all sidecars know of it.
func TestAnIDThatIsFreeIsAnotherSidecarsToClaim(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	one, two := run(t, d.join(t, "one")), run(t, d.join(t, "two"))
	for n := range 20 {
		id := RequestID{"hermes", "s1", fmt.Sprint("r", n)}
		if got, err := one.Claim(t.Context(), id, "x"); got != First {
			t.Fatalf("claimed as %v, %v", got, err)
		}
		one.Ended(id, true)
		one.AwaitFree(t.Context())
		if got, err := two.Claim(t.Context(), id, "x"); got != First {
			t.Fatalf("at the next it is claimed as %v, %v", got, err)
		}
	}
}

// A PostgreSQL that lacks the last commits learns from a sidecar what is its own, as far as no other has it.
func TestWhatIsMissingInAPromotedStandbyIsSaidAnew(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	first, second := d.join(t, "one"), d.join(t, "two")
	one, two, oneIDs, twoIDs := first.Homes(), second.Homes(), first.Requests(), second.Requests()
	go oneIDs.Run(t.Context())
	go twoIDs.Run(t.Context())
	s, taken := Session{Caller: "hermes", ID: "s1"}, Session{Caller: "hermes", ID: "s2"}
	homeOfSession(t, one, s)
	homeOfSession(t, one, taken)
	ran, free := RequestID{"hermes", "s1", "ran"}, RequestID{"hermes", "s1", "free"}
	for _, id := range []RequestID{ran, free} {
		if got, err := oneIDs.Claim(t.Context(), id, "x"); got != First {
			t.Fatalf("claimed as %v, %v", got, err)
		}
	}
	oneIDs.Ended(free, true)
	oneIDs.AwaitFree(t.Context())
	d.do(t, "DELETE FROM bailiff.homes; DELETE FROM bailiff.requests")
	homeOfSession(t, two, taken)
	backendtest.Must(t, one.SayAnew(t.Context()))
	backendtest.Must(t, oneIDs.SayAnew(t.Context()))
	for s, want := range map[Session]string{s: "one", taken: "two"} {
		if home := homeOfSession(t, two, s); home.Replica != want {
			t.Errorf("the home of %s is %+v, want %s", s.ID, home, want)
		}
	}
	for id, want := range map[RequestID]Claimed{ran: SameElsewhere, free: First} {
		if got, err := twoIDs.Claim(t.Context(), id, "x"); got != want {
			t.Errorf("%s is claimed as %v, %v; want %v", id.ID, got, err, want)
		}
	}
}

// Right before each start it is asked whether the session is still this sidecar's.
func TestASidecarServesWhatNoOtherHasTakenOver(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	now := Standing{Epoch: 1}
	first := d.join(t, "one")
	first.config.Standing = func() Standing { return now }
	one, two := first.Homes(), d.join(t, "two").Homes()
	s := Session{Caller: "hermes", ID: "s1"}
	serves := func(when string, want bool, s Session) {
		t.Helper()
		if err := one.Serves(t.Context(), s); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	homeOfSession(t, one, s)
	serves("its own", true, s)
	serves("none's", true, Session{Caller: "hermes", ID: "s9"})
	now.Err = ErrStore
	serves("while it is not heard", false, s)
	now = Standing{Epoch: 1, Silences: 1}
	serves("after a silence in which none took it", true, s)
	d.dies(t, "one")
	homeOfSession(t, two, s)
	serves("one that it cannot know to be taken", true, s)
	now.Silences++
	serves("another's, after a silence", false, s)
	d.dies(t, "two")
	one.Forget(s)
	serves("that of another that is gone", false, s)
}

func TestWhoIsNotHeardTakesAndBelievesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	f := d.join(t, "one")
	h := f.Homes()
	s := Session{Caller: "hermes", ID: "s1"}
	homeOfSession(t, h, s)
	f.config.Standing = func() Standing { return Standing{Epoch: 1, Err: ErrStore} }
	if home, err := h.Of(t.Context(), s); err == nil {
		t.Errorf("it believes in the home %+v", home)
	}
	f.config.Standing = func() Standing { return Standing{Epoch: 1, Silences: 1} }
	d.do(t, "UPDATE bailiff.replicas SET epoch = 2 WHERE id = 'one'")
	if home, err := h.Of(t.Context(), Session{Caller: "hermes", ID: "s2"}); err == nil {
		t.Errorf("under a name that is another's by now it takes the home %+v", home)
	}
}

// run writes what is claimed until the test ends.
func run(tb testing.TB, f *Fleet) *Requests {
	tb.Helper()
	r := f.Requests()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	tb.Cleanup(func() { stop(); running.Wait() })
	return r
}

func TestAnIDIsClaimedOnce(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	one, two := run(t, d.join(t, "one")), run(t, d.join(t, "two"))
	id := RequestID{"hermes", "s1", "r1"}
	wants := func(r *Requests, digest string, want Claimed) {
		t.Helper()
		if got, err := r.Claim(t.Context(), id, digest); got != want || err != nil {
			t.Errorf("it is %v, %v, want %v", got, err, want)
		}
	}
	wants(one, "a", First)
	wants(one, "a", First) // what became of it is known there
	wants(two, "a", SameElsewhere)
	wants(two, "b", OtherElsewhere)
	two.Ended(id, true) // which is not that one's to free
	wants(two, "a", SameElsewhere)
	one.Ended(id, true)
	wants(one, "c", First)
	one.Ended(id, false)
	wants(one, "c", First)
	wants(two, "c", SameElsewhere)
}

// However connections end, no two claim one id.
func TestNoTwoClaimOneIDWhileConnectionsEnd(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	sides := []*Requests{run(t, d.join(t, "one")), run(t, d.join(t, "two"))}
	ids, workers := backendtest.Rounds(100, 400), 8
	firsts := make([]atomic.Int32, ids)
	var work sync.WaitGroup
	ended := make(chan struct{})
	for i := range workers {
		work.Go(func() {
			for n := range ids {
				id := RequestID{"hermes", fmt.Sprint("s", i/2), fmt.Sprint(n)}
				if got, err := sides[i%2].Claim(t.Context(), id, "a"); err == nil && got == First && i/2 == 0 {
					firsts[n].Add(1)
				}
			}
		})
	}
	go func() { work.Wait(); close(ended) }()
	kills := 0
	for running := true; running; kills++ {
		d.do(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bailiff' AND random() < 0.5")
		select {
		case <-ended:
			running = false
		case <-time.After(5 * time.Millisecond):
		}
	}
	claimed := 0
	for n := range firsts {
		claimed += int(firsts[n].Load())
		if firsts[n].Load() > 1 {
			t.Errorf("id %d is claimed by %d sidecars", n, firsts[n].Load())
		}
	}
	if claimed == 0 || kills == 0 {
		t.Errorf("%d ids were claimed under %d kills", claimed, kills)
	}
	t.Logf("%d of %d ids were claimed under %d rounds of kills", claimed, ids, kills)
}

func TestManyIDsAreClaimedInOneTransaction(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	d.do(t, "CREATE EXTENSION pg_stat_statements")
	r := run(t, d.join(t, "one"))
	d.do(t, "SELECT pg_stat_statements_reset()")
	const workers, each = 16, 100
	var work sync.WaitGroup
	for i := range workers {
		work.Go(func() {
			for n := range each {
				if _, err := r.Claim(t.Context(), RequestID{"hermes", "s", fmt.Sprint(i, " ", n)}, "a"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	const count = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%INSERT INTO bailiff.requests%'"
	calls := d.Number(t, "bailiff", count)
	t.Logf("%.3f transactions a request at %d at once", float64(calls)/(workers*each), workers)
	if calls == 0 || calls > workers*each/4 {
		t.Errorf("%d requests took %d transactions", workers*each, calls)
	}
}

func TestADutyIsOnesAtATime(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	var doing atomic.Int32
	does := func(name string, begun chan<- string, told chan<- string) (stop func()) {
		f := d.join(t, name)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			f.Duty(ctx, "chat", func(ctx context.Context) {
				if doing.Add(1) > 1 {
					t.Error("two do it at once")
				}
				begun <- name
				<-ctx.Done()
				doing.Add(-1)
			}, func(replica string) {
				select {
				case told <- replica:
				default:
				}
			})
		})
		return func() { cancel(); running.Wait() }
	}
	begun, told := make(chan string, 2), make(chan string, 1)
	stop := does("one", begun, told)
	if who := <-begun; who != "one" {
		t.Errorf("%s does it", who)
	}
	stopTwo := does("two", begun, told)
	defer stopTwo()
	if who := <-told; who != "one" {
		t.Errorf("the other is told that %s does it", who)
	}
	stop()
	if who := <-begun; who != "two" {
		t.Errorf("%s does it next", who)
	}
}

func TestTheSidecarsAreListed(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	f := d.join(t, "one")
	d.join(t, "two")
	homeOfSession(t, f.Homes(), Session{Caller: "hermes", ID: "s1"})
	d.dies(t, "two")
	d.do(t, "INSERT INTO bailiff.replicas (id, epoch, seen, freezes) VALUES ('three', 1, '-infinity', 0)")
	all, err := f.Members(t.Context())
	backendtest.Must(t, err)
	if len(all) != 3 || all[0].ID != "one" || !all[0].Lives() || all[0].Homes != 1 || all[0].Revision != "r" || !all[1].Left ||
		all[1].Lives() || all[2].ID != "two" || all[2].Lives() || all[2].Silent < deadAfter {
		t.Errorf("they are %+v", all)
	}
}

// What was told of an earlier run must not be lost with a later one, whose log may have been cut short.
func TestHowFarALogGoesIsKeptForEachRun(t *testing.T) {
	t.Parallel()
	d := newDatabase(t)
	f := d.join(t, "one")
	lines, epoch := int64(3), int64(1)
	f.config.Head = func() LogHead { return LogHead{Chain: "c", Lines: lines, Hash: fmt.Sprint("h", lines)} }
	f.config.Standing = func() Standing { return Standing{Epoch: epoch} }
	told := func() (all []string) {
		backendtest.Must(t, f.tell(t.Context()))
		heads, err := Heads(t.Context(), f.config.DB)
		backendtest.Must(t, err)
		for _, h := range heads {
			all = append(all, fmt.Sprint(h.Replica, " ", h.Chain, " ", h.Lines, " ", h.Hash))
		}
		return all[1:] // the first is of join
	}
	told()
	lines = 9
	if all := told(); !slices.Equal(all, []string{"one c 9 h9"}) {
		t.Errorf("later in the run they are %q", all)
	}
	d.do(t, "UPDATE bailiff.replicas SET epoch = 2 WHERE id = 'one'")
	lines = 10
	if all := told(); !slices.Equal(all, []string{"one c 9 h9"}) {
		t.Errorf("from a sidecar whose name is another's by now they are %q", all)
	}
	epoch, lines = 2, 5
	if all := told(); !slices.Equal(all, []string{"one c 9 h9", "one c 5 h5"}) {
		t.Errorf("in the next run they are %q", all)
	}
	d.do(t, "UPDATE bailiff.log_heads SET told = told - interval '401 days'")
	backendtest.Must(t, f.keep(t.Context()))
	if all := told(); !slices.Equal(all, []string{"one c 5 h5"}) {
		t.Errorf("after a year they are %q", all)
	}
}
