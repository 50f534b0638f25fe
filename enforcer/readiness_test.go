package enforcer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// wobbly is a fake backend that is not always ready, and does not always open.
type wobbly struct {
	*registry
	mu     sync.Mutex
	ready  error
	hangs  bool
	opens  func(backends.Spec) error
	asked  []time.Time
	opened []time.Time
}

func newWobbly(b *bench) *wobbly {
	w := &wobbly{registry: &registry{fakeBackend: b.fakeBackend}, opens: func(backends.Spec) error { return nil }}
	b.config.Backends["docker"] = w
	return w
}

func (w *wobbly) Ready(ctx context.Context) error {
	w.mu.Lock()
	w.asked = append(w.asked, time.Now())
	fault, hangs := w.ready, w.hangs
	w.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return fault
}

func (w *wobbly) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	w.mu.Lock()
	w.opened = append(w.opened, time.Now())
	fault := w.opens(spec)
	w.mu.Unlock()
	if fault != nil {
		return nil, fault
	}
	return w.fakeBackend.Open(ctx, spec)
}

func (w *wobbly) becomes(ready error, opens func(backends.Spec) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready, w.opens = ready, opens
}

func (w *wobbly) counts() (asked, opened int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked), len(w.opened)
}

var (
	errDown = errors.New("the engine is down")
	errOut  = fmt.Errorf("%w: boom", backends.ErrUnavailable)
)

// failingOf opens nothing of an image.
func failingOf(image string) func(backends.Spec) error {
	return func(s backends.Spec) error {
		if strings.HasPrefix(s.Image, image) {
			return errOut
		}
		return nil
	}
}

// ofImage is a decision for an image.
func ofImage(image string) bailiff.Decision {
	return allow(func(d *bailiff.Decision) { d.Backend.Image = image })
}

// wantFailures sends requests whose sandbox is tried and cannot be had.
func wantFailures(t *testing.T, b *bench, n int) {
	t.Helper()
	for range n {
		if a := b.Execute(t.Context(), request("true"), nil); !strings.Contains(a.Message,
			"Opening a docker sandbox: backend unavailable: boom") {
			t.Errorf("answer is %q, want that it was tried", a.Message)
		}
	}
}

const nothing = "it answers, but opens no sandbox: backend unavailable: boom"

func well(backends.Spec) error    { return nil }
func failing(backends.Spec) error { return errOut }

// of is a request of another session.
func of(session string) bailiff.Request {
	req := request("true")
	req.Session.ID = session
	return req
}

func wantUnready(t *testing.T, b *bench, req bailiff.Request, says string) {
	t.Helper()
	a := b.Execute(t.Context(), req, nil)
	if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeBackend || a.Backend != "docker" ||
		!strings.Contains(a.Message, "docker is not ready: "+says) {
		t.Errorf("answer is %+v, want that docker is not ready: %s", a, says)
	}
}

func TestABackendThatIsNotReadyRefusesAtOnceWithItsReason(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := newWobbly(b)
	w.becomes(errDown, failing)
	b.Probe(t.Context())
	wantUnready(t, b, request("true"), "the engine is down")
	b.judge.says(allow(func(d *bailiff.Decision) { d.Outcome, d.Approval = bailiff.Ask, &bailiff.ApprovalTerms{} }))
	wantUnready(t, b, request("true"), "the engine is down")
	if _, opened := w.counts(); opened != 0 || w.registry.asked != 0 || len(b.human.asked) != 0 {
		t.Errorf("%d were opened, %d images looked up, %d questions asked", opened, w.registry.asked, len(b.human.asked))
	}
	b.judge.says(allow())
	w.becomes(nil, well)
	b.Probe(t.Context())
	wantRun(t, b, request("true"))
}

// lamp shows which backends are ready.
type readyObserver struct {
	blind
	mu sync.Mutex
	on map[string]bool
}

func (l *readyObserver) BackendReady(backend string, ready bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on[backend] = ready
}

func TestWhetherABackendIsReadyIsShownAndLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	shown := &readyObserver{on: map[string]bool{}}
	b := newBench(t, func(b *bench) { b.shown, b.log = shown, slog.New(slog.NewTextHandler(&log, nil)) })
	log.Reset() // of the first probe
	w := newWobbly(b)
	for _, fault := range []error{errDown, errDown, nil, nil} {
		w.becomes(fault, well)
		b.Probe(t.Context())
		if shown.on["docker"] != (fault == nil) || !shown.on["local"] {
			t.Errorf("with %v shown is %v", fault, shown.on)
		}
	}
	if text := log.String(); strings.Count(text, "is not ready") != 1 || strings.Count(text, "is ready") != 1 ||
		!strings.Contains(text, errDown.Error()) {
		t.Errorf("logged is\n%s", text)
	}
}

