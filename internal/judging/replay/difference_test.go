package replay

import (
	"slices"
	"strconv"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// allowed is a decision to let run in docker.
func allowed(change func(*bailiff.Decision)) bailiff.Decision {
	d := bailiff.Decision{Outcome: bailiff.Allow}
	d.Backend = bailiff.BackendTerms{Name: "docker", Scope: "session", Network: "none", Image: "python:3.13"}
	d.Limits = bailiff.Limits{TimeoutSeconds: 60, OutputBytes: 50_000}
	if change != nil {
		change(&d)
	}
	return d
}

func asking(change func(*bailiff.ApprovalTerms)) func(*bailiff.Decision) {
	return func(d *bailiff.Decision) {
		d.Outcome = bailiff.Ask
		d.Approval = &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "a"}}, Scopes: []string{"once"}, Quorum: 1,
			TimeoutSeconds: 300}
		if change != nil {
			change(d.Approval)
		}
	}
}

func only(what, from, to string, leads api.Direction) []api.Difference {
	return []api.Difference{difference(what, from, to, leads)}
}

func TestWhatLetsMoreHappenIsToldFromWhatLetsLess(t *testing.T) {
	backendtest.Long(t)
	for name, c := range map[string]struct {
		was, now func(*bailiff.Decision)
		want     []api.Difference
	}{
		"nothing differs":           {nil, nil, nil},
		"empty is what is left out": {nil, func(d *bailiff.Decision) { d.Env.Forward = []string{} }, nil},
		"a question becomes a yes":  {asking(nil), nil, only("outcome", "ask", "allow", api.Looser)},
		"a yes becomes a question":  {nil, asking(nil), only("outcome", "allow", "ask", api.Stricter)},
		"an answer holds for longer": {asking(nil), asking(func(a *bailiff.ApprovalTerms) { a.Scopes = []string{"once", "session"} }),
			only("approval.scopes", "", "session", api.Looser)},
		"more people must say yes": {asking(nil), asking(func(a *bailiff.ApprovalTerms) { a.Quorum = 2 }),
			only("approval.quorum", "1", "2", api.Stricter)},
		"another rule asks": {asking(nil), asking(func(a *bailiff.ApprovalTerms) { a.Reasons = []bailiff.Reason{{Rule: "b"}} }),
			only("rules", "a", "b", api.Sideways)},
		"a variable enters": {nil, func(d *bailiff.Decision) { d.Env.Forward = []string{"TOKEN"} },
			only("env.forward", "", "TOKEN", api.Looser)},
		"another variable enters": {func(d *bailiff.Decision) { d.Env.Forward = []string{"A"} },
			func(d *bailiff.Decision) { d.Env.Forward = []string{"B"} }, only("env.forward", "A", "B", api.Looser)},
		"a variable is sealed": {nil, func(d *bailiff.Decision) { d.Env.Sealed = []string{"A"} },
			only("env.sealed", "", "A", api.Stricter)},
		"a value is set": {nil, func(d *bailiff.Decision) { d.Env.Set = map[string]string{"A": "1"} },
			only("env.set.A", "", "1", api.Sideways)},
		"the network opens": {nil, func(d *bailiff.Decision) { d.Backend.Network = "full" },
			only("backend.network", "none", "full", api.Looser)},
		"the system becomes read-only": {nil, func(d *bailiff.Decision) { d.Backend.ReadOnly = true },
			only("backend.read_only", "false", "true", api.Stricter)},
		"nothing isolates any more": {nil, func(d *bailiff.Decision) { d.Backend.Name = "local" },
			only("backend.name", "docker", "local", api.Looser)},
		"another sandbox isolates": {nil, func(d *bailiff.Decision) { d.Backend.Name = "bubblewrap" },
			only("backend.name", "docker", "bubblewrap", api.Sideways)},
		"there is less time": {nil, func(d *bailiff.Decision) { d.Limits.TimeoutSeconds = 7 },
			only("limits.timeout_seconds", "60", "7", api.Stricter)},
		"a limit is new": {nil, func(d *bailiff.Decision) { d.Limits.BackgroundSeconds = 7 },
			only("limits.background_seconds", "", "7", api.Stricter)},
		"a limit is gone": {func(d *bailiff.Decision) { d.Backend.PIDs = 7 }, nil, only("backend.pids", "7", "0", api.Looser)},
		"the image is another": {nil, func(d *bailiff.Decision) { d.Backend.Image = "alpine" },
			only("backend.image", "python:3.13", "alpine", api.Sideways)},
		"the runtime is another": {func(d *bailiff.Decision) { d.Backend.Runtime = "runsc" },
			func(d *bailiff.Decision) { d.Backend.Runtime = "kata" },
			only("backend.runtime", "runsc", "kata", api.Sideways)},
		"the sidecar named the runtime": {func(d *bailiff.Decision) { d.Backend.Runtime = "runsc" }, nil, nil},
		"the image was pinned":          {func(d *bailiff.Decision) { d.Backend.Image = "python@sha256:ab" }, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := differences(allowed(c.was), allowed(c.now), here); !slices.Equal(got, c.want) {
				t.Errorf("the differences are %q, want %q", got, c.want)
			}
		})
	}
}

func TestAReportStaysSmallWhateverALogHolds(t *testing.T) {
	backendtest.Long(t)
	const many = 5000
	sums := newTally(false)
	for i := range many {
		n := strconv.Itoa(i)
		sums.addOne(finding{verdict: verdict{Was: judgement{Decision: allowed(nil)}, Now: judgement{Decision: allowed(nil)},
			asked: api.LineInput{Session: bailiff.Session{Platform: "telegram", UserID: n}},
			Differences: []api.Difference{difference("backend.image", n, n+"b", api.Sideways),
				difference("rules", "", "a", api.Sideways)}}})
	}
	r := sums.report()
	rules := r.Changes[slices.IndexFunc(r.Changes, func(c Change) bool { return c.What == "rules" })]
	rest := r.Changes[slices.IndexFunc(r.Changes, func(c Change) bool { return c.From == "…" })]
	if len(r.Changes) != maxChanges+1 || rules.Decisions != many || rest.Decisions != many-maxChanges+1 {
		t.Errorf("%d changes, %d of rules, %d of other images; want %d, %d, %d", len(r.Changes), rules.Decisions, rest.Decisions,
			maxChanges+1, many, many-maxChanges+1)
	}
	if len(rules.Users) != shownUsers || rules.UserCount != maxUsers || len(rules.Examples) != maxExamples {
		t.Errorf("%d users are shown of %d, with %d examples", len(rules.Users), rules.UserCount, len(rules.Examples))
	}
}
