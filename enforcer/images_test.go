package enforcer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
)

// puller takes until it is let go to say what an image is, and a step before.
type puller struct {
	*fakeBackend
	asked, gone int
	known       chan struct{}
}

func (p *puller) Resolve(ctx context.Context, image string) (string, error) {
	p.asked++
	backends.Step(ctx, "pulling it")
	select {
	case <-p.known:
		return image + "@sha256:1", nil
	case <-ctx.Done():
		p.gone++
		return "", ctx.Err()
	}
}

func TestWhoeverWantsAnImageAtOnceSharesOneLookForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := &puller{fakeBackend: b.fakeBackend, known: make(chan struct{})}
		b.config.Backends["docker"] = p
		answers, told := make(chan bailiff.Answer, 3), make(chan string, 3)
		run := func(ctx context.Context, session string) {
			answers <- b.Execute(ctx, of(session), func(p bailiff.Progress) {
				if p.Step == "pulling it" {
					told <- p.Step
				}
			})
		}
		first, leave := context.WithCancel(t.Context())
		go run(first, "s1")
		synctest.Wait()
		go run(t.Context(), "s2")
		go run(t.Context(), "s3")
		synctest.Wait()
		leave()
		if a := <-answers; a.Status != bailiff.Interrupted || p.gone != 0 {
			t.Errorf("who left got %+v, and ended %d looks of others", a, p.gone)
		}
		close(p.known)
		for range 2 {
			if a := <-answers; a.Status != bailiff.Completed {
				t.Errorf("answer is %+v", a)
			}
		}
		if p.asked != 1 || len(told) != 3 {
			t.Errorf("it was asked %d times, and %d were told so", p.asked, len(told))
		}
	})
}

func TestALookForAnImageThatNobodyWaitsForEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := &puller{fakeBackend: b.fakeBackend, known: make(chan struct{})}
		b.config.Backends["docker"] = p
		for n := 1; n <= 2; n++ {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			if a := b.Execute(ctx, request("true"), nil); a.Status != bailiff.Interrupted {
				t.Errorf("answer is %+v", a)
			}
			stop()
			if synctest.Wait(); p.gone != n || p.asked != n || kept(b.leases, "supply", "images", "looked") != 0 {
				t.Errorf("of %d looks %d ended, and %d are remembered", p.asked, p.gone, kept(b.leases, "supply", "images", "looked"))
			}
		}
	})
}

// costly is a registry that says for how long it is to be believed.
type costly struct{ *registry }

func (costly) Lasts() time.Duration { return time.Hour }

func TestWhatACostlyBackendSaysOfAnImageIsBelievedForAsLongAsItSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r := &registry{fakeBackend: b.fakeBackend}
		b.config.Backends["docker"] = costly{r}
		wantRun(t, b, request("true"))
		b.fakeBackend.fault = errors.New("boom") // which has others asked anew
		b.Execute(t.Context(), of("s2"), nil)
		b.fakeBackend.fault = nil
		time.Sleep(59 * time.Minute)
		wantRun(t, b, of("s3"))
		if r.asked != 1 {
			t.Errorf("within what it said it was asked %d times", r.asked)
		}
		time.Sleep(2 * time.Minute)
		wantRun(t, b, of("s4"))
		if r.asked != 2 {
			t.Errorf("after that it was asked %d times", r.asked)
		}
	})
}

// registry resolves images, as an engine does.
type registry struct {
	*fakeBackend
	asked int
	means string // what its images are now
	fault error
}

func (r *registry) Resolve(_ context.Context, image string) (string, error) {
	r.asked++
	return image + "@sha256:1" + r.means, r.fault
}

func TestAnImageIsPinnedBeforeItsDecisionIsWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := &registry{fakeBackend: b.fakeBackend}
	b.config.Backends["docker"] = r
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Image = "debian" })
	for range 2 {
		b.Execute(t.Context(), request("true"), nil)
	}
	written, ok := b.tape.all()[0].Result.(bailiff.Decision)
	if !ok || written.Backend.Image != "debian@sha256:1" || b.fakeBackend.sandboxes()[0].spec.Image != "debian@sha256:1" {
		t.Errorf("written is %+v", b.tape.all()[0].Result)
	}
	if r.asked != 1 || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("resolved %d times into %d sandboxes, want once", r.asked, len(b.fakeBackend.sandboxes()))
	}
}

func TestAnImageThatCannotBeHadIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.config.Backends["docker"] = &registry{fakeBackend: b.fakeBackend, fault: errBoom}
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || len(b.fakeBackend.sandboxes()) != 0 || b.tape.kinds()[0] != api.DecisionEvent {
		t.Errorf("answer is %+v", a)
	}
}
