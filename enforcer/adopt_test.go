package enforcer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// Adopt attaches to a sandbox that was made for an equal spec and stands still.
func (s *fakeBackend) Adopt(_ context.Context, id string, spec backends.Spec) (backends.Sandbox, error) {
	for _, r := range s.sandboxes() {
		if r.id == id && alike(r.spec, spec) && r.spec.Session == spec.Session && r.stands() {
			return r, nil
		}
	}
	return nil, errBoom
}

func (r *fakeSandbox) stands() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// kill makes the disk what it is now: whatever b does from here on, a killed
// sidecar would not have written.
func (b *bench) kill() {
	disk := b.let
	disk.mu.Lock()
	defer disk.mu.Unlock()
	b.let = &entriesInMemory[ledger.Sandbox]{all: maps.Clone(disk.all)}
}

// restarted is a sidecar that starts after b was killed: it has what was on disk
// and what runs still.
func (b *bench) restarted(t *testing.T, changes ...func(*bench)) *bench {
	t.Helper()
	next := newBench(t, append([]func(*bench){func(n *bench) { n.judge, n.fakeBackend, n.let = b.judge, b.fakeBackend, b.let }},
		changes...)...)
	next.Adopt(t.Context())
	return next
}

func TestASandboxOfAKilledSidecarIsGoneOnWith(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/deep"}, nil
		}
	})
	first := b.Execute(t.Context(), request("cd deep"), nil)
	next := b.restarted(t)
	if all := next.Sandboxes(); len(all) != 1 || all[0].ID != first.SandboxID || all[0].Caller != "hermes" || all[0].Session != "s1" {
		t.Fatalf("the restarted sidecar has %+v", all)
	}
	if a := next.Execute(t.Context(), request("ls"), nil); a.SandboxID != first.SandboxID || a.Message != "" {
		t.Errorf("answer is %+v", a)
	}
	sandbox := b.fakeBackend.sandboxes()[0]
	if at := sandbox.cmds[1].Workdir; at != "/workspace/deep" {
		t.Errorf("the session goes on in %q", at)
	}
	if n, err := next.EndSession(t.Context(), "hermes", "s1"); n.Sandboxes != 1 || err != nil || sandbox.stands() {
		t.Errorf("ending the session removed %+v, %v", n, err)
	}
}

func TestWhatIsNotGoneOnWithIsForgotten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*bench)          // while the sidecar was not there
		after  func(*bench)          // how the restarted sidecar differs
		entry  func(*ledger.Sandbox) // what its record says
	}{
		"a sandbox that has ended":         {before: func(b *bench) { _ = b.fakeBackend.sandboxes()[0].Close(context.Background()) }},
		"one whose backend is gone":        {entry: func(s *ledger.Sandbox) { s.Backend = "gone" }},
		"another sidecar's":                {entry: func(s *ledger.Sandbox) { s.Spec.Owner = "other" }},
		"one that has expired":             {entry: func(s *ledger.Sandbox) { s.Expires = time.Now() }},
		"one that was made for other work": {entry: func(s *ledger.Sandbox) { s.Spec.PIDs = 7 }},
		"a frozen session's":               {after: func(b *bench) { b.human.frozen = true }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Execute(t.Context(), request("true"), nil)
			b.kill()
			if c.before != nil {
				c.before(b)
			}
			if c.entry != nil {
				records, _ := b.let.All()
				clear(b.let.all)
				c.entry(&records[0])
				_ = b.let.Keep(records[0])
			}
			if c.after == nil {
				c.after = func(*bench) {}
			}
			next := b.restarted(t, c.after)
			if all := next.Sandboxes(); len(all) != 0 {
				t.Errorf("the restarted sidecar has %+v", all)
			}
			if all, _ := b.let.All(); len(all) != 0 {
				t.Errorf("remembered is %+v", all)
			}
		})
	}
}

func TestALedgerThatCannotBeReadKeepsNobodyFromWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.let.fault = errors.New("disk on fire") })
	b.Adopt(t.Context())
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}

func TestOfTwoSandboxesInOnePlaceTheNewerIsGoneOnWith(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	records, _ := b.let.All()
	older := records[0]
	older.ID, older.Since = "sandbox-0", older.Since.Add(-time.Second)
	_ = b.let.Keep(older)
	next := b.restarted(t)
	if all := next.Sandboxes(); len(all) != 1 || all[0].ID != "sandbox-1" {
		t.Errorf("the restarted sidecar has %+v", all)
	}
	if all, _ := b.let.All(); len(all) != 1 {
		t.Errorf("remembered is %+v", all)
	}
}

func TestTheLedgerKnowsWhatMayBeGoneOnWithAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := func() (ids []string) {
		all, _ := b.let.All()
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		return ids
	}
	b.Execute(t.Context(), request("true"), nil)
	b.judge.says(allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" }))
	b.Execute(t.Context(), request("true"), nil) // has a sandbox of its own, gone with it
	if got := ids(); !slices.Equal(got, []string{"sandbox-1"}) {
		t.Errorf("the ledger knows %v", got)
	}
	b.judge.says(allow())
	if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
		t.Fatal(err)
	}
	if got := ids(); len(got) != 0 {
		t.Errorf("after the session's end the ledger knows %v", got)
	}
	b.Execute(t.Context(), request("true"), nil)
	b.Close(t.Context())
	if got := ids(); len(got) != 0 {
		t.Errorf("after an orderly end the ledger knows %v", got)
	}
}

func TestWhoComesLaterIsKnownToTheSuccessorToo(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision.Backend.Scope = "user" })
	other := request("true")
	other.Session.ID = "s2"
	b.Execute(t.Context(), request("true"), nil)
	b.Execute(t.Context(), other, nil)
	next := b.restarted(t)
	err := next.Halt(t.Context(), func(s bailiff.Session) bool { return s.ID == "s2" })
	if all := next.Sandboxes(); err != nil || len(all) != 0 {
		t.Errorf("%v %+v", err, all)
	}
}

func TestTheClockOfASandboxThatIsGoneOnWithRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Execute(t.Context(), request("true"), nil)
		next := b.restarted(t)
		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		if all := next.Sandboxes(); len(all) != 1 {
			t.Errorf("before its time it is gone: %+v", all)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if all := next.Sandboxes(); len(all) != 0 {
			t.Errorf("after its time there is %+v", all)
		}
	})
}

// stuck never adopts anything.
type stuck struct{ *fakeBackend }

func (stuck) Adopt(ctx context.Context, _ string, _ backends.Spec) (backends.Sandbox, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAnEngineThatHangsHoldsUpNoStartForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Execute(t.Context(), request("true"), nil)
		records, _ := b.let.All()
		for n := range 100 {
			record := records[0]
			record.ID, record.Slot = fmt.Sprint("c", n), fmt.Sprint("slot", n)
			_ = b.let.Keep(record)
		}
		next := newBench(t, func(n *bench) { n.let = b.let })
		next.config.Backends["docker"] = stuck{b.fakeBackend}
		start := time.Now()
		next.Adopt(t.Context())
		if took := time.Since(start); took > adoptsTimeout {
			t.Errorf("the start is held up for %s", took)
		}
		if left, _ := b.let.All(); len(left) != 0 {
			t.Errorf("%d are remembered", len(left))
		}
	})
}
