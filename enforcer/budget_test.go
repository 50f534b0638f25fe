package enforcer

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
)

// frugal judges as policies with one budget do.
type frugal struct {
	*judge
	terms bailiff.Budget
	// then is the outcome once nothing is left.
	then bailiff.Outcome
}

func (f *frugal) Decide(ctx context.Context, req bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	j := f.judge.Decide(ctx, req, at)
	terms := f.terms
	terms.Left = terms.Most
	if at.Spent != nil {
		terms.Left = max(0, terms.Most-at.Spent.Used[terms.Per][terms.Name])
	}
	j.Decision.Budgets = []bailiff.Budget{terms}
	if terms.Left == 0 && terms.Count != bailiff.CountQuestions {
		j.Decision.Outcome = f.then
	}
	if j.Decision.Outcome == bailiff.Deny {
		j.Decision.Denials, j.Decision.Budgets = []bailiff.Reason{{Rule: "budget.used_up", Message: "Nothing is left."}}, nil
	}
	return j
}

func tenADay(count string) bailiff.Budget {
	return bailiff.Budget{Name: "few", Per: "user", Count: count, Window: "day", Most: 10}
}

// newFrugalBench is an enforcer that counts in a folder.
func newFrugalBench(t *testing.T, dir string, terms bailiff.Budget, then bailiff.Outcome, changes ...func(*bench)) *bench {
	t.Helper()
	b := newBench(t, changes...)
	b.config.Decider = &frugal{b.judge, terms, then}
	b.config.Budgets = openBudgets(t, dir)
	return b
}

func openBudgets(t *testing.T, dir string) *budget.Store {
	t.Helper()
	store, err := budget.Open(budget.Config{Dir: dir, Damaged: func() {}, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	return store
}

// of is a request of a user in a session of its own.
func ofUser(user, session, command string) bailiff.Request {
	req := request(command)
	req.Session = bailiff.Session{ID: session, Platform: "slack", UserID: user, ChatID: "c"}
	return req
}

func TestOfManyRequestsAtOnceABudgetLetsSoManyRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ran atomic.Int32
	b := newFrugalBench(t, dir, tenADay(bailiff.CountRequests), bailiff.Deny, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			ran.Add(1)
			return backends.Exit{}, nil
		}
	})
	var all sync.WaitGroup
	var denied atomic.Int32
	for n := range 64 {
		all.Go(func() {
			a := b.Execute(t.Context(), ofUser("U1", "s"+string(rune('a'+n%16)), "date"), nil)
			if a.Status == bailiff.Refused {
				denied.Add(1)
			} else if a.Status != bailiff.Completed {
				t.Errorf("answered %+v", a)
			}
		})
	}
	all.Wait()
	if ran.Load() != 10 || denied.Load() != 54 {
		t.Errorf("%d ran, %d were denied", ran.Load(), denied.Load())
	}
	if a := b.Execute(t.Context(), ofUser("U2", "other", "date"), nil); a.Status != bailiff.Completed {
		t.Errorf("another user: %+v", a)
	}
	again := newFrugalBench(t, dir, tenADay(bailiff.CountRequests), bailiff.Deny)
	if a := again.Execute(t.Context(), ofUser("U1", "new", "date"), nil); a.Status != bailiff.Refused {
		t.Errorf("after a restart: %+v", a)
	}
	if d := again.Decide(t.Context(), ofUser("U1", "new", "date")); d.Decision.Outcome != bailiff.Deny {
		t.Errorf("for a client that runs it itself: %+v", d)
	}
}

func TestWhatDidNotRunUsesNothing(t *testing.T) {
	t.Parallel()
	b := newFrugalBench(t, t.TempDir(), tenADay(bailiff.CountRequests), bailiff.Deny, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{}, backends.ErrNotStarted
		}
	})
	for range 12 {
		b.Execute(t.Context(), ofUser("U1", "s", "date"), nil)
	}
	if spent := b.config.Budgets.Of(b.asker(ofUser("U1", "s", "date"))); spent != nil {
		t.Errorf("used: %+v", spent.Used)
	}
}

func TestOverABudgetPeopleAreAskedWhereItSaysSo(t *testing.T) {
	t.Parallel()
	terms := tenADay(bailiff.CountRequests)
	terms.Most = 1
	b := newFrugalBench(t, t.TempDir(), terms, bailiff.Ask)
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Approval = allow(ask).Approval })
	b.human.answer = always(bailiff.ApprovalApproved)
	for n := range 3 {
		req := ofUser("U1", "s", "date")
		req.WaitSeconds = 300
		if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || len(b.human.asked) != n {
			t.Errorf("the request %d was answered %+v after %d questions", n, a, len(b.human.asked))
		}
	}
}

func TestBeyondABudgetOfQuestionsNoPersonIsAsked(t *testing.T) {
	t.Parallel()
	terms := tenADay(bailiff.CountQuestions)
	terms.Most = 2
	b := newFrugalBench(t, t.TempDir(), terms, bailiff.Deny)
	b.judge.decision = allow(ask)
	b.human.answer = always(bailiff.ApprovalDenied)
	for n, command := range []string{"one", "two", "one", "three"} {
		a := b.Execute(t.Context(), ofUser("U1", "s", command), nil)
		over := strings.Contains(a.Message, "none is left; it begins anew at midnight UTC")
		if over != (n == 3) || a.Status == bailiff.Completed {
			t.Errorf("%s: %+v", command, a)
		}
	}
	if len(b.human.asked) != 3 {
		t.Errorf("%d questions were asked", len(b.human.asked))
	}
}

func TestWhatCannotBeCountedDoesNotRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "budgets")
	b := newFrugalBench(t, dir, tenADay(bailiff.CountRequests), bailiff.Deny)
	must(t, os.RemoveAll(dir))
	a := b.Execute(t.Context(), ofUser("U1", "s", "date"), nil)
	if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != ruleBudget {
		t.Errorf("answered %+v", a)
	}
}

// What others use meanwhile changes how long a command may run, and not what was approved.
func TestAnApprovalHoldsWhileOthersUseTheBudget(t *testing.T) {
	t.Parallel()
	terms := tenADay(bailiff.CountRunSeconds)
	terms.Most, terms.Per = 30, "all"
	var timeout atomic.Int64
	b := newFrugalBench(t, t.TempDir(), terms, bailiff.Deny, func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			timeout.Store(int64(cmd.Timeout.Seconds()))
			return backends.Exit{}, nil
		}
	})
	b.judge.decision = allow(ask)
	b.human.answer = func(bailiff.Claim) bailiff.ApprovalState {
		others := bailiff.Decision{Outcome: bailiff.Allow, Budgets: []bailiff.Budget{terms}}
		others.Limits.TimeoutSeconds = 10
		if _, err := b.config.Budgets.Take(b.asker(ofUser("U2", "other", "x")), others); err != nil {
			t.Error(err)
		}
		return bailiff.ApprovalApproved
	}
	req := ofUser("U1", "s", "date")
	req.WaitSeconds = 300
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || timeout.Load() != 20 {
		t.Errorf("answered %+v, with %d s to run", a, timeout.Load())
	}
}
