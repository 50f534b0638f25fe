package enforcer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// moved says that another sidecar serves every session, once it is set.
type moved struct{ atomic.Bool }

func (m *moved) Serves(context.Context, lease.Key) error {
	if m.Load() {
		return errors.New("sidecar two does")
	}
	return nil
}

// A sidecar that was paused, and whose session another has taken over meanwhile, starts nothing more in it.
func TestNothingIsStartedInASessionThatAnotherSidecarServes(t *testing.T) {
	t.Parallel()
	homes := &moved{}
	b := newBench(t, asScripts, func(b *bench) { b.homes = homes })
	var ran atomic.Int32
	b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
		ran.Add(1)
		return backends.Exit{}, nil
	}
	id, job := b.start(t, inBackground("sh"))
	b.Execute(t.Context(), code("x = 1"), nil)
	begun := b.fakeBackend.scripts.Load()
	homes.Store(true)
	for name, req := range map[string]bailiff.Request{
		"a command": request("true"), "a background process": inBackground("sh"), "a script": code("x = 1"),
		"input": about("write", id, "true\n"),
	} {
		a := b.Execute(t.Context(), req, nil)
		if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeHome || !strings.Contains(a.Message, "sidecar two does") {
			t.Errorf("%s is answered %s, %s: %s", name, a.Status, a.Code, a.Message)
		}
	}
	running := 0
	for _, s := range b.fakeBackend.sandboxes() {
		running += len(s.living())
	}
	if ran.Load() != 0 || len(job.input) != 0 || b.fakeBackend.scripts.Load() != begun || running != 1 {
		t.Errorf("%d commands and %d scripts ran, %d writes came in, %d processes live", ran.Load(), b.fakeBackend.scripts.Load()-begun,
			len(job.input), running)
	}
}

func TestAnAgentsToolIsNotCalledForASessionThatAnotherSidecarServes(t *testing.T) {
	t.Parallel()
	homes := &moved{}
	b := newBench(t, func(b *bench) { b.homes, b.judge.decision = homes, allow(tools("web_search")) })
	must(t, b.RegisterTools("hermes", "s1", []string{"web_search"}))
	called, value, fault := 0, "", ""
	b.fakeBackend.script = func(p *python) int {
		homes.Store(true)
		value, fault = p.call("web_search", `{}`)
		return 0
	}
	b.Execute(t.Context(), code("call"), b.agent(t, func(bailiff.ToolCall) (string, bool) { called++; return "1", false }))
	if called != 0 || value != "" || !strings.Contains(fault, "sidecar two does") {
		t.Errorf("the agent was asked %d times, the script got %s %s", called, value, fault)
	}
}
