package enforcer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

func TestWhoEndsASessionIsToldOfFilesThatCouldNotBeRemoved(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"in use": false, "kept after its sandbox": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, k := library(t)
			wantRun(t, b, request("true"))
			if keeps {
				b.RemoveSandbox("sandbox-1")
			}
			k.stuck = errors.New("too many open files: " + strings.Repeat("/d", 25_000))
			ended, err := b.EndSession(t.Context(), "hermes", "s1")
			if err != nil || ended.Unremoved != 1 {
				t.Errorf("the end is %+v, %v, want one of which the files stay", ended, err)
			}
			why := b.Leftovers()["docker"]
			if why == nil || !strings.Contains(why.Error(), "too many open files") || len(why.Error()) > 1000 {
				t.Errorf("operators are told %.2000v", why)
			}
			k.stuck = nil
			if _, err := b.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := b.Leftovers(); len(left) > 0 {
				t.Errorf("after a sweep that removed them operators are told %v", left)
			}
			if again, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil || again != (bailiff.Ended{}) {
				t.Errorf("a second end is %+v, %v", again, err)
			}
		})
	}
}

// reaping notes why sandboxes go.
type reaping struct {
	blind
	reasons chan string
}

func (r *reaping) SandboxReaped(_, reason string) { r.reasons <- reason }

// A sandbox in doubt stays with its files until the sidecar surely has its name. Then a sweep removes both, though its
// session has ended long since.
func TestWhatALaterRunMayHaveIsLeftToASweep(t *testing.T) {
	t.Parallel()
	seen := &reaping{reasons: make(chan string, 2)}
	doubt := fmt.Errorf("removing it: %w", backends.ErrOwnerUnknown)
	b := newBench(t, func(b *bench) {
		b.made, b.checkOwner = seen, func() error { return doubt }
	})
	k, found := newKeepingBackend(b.fakeBackend), &engine{}
	b.config.Backends["docker"] = &sweptLate{k, found, func() {}}
	wantRun(t, b, inSession("s1"))
	k.unclosed, found.left = doubt, []string{b.Sandboxes()[0].ID}
	ended, err := b.EndSession(t.Context(), "hermes", "s1")
	if got := <-seen.reasons; got != "owner_unknown" || ended.Unremoved != 1 || err != nil {
		t.Errorf("the sandbox is counted as %s, and the end is %+v, %v", got, ended, err)
	}
	isLeft := func(want int) {
		t.Helper()
		files, _ := k.Workspaces(t.Context(), "")
		if told := b.Leftovers()["docker"]; len(files) != want || len(found.left) != want || (told == nil) != (want == 0) {
			t.Errorf("there are the sandboxes %q and the files %q, want %d; operators are told %v", found.left, files, want, told)
		}
	}
	isLeft(1)
	if n, err := b.Sweep(t.Context()); n != 0 || !errors.Is(err, backends.ErrOwnerUnknown) {
		t.Errorf("in doubt a sweep removes %d, %v", n, err)
	}
	isLeft(1)
	doubt = nil
	if n, err := b.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("without a doubt a sweep removes %d, %v", n, err)
	}
	if got := <-seen.reasons; got != "orphan" {
		t.Errorf("the sandbox is counted as %s", got)
	}
	isLeft(0)
}

// An operator who freezes hears of each sandbox that was not surely removed.
func TestAFreezeTellsWhatMayGoOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k, everybody := newKeepingBackend(b.fakeBackend), func(bailiff.Session) bool { return true }
	b.config.Backends["docker"] = k
	for _, unclosed := range []error{fmt.Errorf("removing it: %w", backends.ErrOwnerUnknown), errors.New("the engine is down")} {
		wantRun(t, b, inSession("s1"))
		k.unclosed = unclosed
		id := b.Sandboxes()[0].ID
		if err := b.Halt(t.Context(), everybody); !errors.Is(err, unclosed) || !strings.Contains(err.Error(), id) {
			t.Errorf("where closing says %v, the freeze tells %v", unclosed, err)
		}
	}
	k.unclosed = nil
	wantRun(t, b, inSession("s1"))
	must(t, b.Halt(t.Context(), everybody))
}

// A sandbox that a later run of this sidecar has is left to it, and so are its files.
func TestWhatALaterRunHasIsNotRemoved(t *testing.T) {
	t.Parallel()
	seen := &reaping{reasons: make(chan string, 1)}
	b := newBench(t, func(b *bench) { b.made = seen })
	k := newKeepingBackend(b.fakeBackend)
	b.config.Backends["docker"] = k
	for _, c := range []struct {
		session, want string
		unclosed      error
		files         int
	}{
		{"s1", "removed", nil, 0},
		{"s2", "superseded", fmt.Errorf("removing it: %w", backends.ErrSuperseded), 1},
	} {
		wantRun(t, b, inSession(c.session))
		k.unclosed = c.unclosed
		b.RemoveSandbox(b.Sandboxes()[0].ID)
		if got := <-seen.reasons; got != c.want {
			t.Errorf("the sandbox is counted as %s, want %s", got, c.want)
		}
		if left, _ := k.Workspaces(t.Context(), ""); len(left) != c.files {
			t.Errorf("after it was %s there are the files %v, want %d", c.want, left, c.files)
		}
	}
}
