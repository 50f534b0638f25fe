package approval

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

func TestAFreezeStopsWhatItNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		freeze api.Freeze
		stops  bool
	}{
		{"everything", api.Freeze{Kind: "all"}, true},
		{"the session", api.Freeze{Kind: "session", ID: "s1"}, true},
		{"another session", api.Freeze{Kind: "session", ID: "s2"}, false},
		{"the user on every platform", api.Freeze{Kind: "user", ID: "42"}, true},
		{"the user on this platform", api.Freeze{Kind: "user", ID: "telegram:42"}, true},
		{"the user of another platform", api.Freeze{Kind: "user", ID: "discord:42"}, false},
		{"another user", api.Freeze{Kind: "user", ID: "4"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			f.approve(f.ask(claim("rm granted", "x")), "ana", "session")
			f.approve(f.ask(claim("rm once", "y")), "ana", "once")
			id := f.ask(claim("rm asked", "z"))
			c.freeze.By, c.freeze.Reason = "ben", "too fast"
			if _, err := f.Freeze(t.Context(), c.freeze); err != nil {
				t.Fatal(err)
			}
			check := func() {
				t.Helper()
				_, frozen := f.Frozen(claim("x").Request.Session)
				if frozen != c.stops || (f.state(id) == bailiff.ApprovalCancelled) != c.stops || (len(f.Grants()) == 0) != c.stops ||
					f.Covered(claim("rm granted", "x")) == c.stops || f.Covered(claim("rm once", "y")) == c.stops {
					t.Errorf("frozen %v, the pending one %s, %d grants", frozen, f.state(id), len(f.Grants()))
				}
			}
			check()
			f.restart()
			check()
			if a, err := f.Ask(t.Context(), claim("rm new", "w")); err != nil || (a.State == bailiff.ApprovalCancelled) != c.stops {
				t.Errorf("asked: %+v, %v", a, err)
			}
			found, err := f.Thaw(t.Context(), c.freeze.Kind, c.freeze.ID, by("ana"))
			if again, _ := f.Thaw(t.Context(), c.freeze.Kind, c.freeze.ID, by("ana")); !found || again || err != nil {
				t.Errorf("thawed %v, again %v, %v", found, again, err)
			}
			f.restart()
			if _, frozen := f.Frozen(claim("x").Request.Session); frozen || len(f.Freezes()) != 0 {
				t.Error("it is frozen still")
			}
			if c.stops && (f.Covered(claim("rm granted", "x")) || f.Covered(claim("rm once", "y"))) {
				t.Error("thawing brought a grant back")
			}
		})
	}
}

func TestAFreezeIsToldToWhomItStopsWithoutIDs(t *testing.T) {
	for _, c := range []struct {
		freeze     api.Freeze
		what, told string
	}{
		{api.Freeze{Kind: "all", By: "ben"}, "everything", "ben froze everything. Nothing runs until it is thawed."},
		{api.Freeze{Kind: "session", ID: "s1", By: "ben", Reason: "It is odd."}, "session s1",
			"ben froze this session: It is odd. Nothing runs until it is thawed."},
		{api.Freeze{Kind: "user", ID: "telegram:42", By: "ben"}, "user telegram:42",
			"ben froze this user. Nothing runs until it is thawed."},
	} {
		if what, told := c.freeze.What(), state.Freeze(c.freeze).Sentence(); what != c.what || told != c.told {
			t.Errorf("%q and %q, want %q and %q", what, told, c.what, c.told)
		}
	}
}

func TestFreezesThatMakeNoSense(t *testing.T) {
	f := open(t)
	for says, freeze := range map[string]api.Freeze{
		"not \"\"":           {},
		"needs its id":       {Kind: "session"},
		"has no id":          {Kind: "all", ID: "s1"},
		"not \"everything\"": {Kind: "everything"},
	} {
		if _, err := f.Freeze(t.Context(), freeze); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", freeze, err)
		}
	}
}

func TestAFrozenSessionUsesNoGrantOfItsUser(t *testing.T) {
	f := open(t)
	c := claim("rm", "x")
	f.approve(f.ask(c), "ana", "always")
	f.Freeze(t.Context(), api.Freeze{Kind: "session", ID: "s1", By: "ben"})
	if f.Covered(c) || f.redeem(c) {
		t.Error("it does")
	}
	if !f.redeem(with(c, func(c *bailiff.Claim) { c.Request.Session.ID = "s2" })) {
		t.Error("neither does another session")
	}
	f.Thaw(t.Context(), "session", "s1", by("ben"))
	if !f.redeem(c) {
		t.Error("it does not when it is thawed")
	}
}
