package enforcer

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestAnOperatorsWordRunsWhatThePoliciesDenyAndNothingMore(t *testing.T) {
	t.Parallel()
	denied := func(rule string) bailiff.Decision {
		return allow(forward("GITHUB_TOKEN"), func(d *bailiff.Decision) {
			d.Outcome, d.Denials = bailiff.Deny, []bailiff.Reason{{Rule: rule, Message: "No."}}
		})
	}
	for name, c := range map[string]struct {
		decision bailiff.Decision
		frozen   bool
		runs     bool
	}{
		"what a rule denies runs":                 {denied("command.x"), false, true},
		"what humans would be asked runs at once": {allow(ask), false, true},
		"what the floor denies does not":          {allow(func(d *bailiff.Decision) { d.Backend.Name = "local" }), false, false},
		"nor what is frozen":                      {denied("command.x"), true, false},
		"nor what the policies gave no place":     {bailiff.Denial("policy.error", "Broken."), false, false},
		"nor what would set a loader's variable": {allow(ask,
			func(d *bailiff.Decision) { d.Env.Set = map[string]string{"LD_PRELOAD": "x"} }), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) {
				b.judge.decision, b.human.frozen = c.decision, c.frozen
				b.env = environ{"GITHUB_TOKEN": "ghp-12345678"}
			})
			req := request("reboot")
			req.Env = []string{"GITHUB_TOKEN"}
			a := b.BreakGlass(t.Context(), req, api.BreakGlass{By: "ana", Via: "uid:1000", Reason: "The disk is full."})
			if ran := a.Status == bailiff.Completed; ran != c.runs {
				t.Fatalf("answer is %+v", a)
			}
			order := b.tape.all()[0].Custom.BreakGlass
			if order == nil || order.By != "ana" || order.Reason != "The disk is full." {
				t.Errorf("the log says %+v of the break-glass order", order)
			}
			if c.runs && len(entered(b.fakeBackend.sandboxes()[0].cmds[0])) != 0 {
				t.Error("a variable entered")
			}
		})
	}
}
