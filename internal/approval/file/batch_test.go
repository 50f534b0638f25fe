package file

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestStepsThatShareATransactionComeInTheirOrder(t *testing.T) {
	t.Parallel()
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	path := filepath.Join(t.TempDir(), "approvals.db")
	o := started(t, path, func(point string) {
		if point == "staged" {
			held <- struct{}{}
			<-hold
		}
	})
	f := state.Freeze{Kind: api.FreezeSession, ID: "s1", By: "ben"}
	freeze := func() { o.take(t, state.Step{Frozen: []state.Freeze{f}}) }
	thaw := func() { o.take(t, state.Step{Thawed: []state.Freeze{f}}) }
	var all sync.WaitGroup
	all.Go(freeze)
	<-held // the writer stands still, so what follows is one batch
	for n, do := range []func(){thaw, freeze, thaw, freeze} {
		all.Go(do)
		awaittest.Until(t, "queueing", func() bool { return len(o.queue) == n+1 })
	}
	close(hold)
	all.Wait()
	if n := len(held); n > 2 {
		t.Errorf("%d transactions", n)
	}
	for _, when := range []string{"at once", "after a restart"} {
		o.Look(func(s *state.State) {
			if _, frozen := s.Frozen(bailiff.Session{ID: "s1"}); !frozen {
				t.Errorf("%s: it is not frozen", when)
			}
		})
		o.end(t)
		if when == "at once" {
			o = started(t, path, nowhere)
		}
	}
}
