package enforcer

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// by is a request of a caller, a user and a session.
func by(caller, user, session string) bailiff.Request {
	req := request("true")
	req.Caller, req.Session.UserID, req.Session.ID = caller, user, session
	return req
}

func TestNobodyHasMoreSandboxesThanTheyMay(t *testing.T) {
	t.Parallel()
	local := by("codex", "1", "s9")
	local.Backend, local.Session.Platform = "local", "cli"
	first := []bailiff.Request{by("hermes", "1", "s1"), by("hermes", "2", "s2")}
	for name, c := range map[string]struct {
		most        lease.Bounds
		over, under bailiff.Request
		says        string
	}{
		"in all": {lease.Bounds{Total: 2}, by("codex", "9", "s9"), first[1],
			"this sidecar has 2, as many as limits.sandboxes.total allows"},
		"by a listener": {lease.Bounds{Caller: 2}, by("hermes", "9", "s9"), by("codex", "1", "s1"),
			"listener hermes has 2, as many as limits.sandboxes.caller allows"},
		"by a user": {lease.Bounds{User: 1}, by("hermes", "1", "s9"), by("codex", "1", "s9"),
			"the user has 1, as many as limits.sandboxes.user allows"},
		"by nobody in particular": {lease.Bounds{User: 1, Caller: 2}, by("hermes", "", "s9"), by("codex", "", "s1"),
			"limits.sandboxes.caller"},
		"by a backend": {lease.Bounds{Backend: 2}, by("codex", "9", "s9"), local,
			"backend docker has 2, as many as limits.sandboxes.backend allows"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.config.Decider = wishes{b.judge}
			b.Limit(c.most)
			b.Probe(t.Context())
			for _, req := range first {
				wantRun(t, b, req)
			}
			a := b.Execute(t.Context(), c.over, nil)
			if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeLimit || !strings.Contains(a.Message, c.says) {
				t.Errorf("one too many was answered %+v", a)
			}
			if b.Readiness()["docker"] != nil {
				t.Error("the backend counts as failed")
			}
			wantRun(t, b, first[0]) // in the sandbox that it has
			wantRun(t, b, c.under)
			for _, req := range first {
				if _, err := b.EndSession(t.Context(), req.Caller, req.Session.ID); err != nil {
					t.Fatal(err)
				}
			}
			wantRun(t, b, c.over)
		})
	}
}

func TestASandboxThatReplacesAnotherNeedsNoMoreRoom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Limit(lease.Bounds{Total: 1, Caller: 1, User: 1, Backend: 1})
	wantRun(t, b, request("true"))
	b.judge.says(allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 }))
	wantRun(t, b, request("true"))
	if n := len(b.fakeBackend.sandboxes()); n != 2 {
		t.Errorf("%d sandboxes were made, want another one", n)
	}
}

func wantRun(t *testing.T, b *bench, req bailiff.Request) {
	t.Helper()
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed {
		t.Errorf("%s of %s was answered %+v", req.Session.ID, req.Caller, a)
	}
}
