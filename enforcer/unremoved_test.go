package enforcer

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
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
			why := b.Unremoved()["docker"]
			if why == nil || !strings.Contains(why.Error(), "too many open files") || len(why.Error()) > 1000 {
				t.Errorf("operators are told %.2000v", why)
			}
			k.stuck = nil
			if _, err := b.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := b.Unremoved(); len(left) > 0 {
				t.Errorf("after a sweep that removed them operators are told %v", left)
			}
			if again, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil || again != (bailiff.Ended{}) {
				t.Errorf("a second end is %+v, %v", again, err)
			}
		})
	}
}
