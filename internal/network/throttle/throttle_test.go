package throttle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

type tally map[string]int

func (c tally) Limited(by string) { c[by]++ }

func from(caller, session, user string) bailiff.Request {
	return bailiff.Request{Caller: caller, Session: bailiff.Session{ID: session, Platform: "telegram", UserID: user}}
}

func TestEachShareHoldsForItsOwnOnly(t *testing.T) {
	for name, c := range map[string]struct {
		shares Shares
		other  bailiff.Request // is let in when ana's share is used up
		same   bailiff.Request // is not
		by     string
	}{
		"a caller":  {Shares{Caller: 3}, from("codex", "s", "ana"), from("hermes", "else", "ben"), "caller"},
		"a session": {Shares{Session: 3}, from("hermes", "else", "ana"), from("hermes", "s", "ben"), "session"},
		"a user":    {Shares{User: 3}, from("hermes", "s", "ben"), from("hermes", "else", "ana"), "user"},
	} {
		t.Run(name, func(t *testing.T) {
			seen, now := tally{}, time.Now()
			limit := New(c.shares, seen)
			for n := range 3 {
				if err := limit.admit(from("hermes", "s", "ana"), now); err != nil {
					t.Fatalf("request %d: %v", n+1, err)
				}
			}
			if err := limit.admit(c.same, now); err == nil || !strings.Contains(err.Error(), "this "+c.by) ||
				!strings.Contains(err.Error(), "in 20 seconds") {
				t.Errorf("got %v, want the share of the %s to be used up", err, c.by)
			}
			if err := limit.admit(c.other, now); err != nil {
				t.Errorf("another is kept out: %v", err)
			}
			if err := limit.admit(c.same, now.Add(20*time.Second)); err != nil {
				t.Errorf("kept out after the wait: %v", err)
			}
			if seen[c.by] != 1 || len(seen) != 1 {
				t.Errorf("told %v, want one by %s", seen, c.by)
			}
		})
	}
}

func TestWhatIsKeptOutTakesNothingFromOtherShares(t *testing.T) {
	now := time.Now()
	limit := New(Shares{Caller: 3, Session: 1}, tally{})
	for range 100 {
		_ = limit.admit(from("hermes", "flood", "ana"), now)
	}
	for n := range 2 {
		if err := limit.admit(from("hermes", fmt.Sprint(n), "ben"), now); err != nil {
			t.Errorf("the flood took the caller's share: %v", err)
		}
	}
}

func TestASidecarThatIsNotCountedHasAWholeShare(t *testing.T) {
	limit := New(Shares{Caller: 1, User: 1}, tally{})
	limit.Divide(Parts{})
	if err := limit.Admit(from("hermes", "s", "ana")); err != nil {
		t.Error(err)
	}
	if err := limit.Admit(from("hermes", "s", "ana")); err == nil {
		t.Error("a second request was let in")
	}
}

func TestNoShareMeansNoBound(t *testing.T) {
	limit := New(Shares{}, tally{})
	for range 10_000 {
		if err := limit.Admit(from("hermes", "s", "ana")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMadeUpSessionsFillNoMemoryAndEscapeNoCallersBound(t *testing.T) {
	now := time.Now()
	limit := New(Shares{Caller: 100, Session: 1}, tally{})
	in := 0
	for n := range 3 * maxKnown {
		if limit.admit(from("hermes", fmt.Sprint(n), "ana"), now) == nil {
			in++
		}
	}
	if in != 100 {
		t.Errorf("let %d in, want 100", in)
	}
	if n := limit.buckets.Len(); n > 2*maxKnown {
		t.Errorf("%d buckets are kept", n)
	}
}

func TestAShareThatSeveralSidecarsHaveIsDivided(t *testing.T) {
	limit, now := New(Shares{Caller: 60, Session: 60, User: 60}, tally{}), time.Now()
	admitted := func() (n int) {
		for limit.admit(from("hermes", fmt.Sprint("s", n), fmt.Sprint("u", n)), now) == nil {
			n++
		}
		return n
	}
	if n := admitted(); n != 60 {
		t.Errorf("alone it lets %d in", n)
	}
	limit.Divide(Parts{Caller: 3, User: 1})
	now = now.Add(time.Minute)
	if n := admitted(); n != 20 {
		t.Errorf("with two others it lets %d in", n)
	}
	const want = "60 requests a minute that limits.requests_per_minute allows it at 3 sidecars together"
	if err := limit.admit(from("hermes", "s", "ana"), now); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it says %v", err)
	}
	limit.Divide(Parts{Caller: 1, User: 1})
	if n := admitted(); n != 0 {
		t.Errorf("it forgot what came: once the others are gone it lets %d in at once", n)
	}
	now = now.Add(time.Minute)
	if n := admitted(); n != 60 {
		t.Errorf("a minute after they are gone it lets %d in", n)
	}
}
