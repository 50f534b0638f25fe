package app

import (
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Every command ends before it removes anything, which the policies do not count on.
func TestAGrantCoversWhatWasApprovedAndNothingElse(t *testing.T) {
	t.Parallel()
	_, house := withHouse(t, houseAsksAboutRemovals)
	granted := atTerminal("s1", "exit; rm -r build")
	granted.WaitSeconds = 0
	but := func(change func(*bailiff.Request)) bailiff.Request { req := granted; change(&req); return req }
	text := func(command string) bailiff.Request {
		return but(func(r *bailiff.Request) { r.Args.Command = "exit; " + command })
	}
	for scope, everywhere := range map[string]bool{bailiff.ScopeSession: false, bailiff.ScopeAlways: true} {
		t.Run(scope, func(t *testing.T) {
			d := startCounted(t, house)
			entry := mustApprove(t, d.operator, ask(t, d.agent, granted).Approval.ID, scope)
			for name, c := range map[string]struct {
				req     bailiff.Request
				covered bool
			}{
				"the same":                     {granted, true},
				"the same with harmless words": {text("echo now; rm -r build"), true},
				"by another program":           {text("timeout 9 rm -r build"), false},
				"in another session":           {but(func(r *bailiff.Request) { r.Session.ID = "s2" }), everywhere},
				"of another user":              {but(func(r *bailiff.Request) { r.Session.UserID = "43" }), false},
				"on another platform":          {but(func(r *bailiff.Request) { r.Session.Platform, r.Backend = "telegram", "" }), false},
				"on another backend":           {but(func(r *bailiff.Request) { r.Backend = "bubblewrap" }), false},
				"from another folder":          {but(func(r *bailiff.Request) { r.Args.Workdir = "/tmp" }), false},
				"a folder of the home":         {text("rm -r ~/project"), false},
				"with another one":             {text("rm -r build ~/project"), false},
				"a folder below":               {text("rm -r build/old"), false},
				"after a change of folder":     {text("cd .. && rm -r build"), false},
				"after one in another shell":   {text("bash -c 'cd ..; rm -r build'"), false},
				"after one in a function":      {text("f() { cd ..; }; f; rm -r build"), false},
				"after one that is evaluated":  {text("eval 'cd ..'; rm -r build"), false},
				"after pushd":                  {text("pushd .. && rm -r build"), false},
				"with a word that is replaced": {text("rm() { command rm -r ~/project; }; rm -r build"), false},
				"as root":                      {text("sudo rm -r build"), false},
			} {
				t.Run(name, func(t *testing.T) {
					a := ask(t, d.agent, c.req)
					if ran := a.Status == bailiff.Completed; ran != c.covered || !ran && a.Status != bailiff.ApprovalRequired {
						t.Errorf("the answer is %s: %s, want it covered: %t", a.Status, a.Message, c.covered)
					}
					forget(t, d, a)
				})
			}
			if _, err := d.operator.Revoke(t.Context(), entry.GrantID); err != nil {
				t.Fatal(err)
			}
			wants(t, ask(t, d.agent, granted), bailiff.ApprovalRequired, "Needs approval")
		})
	}
}

// forget denies what was asked only to see that it is.
func forget(t *testing.T, d *counted, a api.Answer) {
	t.Helper()
	if a.Status != bailiff.ApprovalRequired {
		return
	}
	if _, err := d.operator.Deny(t.Context(), a.Approval.ID, ""); err != nil {
		t.Error(err)
	}
}

func TestAGrantForAlwaysOutlivesTheSidecar(t *testing.T) {
	t.Parallel()
	_, house := withHouse(t, houseAsksAboutRemovals)
	folder, text := openDir(t), onePerson(t, house, onTheHost(t))
	before := startOffice(t, folder, text)
	e := send(t.Context(), before.agent, atTerminal("s1", "rm -r build"))
	mustApprove(t, before.operator, e.question(t), bailiff.ScopeAlways)
	wants(t, e.end(t), bailiff.Completed, "")
	before.stop()
	after := startOffice(t, folder, text)
	a := ask(t, after.agent, atTerminal("s2", "rm -r build"))
	wants(t, a, bailiff.Completed, "")
	if a.Approval == nil || a.Approval.Scope != bailiff.ScopeAlways {
		t.Errorf("it ran by %+v", a.Approval)
	}
}
