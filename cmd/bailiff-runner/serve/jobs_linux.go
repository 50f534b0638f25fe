package serve

import (
	"math"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
)

// end reports a command that has ended, after ending what it left if that is
// wanted.
func (r *runner) end(j *job, end wire.End) {
	end.TimedOut, end.Interrupted = j.finish()
	end.Excess = r.overrun(j)
	end.Starved = r.starved.count() > j.starved
	switch {
	case end.TimedOut:
		end.Code, end.Interrupted = 124, false
	case end.Interrupted:
		end.Code = 130
	case end.Excess.Stopped:
		end.Code = 137
	}
	r.pool.release(j.slot)
	if !j.Reap && !end.TimedOut && !end.Interrupted && !end.Excess.Stopped {
		r.report(j, end)
		return
	}
	go func() {
		r.destroy(j)
		r.report(j, end)
	}()
}

func (r *runner) report(j *job, end wire.End) {
	r.forget(j)
	if !r.pool.keepsLimits(0) || !r.pool.keepsLimits(j.slot.pid) { // told first, so that nothing follows the command here
		r.refuse(wire.Everything, wire.Broken, errLimits)
	}
	if j.Mode == wire.Background {
		r.announce(j, end)
	} else {
		r.say(wire.Ended, j.stream, wire.Encode(end))
	}
}

// lost is told of a job whose supervisor was killed, when all that was below it
// has been ended too.
func (r *runner) lost(j *job) {
	if !j.isEnded() {
		r.end(j, wire.End{Code: 137, Lost: true})
	}
}

// stop kills a job and notes why. It goes on for as long as something is left:
// what did not go may have been waiting for a device, or was yet to start.
func (r *runner) stop(j *job, why *bool) {
	j.mu.Lock()
	ended := j.ended
	if !ended {
		*why = true
	}
	j.mu.Unlock()
	for !ended && !r.destroy(j) {
		time.Sleep(patience)
	}
}

// destroy kills a job for as long as fewer processes of it are left each time: on a busy machine hundreds that are killed take
// longer to go than one attempt waits. The client, which gives up a runner that is late, hears of each. It is false when
// something does not go.
func (r *runner) destroy(j *job) bool {
	return endure(func() (left int) {
		if r.pool.end(j) {
			return 0
		}
		return max(1, len(processes.Below(j.slot.pid, processes.None)))
	}, func() {
		if j.Mode != wire.Background {
			r.say(wire.Credit, j.stream, wire.Encode(wire.Number(0)))
		}
	})
}

// endure repeats an attempt that leaves fewer than any before, until none is left. Between two it calls tell.
func endure(attempt func() (left int), tell func()) bool {
	for fewest := math.MaxInt; ; tell() {
		left := attempt()
		if left == 0 {
			return true
		}
		if left >= fewest {
			return false
		}
		fewest = left
	}
}

func (r *runner) job(stream uint32) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[stream]
}

func (r *runner) know(j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[j.stream] = j
	return r.own(j)
}

func (r *runner) forget(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.jobs[j.stream] == j {
		delete(r.jobs, j.stream)
	}
}

// say tells the client; when that fails the client is gone, and the end of the
// input will tell.
func (r *runner) say(kind wire.Kind, stream uint32, payload []byte) {
	_ = r.out.Send(wire.Frame{Kind: kind, Stream: stream, Payload: payload, Last: true})
}

// finish marks the job as ended and tells who ended it.
func (j *job) finish() (timedOut, interrupted bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	if j.timer != nil {
		j.timer.Stop()
	}
	return j.timedOut, j.interrupted
}

func (j *job) isEnded() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended
}
