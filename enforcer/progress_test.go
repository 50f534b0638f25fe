package enforcer

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// wordy is a backend that takes its time and says so.
type wordy struct {
	*registry
	opening chan string
}

func (s wordy) Resolve(ctx context.Context, image string) (string, error) {
	backends.Step(ctx, "pulling image %s", "debian:12")
	return s.registry.Resolve(ctx, image)
}

func (s wordy) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	for step := range s.opening {
		backends.Step(ctx, "%s", step)
	}
	return s.registry.Open(ctx, spec)
}

// heard is what a caller is told, in order.
type heard struct {
	mu    sync.Mutex
	steps []string
	kinds []string
}

func (h *heard) news(p bailiff.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case p.Step != "":
		h.steps, h.kinds = append(h.steps, p.Step), append(h.kinds, "step")
	case p.Decision != nil:
		h.kinds = append(h.kinds, "decision")
	case p.Output != nil:
		h.kinds = append(h.kinds, "output")
	}
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.steps, "|")
}

func TestWhoeverWaitsForASandboxIsToldOfItsLongSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(b *bench) { b.fakeBackend.run = prints("hi") })
		s := wordy{&registry{fakeBackend: b.fakeBackend}, make(chan string)}
		b.config.Backends["docker"] = s
		first, second := &heard{}, &heard{}
		var requests sync.WaitGroup
		requests.Go(func() { b.Execute(t.Context(), request("true"), first.news) })
		synctest.Wait()
		time.Sleep(time.Second)
		s.opening <- "starting a machine"
		synctest.Wait()
		requests.Go(func() { b.Execute(t.Context(), request("true"), second.news) })
		requests.Go(func() { b.Execute(t.Context(), request("true"), nil) })
		synctest.Wait()
		time.Sleep(time.Second)
		s.opening <- "bringing the runner"
		synctest.Wait()
		close(s.opening)
		requests.Wait()
		if got, want := first.all(), "pulling image debian:12|starting a machine|bringing the runner"; got != want {
			t.Errorf("the first was told %q, want %q", got, want)
		}
		if got, want := second.all(), "starting a machine|bringing the runner"; got != want {
			t.Errorf("the second was told %q, want %q", got, want)
		}
		if got, want := strings.Join(first.kinds, " "), "step decision step step output"; got != want {
			t.Errorf("the first was told %s, want %s", got, want)
		}
		third := &heard{}
		b.Execute(t.Context(), request("true"), third.news)
		if third.all() != "" {
			t.Errorf("who finds a sandbox is told %q", third.all())
		}
	})
}

func TestStepsAreFewShortAndHarmlessAndEndWithTheirRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &heard{}
		progress := &progress{news: h.news}
		for _, step := range []string{"", "\x1b[2Jpulling\nimage\u202e", strings.Repeat("é", 1000), "at once"} {
			progress.tellStep(step)
			if step != "at once" {
				time.Sleep(stepPause)
			}
			progress.tellStep(step)
		}
		progress.end()
		time.Sleep(stepPause)
		progress.tellStep("too late")
		progress.tell(bailiff.Progress{Step: "far too late"})
		if got, want := h.all(), "[2Jpulling image|"+strings.Repeat("é", stepLength); got != want+"|at once" {
			t.Errorf("told is %q, want %q", got, want)
		}
	})
}
