package enforcer

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
)

// displaying is a backend that shows folders of this machine.
type displaying struct{ *fakeBackend }

func (displaying) Shows([]bailiff.Mount) error { return nil }

// album keeps snapshots, or fails to.
type album struct {
	fault error
	calls []string
}

func (*album) Prepare([]string)                       {}
func (*album) Ready([]string) bool                    { return true }
func (*album) Settle(context.Context, []string) error { return nil }
func (*album) Begin(snapshot.Entry, []string, func() bool) func() {
	return func() {}
}
func (a *album) After(snapshot.Entry) { a.calls = append(a.calls, "after") }
func (a *album) Before(_ context.Context, e snapshot.Entry, mounts []bailiff.Mount, _ snapshot.Reach) (snapshot.Entry, error) {
	a.calls = append(a.calls, "before")
	e.Folders = []snapshot.Kept{{Folder: mounts[0].Source, Before: "digest"}}
	return e, a.fault
}

// undoing is a judge who looks at what can be undone.
type undoing func(bailiff.Circumstances) bailiff.Decision

func (u undoing) Decide(_ context.Context, _ bailiff.Request, at bailiff.Circumstances) bailiff.Judgement {
	return bailiff.Judgement{Decision: u(at)}
}

// undoBench has policies that allow what can be undone, and ask about the rest.
func undoBench(t *testing.T, kept *album, always bool) *bench {
	mounted := func(d *bailiff.Decision) {
		d.Backend.Mounts = []bailiff.Mount{{Source: "/project", Target: "/project"}}
	}
	b := newBench(t)
	b.config.Backends["docker"] = displaying{b.fakeBackend}
	b.config.Snapshots = kept
	b.config.Decider = undoing(func(at bailiff.Circumstances) bailiff.Decision {
		d := allow(mounted)
		if d.Snapshot = always || at.Backends["docker"].Undo; !d.Snapshot {
			d.Outcome = bailiff.Ask
			d.Approval = &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "a.b", Message: "It deletes."}}, Scopes: []string{"once"},
				TimeoutSeconds: 1, Quorum: 1}
		}
		return d
	})
	return b
}

func TestASnapshotIsTakenBeforeACommandThatCanBeUndone(t *testing.T) {
	kept := &album{}
	b := undoBench(t, kept, false)
	a := b.Execute(t.Context(), request("rm -r src"), nil)
	if a.Status != bailiff.Completed || !slices.Equal(kept.calls, []string{"before", "after"}) {
		t.Errorf("%s %s, %q", a.Status, a.Message, kept.calls)
	}
	if e := b.tape.all()[0]; e.Custom.Snapshot["/project"] != "digest" {
		t.Errorf("the decision's event has the snapshots %q", e.Custom.Snapshot)
	}
}

func TestASnapshotThatFailsHasTheRequestAskedAbout(t *testing.T) {
	kept := &album{fault: errors.New("no space left on device")}
	b := undoBench(t, kept, false)
	if a := b.Execute(t.Context(), request("rm -r src"), nil); a.Decision.Outcome != bailiff.Ask || b.fakeBackend.commands() > 0 {
		t.Errorf("%s %s, and %d commands ran", a.Status, a.Message, b.fakeBackend.commands())
	}
}

func TestAnOrderedSnapshotIsTakenOrNothingRuns(t *testing.T) {
	b := undoBench(t, &album{fault: errors.New("no space left on device")}, true)
	if a := b.Execute(t.Context(), request("rm -r src"), nil); a.Status != bailiff.Unavailable || b.fakeBackend.commands() > 0 {
		t.Errorf("%s %s, and %d commands ran", a.Status, a.Message, b.fakeBackend.commands())
	}
	if d := b.Decide(t.Context(), request("rm -r src")); d.Decision.Outcome != bailiff.Deny {
		t.Errorf("a client that runs it itself is told %s", d.Decision.Outcome)
	}
}

// What is only observed is kept before it runs, as what is asked about is, and runs where it cannot be kept.
func TestASnapshotIsTakenBeforeWhatIsOnlyObserved(t *testing.T) {
	for _, fault := range []error{nil, errors.New("no space left on device")} {
		kept := &album{fault: fault}
		b := undoBench(t, kept, false)
		asks := b.config.Decider
		b.config.Decider = undoing(func(at bailiff.Circumstances) bailiff.Decision {
			d := asks.Decide(t.Context(), bailiff.Request{}, at).Decision
			if d.Outcome == bailiff.Ask {
				d.Outcome, d.Approval, d.Observed, d.WithoutObserve = bailiff.Allow, nil, []string{"a.b"}, "ask"
			}
			return d
		})
		a := b.Execute(t.Context(), request("rm -r src"), nil)
		want := []string{"before", "after"}
		if fault != nil {
			want = want[:1]
		}
		if a.Status != bailiff.Completed || !slices.Equal(kept.calls, want) {
			t.Errorf("%v: %s %s, %q", fault, a.Status, a.Message, kept.calls)
		}
	}
}