func TestASandboxThatServesGoesOnServingThoughItsBackendIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := newWobbly(b)
		wantRun(t, b, request("true"))
		w.becomes(errDown, failing)
		b.Probe(t.Context())
		time.Sleep(10 * pinTime)
		wantRun(t, b, request("true"))
		wantUnready(t, b, of("s2"), "the engine is down")
		for session, ready := range map[string]bool{"s1": true, "s2": false} {
			if got := b.Circumstances(of(session)).Backends["docker"].Ready; got != ready {
				t.Errorf("for the policies the backend of %s is ready: %v", session, got)
			}
		}
		if w.registry.asked != 1 {
			t.Errorf("the image was looked up %d times where nobody answers", w.registry.asked)
		}
		_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
		wantUnready(t, b, request("true"), "the engine is down")
	})
}

func TestABackendThatIsDownIsAskedAgainEverMoreRarelyUntilItIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := newWobbly(b)
		w.becomes(errDown, failing)
		ctx, stop := context.WithCancel(t.Context())
		go b.Watch(ctx)
		time.Sleep(time.Hour)
		if asked, _ := w.counts(); asked > int(time.Hour/probeEvery)+10 {
			t.Errorf("it was asked %d times in an hour", asked)
		}
		for n, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
			if got := w.asked[n+1].Sub(w.asked[n]); got != want*time.Second {
				t.Errorf("pause %d is %s, want %ds", n, got, want)
			}
		}
		w.becomes(nil, well)
		time.Sleep(probeEvery + time.Second)
		wantRun(t, b, request("true"))
		w.becomes(errDown, failing)
		for b.Readiness()["docker"] == nil {
			time.Sleep(firstPause / 10)
		}
		w.becomes(nil, well)
		time.Sleep(firstPause + time.Second/10)
		wantRun(t, b, of("s2"))
		stop()
		synctest.Wait()
	})
}

func TestABackendThatDoesNotAnswerIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := newWobbly(b)
		w.hangs = true
		b.Probe(t.Context())
		wantUnready(t, b, request("true"), "backend unavailable: it did not answer within 10s")
	})
}

// deaf is a backend that heeds no deadline.
type deaf struct {
	backends.Backend
	asked   int
	answers chan error
}

func (d *deaf) Ready(context.Context) error {
	d.asked++
	return <-d.answers
}

func TestABackendThatHeedsNoDeadlineHoldsUpNobodyAndIsAskedOnceAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		d := &deaf{Backend: b.fakeBackend, answers: make(chan error)}
		b.config.Backends["docker"] = d
		b.Probe(t.Context())
		wantUnready(t, b, request("true"), "backend unavailable: it did not answer within 10s")
		b.Probe(t.Context())
		wantUnready(t, b, request("true"), "backend unavailable: it has not answered since it was asked before")
		d.answers <- nil
		synctest.Wait()
		go func() { d.answers <- nil }()
		b.Probe(t.Context())
		wantRun(t, b, request("true"))
		if d.asked != 2 {
			t.Errorf("it was asked %d times", d.asked)
		}
		b.Close(t.Context())
	})
}

// watched has a backend probed until the test ends.
func watched(t *testing.T, test func(t *testing.T, b *bench, w *wobbly)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := newWobbly(b)
		ctx, stop := context.WithCancel(t.Context())
		go b.Watch(ctx)
		synctest.Wait()
		test(t, b, w)
		stop()
		synctest.Wait()
	})
}

func TestABackendThatAnswersAndOpensNothingIsTriedEverMoreRarely(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, b *bench, w *wobbly) {
		wantRun(t, b, of("s0"))
		w.becomes(nil, failing)
		wantFailures(t, b, tripAfter)
		time.Sleep(3 * firstPause)
		wantFailures(t, b, 1) // which is let through
		if b.Circumstances(request("true")).Backends["docker"].Ready {
			t.Error("for the policies it is ready")
		}
		for range 1000 { // which have no part in it
			wantUnready(t, b, request("true"), nothing)
		}
		for range 3600 {
			b.Execute(t.Context(), request("true"), nil)
			time.Sleep(time.Second)
		}
		if _, opened := w.counts(); opened > 2*25 {
			t.Errorf("%d sandboxes were tried in an hour", opened)
		}
		w.becomes(nil, well)
		time.Sleep(samplePause + time.Second)
		probe := b.fakeBackend.sandboxes()[1]
		if probe.spec.Workspace != "" || probe.spec.Session != "" || !isClosed(probe.done) || probe.spec.Owner != "test" ||
			probe.spec.Expires.IsZero() {
			t.Errorf("it was probed with %+v, which is closed: %v", probe.spec, isClosed(probe.done))
		}
		wantRun(t, b, request("true"))
	})
}

