package approval

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// as makes a claim one of an agent that others started, from the first that the session's own did.
func as(agents ...string) func(*bailiff.Claim) {
	return func(c *bailiff.Claim) {
		a := &c.Request.Session.Agent
		for _, id := range agents {
			a.ID, a.Parent, a.Depth = id, a.ID, a.Depth+1
		}
	}
}

// sub makes a claim one of an agent that the session's own started.
var sub = as("a")

// covering lets a yes hold for the agents that the one which asks starts.
func covering(c *bailiff.Claim) {
	terms := *c.Decision.Approval
	terms.CoversAgents = true
	c.Decision.Approval = &terms
}

func TestAYesCoversNoOtherAgentUnlessThePoliciesSaySo(t *testing.T) {
	t.Parallel()
	both := func(one, two func(*bailiff.Claim)) func(*bailiff.Claim) {
		return func(c *bailiff.Claim) { one(c); two(c) }
	}
	own := func(*bailiff.Claim) {}
	for name, c := range map[string]struct {
		granted, other func(*bailiff.Claim)
		covers         string // the scopes that do
	}{
		"the agent itself":                     {sub, sub, "once session"},
		"a child of the session's":             {own, sub, ""},
		"the session's own, by a child's":      {sub, own, ""},
		"a sister":                             {sub, as("b"), ""},
		"a child's child":                      {sub, as("a", "b"), ""},
		"a child in another session":           {sub, both(sub, func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }), ""},
		"a child, as the policies say":         {both(own, covering), both(sub, covering), "session always"},
		"a child's child, as they say":         {both(own, covering), both(as("a", "b"), covering), "session always"},
		"a child's own child, as they say":     {both(sub, covering), both(as("a", "b"), covering), "session"},
		"a child's child's child, as they say": {both(sub, covering), both(as("a", "b", "c"), covering), ""},
		"a sister, as they say":                {both(sub, covering), both(as("b"), covering), ""},
		"the parent, as they say of its child": {both(sub, covering), both(own, covering), ""},
		"a child, as they said then":           {both(own, covering), sub, ""},
		"a child, as they say only now":        {own, both(sub, covering), ""},
	} {
		for _, scope := range []string{"once", "session", "always"} {
			granted := with(claim("rm -r build", "build"), c.granted)
			if scope == "always" && granted.Request.Session.Agent.IsSub() {
				continue // which is never offered
			}
			t.Run(name+" by "+scope, func(t *testing.T) {
				t.Parallel()
				f := open(t)
				f.approve(f.ask(granted), "ana", scope)
				f.restart()
				other := with(claim("rm -r build", "build"), c.other)
				want := strings.Contains(c.covers, scope)
				if f.Covered(other) != want || f.redeem(other) != want {
					t.Errorf("covered is not %v", want)
				}
			})
		}
	}
}

func TestAPatternCoversNoOtherAgent(t *testing.T) {
	t.Parallel()
	f := open(t)
	must(t, f.approvePattern(patternable("rm -r build"), "session", "rm -r *"))
	if child := with(patternable("rm -r dist"), sub); f.Covered(child) {
		t.Error("the session's pattern covers a child")
	}
	must(t, f.approvePattern(with(patternable("rm -r build"), sub), "session", "rm -r *"))
	for name, c := range map[string]struct {
		of   func(*bailiff.Claim)
		want bool
	}{"itself": {sub, true}, "its sister": {as("b"), false}, "its child": {as("a", "b"), false}} {
		if f.Covered(with(patternable("rm -r dist"), c.of)) != c.want {
			t.Errorf("the child's pattern covers %s: not %v", name, c.want)
		}
	}
}

func TestAnAgentIsAskedForByItself(t *testing.T) {
	t.Parallel()
	f := open(t)
	own, child := f.ask(claim("rm -r build", "build")), f.ask(with(claim("rm -r build", "build"), sub))
	if own == child {
		t.Error("a child joins the question of the session's own agent")
	}
	f.approve(own, "ana", "session")
	if got := f.state(child); got != bailiff.ApprovalPending {
		t.Errorf("the child's question is %s by the answer to its parent", got)
	}
}
