package enforcer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// mute is a backend whose sweep heeds no deadline.
type mute struct {
	*fakeBackend
	asked   atomic.Int32
	answers chan int
}

func (m *mute) Sweep(context.Context, string, func(string) bool) (int, error) {
	m.asked.Add(1)
	return <-m.answers, nil
}

// swept counts what an observer is told of.
type swept struct {
	blind
	total, failed atomic.Int32
}

func (s *swept) SandboxReaped(string, string) { s.total.Add(1) }
func (s *swept) SweepFailed(backend string) {
	if backend == "docker" {
		s.failed.Add(1)
	}
}

// What has the name of a sidecar that may have lost it may be the one's that took it: workspaces and sandboxes.
func TestASidecarThatMayHaveLostItsNameSweepsNothing(t *testing.T) {
	t.Parallel()
	seen, lost := &swept{}, errors.New("the store does not answer")
	b := newBench(t, func(b *bench) {
		b.made, b.shown, b.checkOwner = seen, seen, func() error { return lost }
	})
	found, files := &engine{fakeBackend: b.fakeBackend, left: []string{"a"}}, newKeepingBackend(b.fakeBackend)
	files.holds["left"] = true
	b.config.Backends["docker"], b.config.Backends["podman"] = found, files
	if n, err := b.Sweep(t.Context()); n != 0 || !errors.Is(err, lost) {
		t.Errorf("meanwhile a sweep removes %d, %v", n, err)
	}
	kept, _ := files.Workspaces(t.Context(), "")
	if len(found.left) != 1 || len(kept) != 1 || seen.failed.Load() != 0 {
		t.Errorf("it leaves %q and the files %q, and blames docker %d times", found.left, kept, seen.failed.Load())
	}
	lost = nil
	if n, err := b.Sweep(t.Context()); n != 1 || err != nil || len(found.left) != 0 {
		t.Errorf("once it has its name a sweep removes %d, %v, and leaves %q", n, err, found.left)
	}
	files.wantAfterSweep(t, b)
	found.left, lost = []string{"b"}, errors.New("another sidecar has the name")
	b.Close(t.Context())
	if len(found.left) != 1 {
		t.Error("a sidecar that ends without its name removed what it found")
	}
}

// sweptLate is a keeper of files whose engine does something before it removes sandboxes.
type sweptLate struct {
	*keepingBackend
	engine *engine
	before func()
}

func (s *sweptLate) Sweep(ctx context.Context, owner string, keep func(string) bool) (int, error) {
	s.before()
	return s.engine.Sweep(ctx, owner, keep)
}

// A sidecar that loses its name while it sweeps, as one that is paused for long does, removes nothing more.
func TestASidecarThatLosesItsNameStopsSweeping(t *testing.T) {
	t.Parallel()
	gone := errors.New("another sidecar has the name")
	var lost atomic.Bool
	b := newBench(t, func(b *bench) {
		b.checkOwner = func() error {
			if lost.Load() {
				return gone
			}
			return nil
		}
	})
	found, files := &engine{left: []string{"a"}}, newKeepingBackend(b.fakeBackend)
	files.holds["left"] = true
	b.config.Backends["docker"] = &sweptLate{files, found, func() { lost.Store(true) }}
	if n, err := b.Sweep(t.Context()); n != 0 || !errors.Is(err, gone) {
		t.Errorf("the sweep removes %d, %v", n, err)
	}
	if kept, _ := files.Workspaces(t.Context(), ""); len(found.left) != 1 || len(kept) != 1 {
		t.Errorf("it leaves %q and the files %q", found.left, kept)
	}
}

func TestABackendThatNeverAnswersKeepsNoOtherFromBeingSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := &swept{}
		b := newBench(t, func(b *bench) { b.made, b.shown = seen, seen })
		m := &mute{fakeBackend: b.fakeBackend, answers: make(chan int)}
		others := []*engine{{fakeBackend: b.fakeBackend}, {fakeBackend: b.fakeBackend}}
		b.config.Backends["docker"], b.config.Backends["bubblewrap"], b.config.Backends["podman"] = m, others[0], others[1]
		for _, want := range []struct {
			name  string
			sweep func() (int, error)
			most  time.Duration
			fault string
		}{
			{"at first", func() (int, error) { return b.Sweep(t.Context()) }, sweepTimeout,
				"sweeping docker: backend unavailable: it did not answer within 1m0s"},
			{"while it owes an answer", func() (int, error) { return b.Sweep(t.Context()) }, sweepTimeout,
				"sweeping docker: backend unavailable: it has not answered since it was asked before"},
			{"at the end", func() (int, error) { b.Close(t.Context()); return 2, nil }, lastSweep, "<nil>"},
		} {
			others[0].left, others[1].left = []string{"a"}, []string{"b"}
			start := time.Now()
			n, err := want.sweep()
			if fault := fmt.Sprint(err); n != 2 || fault != want.fault || len(others[0].left)+len(others[1].left) > 0 {
				t.Errorf("%s %d were swept, %q, left are %q and %q", want.name, n, fault, others[0].left, others[1].left)
			}
			if took := time.Since(start); took != want.most {
				t.Errorf("%s it took %s, want %s", want.name, took, want.most)
			}
		}
		if got := seen.failed.Load(); got != 3 {
			t.Errorf("%d sweeps were told to have failed, want each of docker", got)
		}
		if got := m.asked.Load(); got != 1 {
			t.Errorf("it was asked %d times", got)
		}
		m.answers <- 1
		close(m.answers)
		synctest.Wait()
		if got := seen.total.Load(); got != 3*2+1 {
			t.Errorf("%d were told of, want what was swept late too", got)
		}
	})
}

func TestABackendThatIsBusyIsSweptAsSoonAsItCan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		m := &mute{fakeBackend: b.fakeBackend, answers: make(chan int)}
		b.config.Backends["docker"] = m
		ended := make(chan int, 2)
		for range cap(ended) {
			go func() {
				n, err := b.Sweep(t.Context())
				if err != nil {
					t.Error(err)
				}
				ended <- n
			}()
		}
		synctest.Wait()
		if got := m.asked.Load(); got != 1 {
			t.Errorf("it is swept %d times at once", got)
		}
		m.answers <- 1
		m.answers <- 1
		if got := <-ended + <-ended; got != 2 {
			t.Errorf("%d were swept", got)
		}
		close(m.answers)
	})
}
