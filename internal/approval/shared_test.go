package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/shared"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// server is that of TestOnPostgreSQL while it runs.
var server *postgrestest.Server

// onPostgreSQL gives a book of a test below TestOnPostgreSQL a database of its own.
func (c *Config) onPostgreSQL(t *testing.T) {
	t.Helper()
	if strings.HasPrefix(t.Name(), "TestOnPostgreSQL/") {
		c.Path, c.Shared = "", replicaOf(t, server.Empty(t), "one")
	}
}

func replicaOf(t *testing.T, dsn, name string) *shared.Config {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{DSN: bailiff.NewSecret(dsn)})
	must(t, err)
	t.Cleanup(db.Close)
	return &shared.Config{DB: db, Replica: name}
}

// TestOnPostgreSQL holds the shared store to what the file is held to, and to what only it
// promises.
func TestOnPostgreSQL(t *testing.T) {
	server = postgrestest.Start(t)
	for _, test := range []func(*testing.T){
		TestAnAnswerEndsAnApproval, TestAnswersThatAreNotTaken, TestOnePersonByTwoCredentialsIsOne, TestOneCredentialOfTwoNamesIsOne,
		TestVotesAreCountedByThePeopleAndRoutesOfTheMoment,
		TestTheSameRequestIsAskedOnce, TestWhatNobodyCanAnswerEndsAtOnce, TestAwaitTellsAtOnce,
		TestAwaitEndsWithItsCaller, TestTooManyPending,
		TestAQuestionThatReachesNobodyIsCountedAndNotKept, TestWhatWasAskedAndGrantedBeforeHoldsWhereNobodyIsReachedAnyMore, TestVoid,
		TestAFreezeStopsWhatItNames, TestAFreezeIsToldToWhomItStopsWithoutIDs, TestFreezesThatMakeNoSense,
		TestAFrozenSessionUsesNoGrantOfItsUser, TestScopesThatMayBeGranted, TestWhatAGrantCovers,
		TestAWiderGrantHoldsForNothingThatWasNotApproved, TestAGrantOfScopeOnceIsForAsManyPeopleAndTheRouteThatGaveIt,
		TestAGrantSaysWhatItHoldsFor, TestWhereProofIsWantedAnAnswerSaysHowItWasProved,
		TestAYesHoldsNoLongerAndNoMoreOftenThanItSays, TestTheStrictestTermsOfAllVotesHold,
		TestGrantsCoverTogether, TestAGrantOfScopeOnceIsUsedOnce, TestARevokedGrantCoversNothing,

		TestWhatIsPendingIsPlannedAnewWhenPeopleOrRoutesChange, TestWhoWaitsForWhatNobodyCanAnswerAnyMoreIsWoken,
		TestNobodyGoesByAPlanFromBeforeAChange, TestAVoteThatComesWhileWhatIsPendingIsPlannedAnewIsKept,
		TestPagesOfAList, TestBigTextsStayOnDisk, TestKnownSecretsAreShownNowhere, TestWatching,
		TestASlowWatcherIsToldThatItLostChanges, TestWhatIsCounted,
	} {
		t.Run(nameOfTest(test), test)
	}
	for name, test := range map[string]func(*testing.T){
		"what one replica asks another answers": twoReplicasAnswer, "a freeze is in force on all when it returns": twoReplicasFreeze,
		"a grant of scope once is used on one replica":   twoReplicasRedeem,
		"a grant for some times is used so often on all": twoReplicasCount,
		"what Ask says is granted is covered":            askedAnew,
		"what runs out of time ends":                     timeIsOver,
		"each step is in a log":                          stepsAreLogged,
		"a database that is down grants nothing":         databaseDown, "a step that looks elsewhere fails": looksElsewhere,
		"a book of a file moves once": movesOnce,
	} {
		t.Run(name, test)
	}
}

// replicas opens the books of two replicas.
func replicas(t *testing.T, change ...func(*Config)) (one, two *fixture) {
	t.Helper()
	one = open(t, change...)
	c := configIn(t.TempDir())
	c.Path, c.Shared = "", replicaOf(t, server.DSN("bailiff"), "two")
	for _, f := range change {
		f(&c)
	}
	two = &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
	two.start()
	t.Cleanup(func() { two.Book.Close() })
	return one, two
}

func twoReplicasAnswer(t *testing.T) {
	one, two := replicas(t)
	id := one.ask(claim("rm", "x"))
	if _, err := two.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true, Scope: "once"}); err != nil {
		t.Fatal(err)
	}
	if a := one.Await(t.Context(), id); a.State != bailiff.ApprovalApproved || a.By != "ana" {
		t.Errorf("awaited %+v", a)
	}
	if !one.redeem(claim("rm", "x")) || two.redeem(claim("rm", "x")) {
		t.Error("it is not granted once")
	}
}

// A request that comes to one replica right after its approval on the other can be redeemed there.
func askedAnew(t *testing.T) {
	one, two := replicas(t)
	for round := range 30 {
		c := claim(fmt.Sprint("rm ", round), "x")
		one.approve(one.ask(c), "ana", "once")
		a, err := two.Ask(t.Context(), c)
		if must(t, err); a.State != bailiff.ApprovalApproved || !two.Covered(c) {
			t.Errorf("round %d: asked, it is %s; covered: %v", round, a.State, two.Covered(c))
		}
	}
}

