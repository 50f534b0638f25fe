package serve

import (
	"io"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/quota"
)

func TestTheEndOfACommandThatFilledTheFolderSaysSo(t *testing.T) {
	t.Parallel()
	r := &runner{out: wire.NewWriter(io.Discard), jobs: map[uint32]*job{}}
	r.pool.slots = map[int]*slot{}
	r.monitor = quota.New(r.atWork)
	jobs := map[bool]*job{}
	for _, isOver := range []bool{false, true} { // it has ended, and left something that runs
		j := &job{Terms: wire.Terms{Mode: wire.Background}, began: time.Now(), gone: make(chan struct{}), ended: isOver}
		j.slot = &slot{pid: 1<<30 + len(jobs), job: j}
		jobs[isOver], r.pool.slots[j.slot.pid] = j, j.slot
	}
	excess := wire.Excess{Kind: wire.Bytes, Found: 2, Most: 1}
	for _, c := range r.atWork() {
		j := c.(filler).job
		close(j.gone) // as soon as it was killed
		c.Stop(excess)
	}
	if x := r.overrun(jobs[false]); !x.Stopped || x.Kind != wire.Bytes || x.Found != 2 {
		t.Errorf("the end of a command that was stopped tells of %+v", x)
	}
	if x := r.overrun(jobs[true]); x != (wire.Excess{}) {
		t.Errorf("the end of a command that was over before tells of %+v", x)
	}
}
