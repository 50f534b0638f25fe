package budget

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// opened is a store whose clock says a time, with how many files were damaged.
func opened(t *testing.T, dir string, now *time.Time) (*Store, int) {
	t.Helper()
	damaged := 0
	s, err := Open(Config{Dir: dir, Damaged: func() { damaged++ }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return *now }
	return s, damaged
}

func by(platform, user, chat string) Asker {
	return Asker{Request: bailiff.Request{Tool: bailiff.Terminal, Peer: "1000",
		Session: bailiff.Session{ID: "s", Platform: platform, UserID: user, ChatID: chat}}}
}

func terms(count, window, per string, most int) bailiff.Budget {
	return bailiff.Budget{Name: "b", Per: per, Count: count, Window: window, Most: most, Left: most}
}

func allowing(b bailiff.Budget) bailiff.Decision {
	return bailiff.Decision{Outcome: bailiff.Allow, Budgets: []bailiff.Budget{b},
		Obligations: bailiff.Obligations{Limits: bailiff.Limits{TimeoutSeconds: 100}}}
}

func take(t *testing.T, s *Store, a Asker, b bailiff.Budget) *Reservation {
	t.Helper()
	turn, err := s.Take(a, allowing(b))
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func used(s *Store, a Asker, per string) int {
	spent := s.Of(a)
	if spent == nil {
		return 0
	}
	return spent.Used[per]["b"]
}

func TestACounterBeginsAnewWithItsWindowAndNotByAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	now := noon
	s, _ := opened(t, t.TempDir(), &now)
	a := by("slack", "U1", "C1")
	for range 9 {
		take(t, s, a, terms(bailiff.CountRequests, "day", "user", 10))
	}
	for _, step := range []struct {
		days int
		want int
	}{{0, 9}, {-1, 9}, {-5, 9}, {0, 9}, {-400, 9}, {0, 9}, {1, 0}} {
		now = noon.AddDate(0, 0, step.days)
		if step.days < 0 {
			take(t, s, a, terms(bailiff.CountRequests, "day", "user", 100)).End(nil)
		}
		if n := used(s, a, "user"); n != step.want {
			t.Errorf("%d days from the start %d are used, want %d", step.days, n, step.want)
		}
	}
}

func TestAClockThatWasAheadKeepsNoCounterForEver(t *testing.T) {
	t.Parallel()
	now := noon.AddDate(20, 0, 0)
	s, _ := opened(t, t.TempDir(), &now)
	a := by("slack", "U1", "C1")
	take(t, s, a, terms(bailiff.CountRequests, "day", "user", 10))
	now = noon
	take(t, s, a, terms(bailiff.CountRequests, "day", "user", 10))
	now = noon.AddDate(0, 0, 1)
	if n := used(s, a, "user"); n != 0 {
		t.Errorf("a day later %d are used", n)
	}
}

func TestWhoseCounterARequestUses(t *testing.T) {
	t.Parallel()
	now := noon
	s, _ := opened(t, t.TempDir(), &now)
	person := by("slack", "U1", "C1")
	person.Person = "ana"
	take(t, s, person, terms(bailiff.CountRequests, "day", "user", 10))
	take(t, s, by("cli", "made-up", "made-up"), terms(bailiff.CountRequests, "day", "user", 10))
	elsewhere := by("telegram", "7", "8")
	elsewhere.Person = "ana"
	for name, c := range map[string]struct {
		asker Asker
		want  int
	}{
		"the person on another platform":      {elsewhere, 1},
		"the account without the person":      {by("slack", "U1", "C1"), 0},
		"another name on the command line":    {by("cli", "another", "another"), 1},
		"the same account of another service": {by("telegram", "U1", "C1"), 0},
	} {
		if n := used(s, c.asker, "user"); n != c.want {
			t.Errorf("%s: %d are used, want %d", name, n, c.want)
		}
	}
}

func TestSecondsAreSetAsideAndGivenBack(t *testing.T) {
	t.Parallel()
	now := noon
	s, _ := opened(t, t.TempDir(), &now)
	a, b := by("slack", "U1", "C1"), terms(bailiff.CountRunSeconds, "hour", "chat", 150)
	turn := take(t, s, a, b)
	if n := turn.Seconds(100); n != 100 {
		t.Errorf("the first command may run %d s", n)
	}
	second := take(t, s, a, b)
	if n := second.Seconds(100); n != 50 {
		t.Errorf("a second one beside it may run %d s", n)
	}
	if _, err := s.Take(a, allowing(b)); !errors.Is(err, ErrUsedUp) {
		t.Errorf("a third one: %v", err)
	}
	second.End(nil)
	within := a
	within.Request.Within = true
	if n := used(s, within, "chat"); n != 0 {
		t.Errorf("a call of the script finds %d s used", n)
	}
	turn.End(&Ran{Took: 2500 * time.Millisecond})
	if n := used(s, a, "chat"); n != 3 {
		t.Errorf("%d s are used", n)
	}
	take(t, s, a, b).End(nil)
	if n := used(s, a, "chat"); n != 3 {
		t.Errorf("%d s are used after a command that did not run", n)
	}
}

func TestACommandOverMidnightCountsItsBytesInTheNewDay(t *testing.T) {
	t.Parallel()
	now := noon
	dir := t.TempDir()
	s, _ := opened(t, dir, &now)
	a, b := by("slack", "U1", "C1"), terms(bailiff.CountUploadMB, "day", "user", 50)
	long := take(t, s, a, b)
	now = noon.AddDate(0, 0, 1)
	take(t, s, a, b).End(&Ran{Sent: map[string]int64{"a.example": 2 << 20}})
	long.End(&Ran{Sent: map[string]int64{"a.example": 3 << 20}})
	again, _ := opened(t, dir, &now)
	if n, kept := used(s, a, "user"), used(again, a, "user"); n != 5 || kept != 5 {
		t.Errorf("%d MB are used, %d by the file", n, kept)
	}
}

func TestWhatASandboxSendsIsCountedAtItsEnd(t *testing.T) {
	t.Parallel()
	now := noon
	s, _ := opened(t, t.TempDir(), &now)
	a, b := by("slack", "U1", "C1"), terms(bailiff.CountUploadMB, "day", "all", 5)
	take(t, s, a, b).End(&Ran{Sent: map[string]int64{"a.example": 3 << 20, "b.example": 1}})
	if n := used(s, by("telegram", "x", "y"), "all"); n != 4 {
		t.Errorf("%d MB are used", n)
	}
}

func TestWhatIsKeptIsReadAgainAndDamageIsUnknown(t *testing.T) {
	t.Parallel()
	now, dir := time.Now(), t.TempDir()
	s, _ := opened(t, dir, &now)
	a := by("slack", "U1", "C1")
	take(t, s, a, terms(bailiff.CountRequests, "day", "user", 10))
	if s, damaged := opened(t, dir, &now); used(s, a, "user") != 1 || damaged != 0 {
		t.Errorf("%d are used, %d files are damaged", used(s, a, "user"), damaged)
	}
	id := a.of("user")
	for _, text := range []string{"", "{", `{"id":"` + id + `","counters":{"b":null}}`,
		`{"id":"` + id + `","counters":{"b":{"count":"requests","window":"","since":"2026-11-15T00:00:00Z","used":1}}}`,
		`{"id":"` + id + `","counters":{"b":{"count":"requests","window":"day","since":"2026-11-15T00:00:00Z","used":-5}}}`} {
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, damaged := opened(t, dir, &now)
		if spent := s.Of(a); damaged != 1 || spent == nil || len(spent.Unknown) != 1 || spent.Unknown[0] != "user" {
			t.Errorf("%q: %d files are damaged, used %+v", text, damaged, spent)
		}
	}
}