func twoReplicasFreeze(t *testing.T) {
	var stopped atomic.Int32
	one, two := replicas(t, func(c *Config) { c.Shared.Froze = func(context.Context) { stopped.Add(1) } })
	id := two.ask(claim("rm", "x"))
	before := stopped.Load()
	f, err := one.Freeze(t.Context(), api.Freeze{Kind: "all", By: "ben"})
	must(t, err)
	if _, frozen := two.Frozen(bailiff.Session{ID: "s1"}); !frozen || f.Warning != "" || stopped.Load() < before+2 {
		t.Errorf("frozen on the other: %v, stopped %d times, warning %q", frozen, stopped.Load()-before, f.Warning)
	}
	if a := two.Await(t.Context(), id); a.State != bailiff.ApprovalCancelled {
		t.Errorf("awaited %+v", a)
	}
}

func twoReplicasRedeem(t *testing.T) {
	one, two := replicas(t)
	for round := range 5 {
		c := claim(fmt.Sprint("rm ", round), "x")
		one.approve(one.ask(c), "ana", "once")
		var granted atomic.Int32
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				_, ok, err := []*fixture{one, two}[n%2].Redeem(t.Context(), c)
				if must(t, err); ok {
					granted.Add(1)
				}
			})
		}
		all.Wait()
		if n := granted.Load(); n != 1 {
			t.Errorf("granted %d times", n)
		}
	}
}

func twoReplicasCount(t *testing.T) {
	one, two := replicas(t)
	timesAreCounted(t, one, two)
}

func timeIsOver(t *testing.T) {
	f := open(t, func(c *Config) {
		r := c.Router.(roster)
		r.timeout = 500 * time.Millisecond
		c.Router = r
	})
	if a := f.Await(t.Context(), f.ask(claim("rm", "x"))); a.State != bailiff.ApprovalExpired {
		t.Errorf("awaited %+v", a)
	}
}

func stepsAreLogged(t *testing.T) {
	f := open(t)
	f.journal.setBroken(true)
	id := f.ask(claim("rm", "x"))
	f.approve(id, "ana", "once")
	f.journal.setBroken(false)
	f.redeem(claim("rm", "x"))
	if steps := f.steps(id); !slices.Contains(steps, "asked") || !slices.Contains(steps, "approved") {
		t.Errorf("the log has %v", steps)
	}
}

func databaseDown(t *testing.T) {
	f := open(t)
	f.approve(f.ask(claim("rm", "x")), "ana", "session")
	server.Kill()
	if _, granted, err := f.Redeem(t.Context(), claim("rm", "x")); granted || !errors.Is(err, ErrStore) {
		t.Errorf("granted %v, %v", granted, err)
	}
	awaittest.Until(t, "freezing all", func() bool {
		_, frozen := f.Frozen(bailiff.Session{ID: "s1"})
		return frozen && f.Err() != nil && !f.Covered(claim("rm", "x"))
	})
	server.Run(t)
	awaittest.Until(t, "going on", func() bool { return f.Err() == nil })
	if !f.redeem(claim("rm", "x")) {
		t.Error("what was approved before is lost")
	}
}

func looksElsewhere(t *testing.T) {
	f := open(t)
	id := f.ask(claim("rm", "x"))
	for name, look := range map[string]func(*state.State){
		"approval": func(s *state.State) { s.Item(id) }, "grants": func(s *state.State) { s.AllGrants() },
		"pending": func(s *state.State) { s.PendingInOrder() },
		"digest":  func(s *state.State) { s.Cover(state.Want(claim("rm", "x")), time.Now()) },
	} {
		err := f.storage.Do(t.Context(), state.Need{Items: []string{"another"}}, func(s *state.State, _ time.Time) (state.Step, error) {
			look(s)
			return state.Step{}, nil
		})
		if !errors.Is(err, ErrStore) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func movesOnce(t *testing.T) {
	c := configIn(t.TempDir())
	old := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
	old.start()
	id := old.ask(claim("rm", "x"))
	old.approve(old.ask(claim("rm 2", "y")), "ana", "session")
	old.Freeze(t.Context(), api.Freeze{Kind: "user", ID: "7", By: "ben"})
	must(t, old.Close())
	one := replicaOf(t, server.Empty(t), "one")
	n, err := shared.Move(t.Context(), c.Path, one.DB)
	if err != nil || n != 2 {
		t.Fatalf("moved %d, %v", n, err)
	}
	if _, err := os.Lstat(c.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there still: %v", err)
	}
	must(t, os.Rename(c.Path+".moved", c.Path)) // as if it had ended in between
	if n, err := shared.Move(t.Context(), c.Path, one.DB); err != nil || n != 0 {
		t.Errorf("moved again: %d, %v", n, err)
	}
	c.Path, c.Shared = "", one
	f := &fixture{t: t, config: c, journal: c.Recorder.(*journal)}
	f.start()
	defer f.Close()
	if f.state(id) != bailiff.ApprovalPending || !f.redeem(claim("rm 2", "y")) || len(f.Freezes()) != 1 {
		t.Errorf("%s, %d grants, %d freezes", f.state(id), len(f.Grants()), len(f.Freezes()))
	}
	f.approve(id, "ana", "once")
	if f.ask(claim("rm 3", "z")) == id {
		t.Error("a number is given out twice")
	}
}

func nameOfTest(test func(*testing.T)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}