func TestWhatNeverOpenedTripsNoBreaker(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, b *bench, w *wobbly) {
		w.becomes(nil, failingOf("misspelt"))
		b.judge.says(ofImage("misspelt"))
		for range 2 { // first when nothing else was opened yet
			wantFailures(t, b, 10*tripAfter)
			time.Sleep(24 * time.Hour)
			b.judge.says(allow())
			wantRun(t, b, of("s2"))
			b.judge.says(ofImage("misspelt"))
		}
		if _, opened := w.counts(); opened != 2*10*tripAfter+2 {
			t.Errorf("%d sandboxes were opened by probes", opened-2*10*tripAfter-2)
		}
	})
}

func TestAnOpenBreakerLetsOneRequestOfEachKindThroughAndWhatOpensClosesIt(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, b *bench, w *wobbly) {
		b.judge.says(ofImage("gone"))
		wantRun(t, b, of("s0"))
		w.becomes(nil, failingOf("gone"))
		wantFailures(t, b, tripAfter)
		for range 100 { // however many of the other kind come
			b.Execute(t.Context(), request("true"), nil)
			time.Sleep(time.Second)
		}
		wantUnready(t, b, request("true"), nothing)
		b.judge.says(allow())
		wantRun(t, b, of("s2"))
		if err := b.Readiness()["docker"]; err != nil {
			t.Errorf("after a sandbox was opened the backend is not ready: %v", err)
		}
	})
}

func TestProbesTakeTurnsAmongWhatOpenedBefore(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, b *bench, w *wobbly) {
		for n := range 2 * maxSamples {
			b.judge.says(ofImage(fmt.Sprint("image", n)))
			wantRun(t, b, of(fmt.Sprint("of image ", n)))
		}
		b.judge.says(ofImage("gone"))
		wantRun(t, b, of("s0"))
		w.becomes(nil, failingOf("gone"))
		wantFailures(t, b, tripAfter)
		time.Sleep(firstPause + time.Second/10)
		if b.Readiness()["docker"] == nil {
			t.Error("a probe did not begin with what was opened last")
		}
		time.Sleep(2 * firstPause)
		if err := b.Readiness()["docker"]; err != nil {
			t.Errorf("the backend is not ready for lack of one image: %v", err)
		}
		if n := kept(b.leases, "supply", "ready", "breakers", "docker", "samples"); n != maxSamples {
			t.Errorf("%d kinds are remembered", n)
		}
	})
}

func TestWhatFailsForOneCostsNobodyElseTheBackend(t *testing.T) {
	t.Parallel()
	var mine string
	for name, fails := range map[string]func(backends.Spec) error{
		"whose files cannot be shown": func(s backends.Spec) error {
			if s.Workspace == mine {
				return errOut
			}
			return nil
		},
		"whose image cannot be had": failingOf("misspelt"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				w := newWobbly(b)
				ctx, stop := context.WithCancel(t.Context())
				go b.Watch(ctx)
				wantRun(t, b, of("s2"))
				mine = supply.Hash("session", "hermes", "s1")
				w.becomes(nil, fails)
				for range 20 * tripAfter {
					b.judge.says(allow(func(d *bailiff.Decision) { d.Backend.Image = "misspelt" }))
					if a := b.Execute(t.Context(), request("true"), nil); !strings.Contains(a.Message, "boom") {
						t.Errorf("answer is %+v", a)
					}
					time.Sleep(time.Second)
				}
				b.judge.says(allow())
				wantRun(t, b, of("s3"))
				if _, opened := w.counts(); opened > 2+20*tripAfter+1 {
					t.Errorf("the backend was tried %d times", opened-2-20*tripAfter)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

func TestASpecThatABackendCannotMeetSaysNothingOfTheBackend(t *testing.T) {
	t.Parallel()
	watched(t, func(t *testing.T, b *bench, w *wobbly) {
		refusing := func(backends.Spec) error {
			return fmt.Errorf("%w: cpus: %w", backends.ErrUnsupported, backends.ErrUnavailable)
		}
		wantRun(t, b, of("s0"))
		w.becomes(nil, refusing)
		for range 2 * tripAfter {
			b.Execute(t.Context(), request("true"), nil)
		}
		b.Probe(t.Context())
		if _, opened := w.counts(); opened != 1+2*tripAfter || b.Readiness()["docker"] != nil {
			t.Errorf("%d openings, readiness is %v", opened, b.Readiness())
		}
		w.becomes(nil, failing)
		wantFailures(t, b, tripAfter-1)
		w.becomes(nil, func(s backends.Spec) error { // and neither does it to a probe
			if s.Workspace == "" {
				return refusing(s)
			}
			return errOut
		})
		wantFailures(t, b, 1)
		time.Sleep(3 * firstPause)
		if _, opened := w.counts(); opened != 1+3*tripAfter+1 || b.Readiness()["docker"] != nil {
			t.Errorf("%d openings, readiness is %v", opened, b.Readiness())
		}
	})
}
