package serve

import (
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/quota"
)

// filler is a job as the monitor of the folder sees it.
type filler struct {
	*runner
	*job
}

var _ quota.Command = filler{}

// atWork lists the jobs that may fill the folder.
func (r *runner) atWork() (list []quota.Command) {
	for _, j := range r.pool.atWork() {
		list = append(list, filler{r, j})
	}
	return list
}

// Began is when the job came.
func (f filler) Began() time.Time { return f.began }

// IsInterpreter says that scripts run in it, one after another.
func (f filler) IsInterpreter() bool { return f.Mode == wire.Dialogue }

// Stop kills the job, or what it left, because the folder is over its bound.
func (f filler) Stop(excess wire.Excess) {
	j := f.job
	if j.isEnded() {
		f.destroy(j)
		return
	}
	j.mu.Lock()
	if !j.ended {
		j.excess = excess
	}
	j.mu.Unlock()
	f.runner.stop(j, &j.filling)
}

// overrun is what a command's end tells of the bound.
func (r *runner) overrun(j *job) wire.Excess {
	excess := r.monitor.AtEnd()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.filling {
		excess = j.excess
		excess.Stopped = true
	}
	return excess
}
