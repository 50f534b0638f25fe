package backendtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// sidecarChecks are those of sandboxes that outlive the sidecar that made them.
func sidecarChecks() []check {
	return []check{
		promise("A sweep spares what is kept, and what another owner's is", OnPlace, sweepSpares, sweeps),
		promise("A sweep spares what is being opened", OnPlace, sweepSparesOpening, sweeps),
		promise("A sweep removes what its owner does not keep", OnPlace, sweepRemoves, sweeps),
		promise("A sandbox is adopted with what runs in it", OnPlace|OnStream, adopted, adopts),
		promise("A sandbox is adopted for its own spec only", OnPlace, adoptedForItsSpec, adopts),
	}
}

func sweeps(_ Config, b backends.Backend) string {
	_, ok := b.(backends.Sweeper)
	return unless(ok, "its sandboxes end with the sidecar")
}

func adopts(_ Config, b backends.Backend) string {
	_, ok := b.(backends.Adopter)
	return unless(ok, "its sandboxes are not adopted by the next sidecar")
}

// sweep removes the owner's sandboxes but those that are wanted, and returns how
// many it says there were.
func (b box) sweep(t *testing.T, keep func(id string) bool) int {
	t.Helper()
	n, err := b.backend.(backends.Sweeper).Sweep(t.Context(), b.spec.Owner, keep)
	if err != nil {
		t.Errorf("sweeping: %v", err)
	}
	return n
}

func sweepSpares(t *testing.T, b box) {
	mine := b.another(t, b.spec)
	spec := b.spec
	spec.Owner += "-other"
	t.Cleanup(func() { // what their sandbox leaves is no other sidecar's to remove
		if _, err := b.backend.(backends.Sweeper).Sweep(context.Background(), spec.Owner, func(string) bool { return false }); err != nil {
			t.Errorf("sweeping what is theirs: %v", err)
		}
	})
	theirs := b.another(t, spec)
	asked := false
	n := b.sweep(t, func(id string) bool {
		asked = true
		if id == theirs.ID() {
			t.Error("it finds another owner's")
		}
		return true
	})
	if asked && n != 0 { // a sweep that asks for none removes what any sidecar of the machine left
		t.Errorf("it says that it removed %d", n)
	}
	for _, in := range []box{b, mine, theirs} {
		in.says("echo fine", "fine\n")
	}
}

// sweepSparesOpening sweeps again and again while a sandbox is opened, which no
// sidecar can want to be kept before it is. One that has just been is told a little later.
func sweepSparesOpening(t *testing.T, b box) {
	before := b.listed(t)
	spec := b.spec
	opened := make(chan struct{})
	var sandbox backends.Sandbox
	var fault error
	go func() {
		defer close(opened)
		sandbox, fault = b.backend.Open(t.Context(), spec)
	}()
	known := func() bool {
		select {
		case <-opened:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	}
	for !known() {
		b.sweep(t, func(id string) bool { return slices.Contains(before, id) || known() })
	}
	if fault != nil {
		t.Fatal(fault)
	}
	defer sandbox.Close(context.Background())
	b.holding(sandbox, spec).says("echo fine", "fine\n")
}

func sweepRemoves(t *testing.T, b box) {
	w := b.work(t)
	if n := b.sweep(t, func(id string) bool { return id != w.ID() }); n != 1 {
		t.Errorf("it says that it removed %d, want the one", n)
	}
	w.over(t)
	if slices.Contains(b.listed(t), w.ID()) {
		t.Error("it is found again")
	}
	b.says("echo fine", "fine\n")
}

func (b box) adopt(spec backends.Spec) (backends.Sandbox, error) {
	return b.backend.(backends.Adopter).Adopt(context.Background(), b.ID(), spec)
}

func adopted(t *testing.T, b box) {
	first := b.another(t, b.spec)
	p := first.in(t).started("echo begun; read line; echo $line")
	first.awaitLog(p, "begun\n")
	ended, m := make(chan struct{}), marker()
	go func() {
		defer close(ended)
		_, _ = first.Run(context.Background(), argv("sleep", m), func([]byte) {})
	}()
	Await(t, "a command runs", func() bool { return len(first.marked(m)) == 1 })
	sandbox, err := first.adopt(b.spec)
	Must(t, err)
	second := b.holding(sandbox, b.spec)
	t.Cleanup(func() {
		NoError(t, second.Close(context.Background()))
	})
	if second.ID() != first.ID() {
		t.Errorf("adopted is %s, not %s", second.ID(), first.ID())
	}
	Await(t, "what the first sidecar ran is over", func() bool { return len(second.marked(m)) == 0 })
	known, err := second.Processes(t.Context())
	if err != nil || len(known) != 1 || known[0].Tag() != p.Tag() {
		t.Fatalf("in the background there are %v, %v", known, err)
	}
	NoError(t, known[0].Write(t.Context(), []byte("adopted\n")))
	second.awaitLog(known[0], "begun\nadopted\n")
	second.says("echo fine", "fine\n")
}

// started starts a command in the background that is not ended.
func (b box) started(script string) backends.Process {
	b.t.Helper()
	p, err := b.Start(b.t.Context(), shell(script), "p"+marker())
	Must(b.t, err)
	return p
}

func adoptedForItsSpec(t *testing.T, b box) {
	for what, change := range map[string]func(*backends.Spec){
		"owner":     func(s *backends.Spec) { s.Owner += "-other" },
		"session":   func(s *backends.Spec) { s.Session += "-other" },
		"workspace": func(s *backends.Spec) { s.Workspace += "other" },
		"memory":    func(s *backends.Spec) { s.MemoryMB += 64 },
		"expiry":    func(s *backends.Spec) { s.Expires = time.Now().Add(time.Hour) },
	} {
		spec := b.spec
		change(&spec)
		if sandbox, err := b.adopt(spec); err == nil {
			t.Errorf("it is adopted for another %s", what)
			_ = sandbox.Close(context.Background())
		}
	}
	stranger := b.holding(renamed{b.Sandbox, b.ID() + "0"}, b.spec)
	if _, err := stranger.adopt(b.spec); err == nil || errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("adopting what is not there: %v", err)
	}
	b.says("echo fine", "fine\n")
}

// renamed is a sandbox that calls itself by another name.
type renamed struct {
	backends.Sandbox
	id string
}

func (r renamed) ID() string { return r.id }
