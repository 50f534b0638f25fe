package main

import (
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// How often the folder is counted while something runs: where it was within its bound the last
// time, and where it was over it. A count takes a share of the time at most.
const (
	lookWithin = 30 * time.Second
	lookOver   = 5 * time.Second
	lookShare  = 20
)

// slice is for how long it is counted without a break, and how long an answer waits for a count;
// pause is how long such a break is.
const (
	slice = 5 * time.Millisecond
	pause = 25 * time.Millisecond
)

// quickFiles are as many as are counted in less than a millisecond.
const quickFiles = 1000

// mostCounted is the multiple of the bound on files beyond which nothing is counted.
const mostCounted = 4

// bound keeps what the commands of the sandbox may fill a folder with. It compares each count with
// the one before: a folder over its bound that grew is filled by something that runs, and one that
// did not may be on its way back.
type bound struct {
	// within and over replace the constants in tests.
	within, over time.Duration

	mu   sync.Mutex
	most wire.Bound
	// walk is a count that is not at its end, begun then and at work for as long.
	walk  *count
	begun time.Time
	took  time.Duration
	// last is the last count that came to its end, next the time before which an ended command
	// begins none. counted is false before the first.
	last    verdict
	counted bool
	// grown is how many counts found more than the one before since the folder is over its bound.
	grown   int
	next    time.Time
	watched bool
	// resumed says that a count which an ended command began goes on.
	resumed bool
}

// verdict is what a count has found: how much, and by what that is over the bound.
type verdict struct {
	found     usage
	uncounted bool
	excess    wire.Excess
}

// bind takes the bound of a client, and counts what is there.
func (r *runner) bind(most wire.Bound) {
	b := &r.bound
	b.mu.Lock()
	if b.most != most {
		b.abandon()
		b.most, b.counted, b.last = most, false, verdict{}
	}
	b.mu.Unlock()
	if most != (wire.Bound{}) {
		go r.recount(true)
	}
}

// abandon gives up a count. The caller holds the lock.
func (b *bound) abandon() {
	if b.walk != nil {
		b.walk.close()
		b.walk = nil
	}
}

// recount counts to the end, with breaks, from the start or from where a count stands.
func (r *runner) recount(anew bool) {
	for !r.look(anew) {
		anew = false
		time.Sleep(pause)
	}
}

// resume goes on with a count that an ended command began.
func (r *runner) resume() {
	b := &r.bound
	b.mu.Lock()
	start := !b.resumed
	b.resumed = true
	b.mu.Unlock()
	if start {
		r.recount(false)
		b.mu.Lock()
		b.resumed = false
		b.mu.Unlock()
	}
}

// look counts for a slice of time. It is true when a count has come to its end, or none is due.
func (r *runner) look(anew bool) (done bool) {
	b := &r.bound
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most == (wire.Bound{}) || b.walk == nil && !anew && !b.isDue() {
		return true
	}
	if b.walk == nil && !b.begin() {
		return true
	}
	began := time.Now()
	done = b.walk.advance(slice)
	b.took += time.Since(began)
	if done {
		r.weigh()
	}
	return done
}

// isDue says whether an ended command begins a count: not where the last took long, was just now, and found
// nothing that must be told.
func (b *bound) isDue() bool {
	return b.last.found.files <= quickFiles || b.last.excess != (wire.Excess{}) || !time.Now().Before(b.next)
}

// begin begins a count. A folder that is not there holds nothing.
func (b *bound) begin() bool {
	ceiling := usage{files: max(b.most.Files, 1_000_000) * mostCounted}
	walk, err := newCount(b.most.Folder, ceiling)
	if err != nil {
		return false
	}
	b.walk, b.begun, b.took = walk, time.Now(), 0
	return true
}

// weigh compares a count that has come to its end with the one before, and stops what fills the
// folder. The caller holds the bound's lock.
func (r *runner) weigh() {
	b := &r.bound
	now := b.verdictOf(b.walk)
	grew := b.counted && now.isWorseThan(b.last)
	b.abandon()
	b.last, b.counted = now, true
	b.next = time.Now().Add(lookShare / 2 * b.took)
	switch {
	case now.excess == (wire.Excess{}):
		b.grown = 0
	case grew:
		b.grown++
		r.stopFilling(b.begun, now.excess, b.grown > 1)
	}
}

func (b *bound) verdictOf(c *count) verdict {
	v := verdict{found: c.found, uncounted: c.hidden || c.found.exceeds(c.most)}
	if v.uncounted {
		v.found = b.last.found
	}
	switch {
	case v.uncounted && b.last.uncounted:
		v.excess = wire.Excess{Kind: wire.Uncounted, Found: c.found.files, Most: b.most.Files}
	case v.uncounted: // what was moved or closed just then shows the next time
		v.excess = b.last.excess
	case c.found.exceeds(usage{bytes: b.most.Bytes}):
		v.excess = wire.Excess{Kind: wire.Bytes, Found: c.found.bytes, Most: b.most.Bytes}
	case c.found.exceeds(usage{files: b.most.Files}):
		v.excess = wire.Excess{Kind: wire.Entries, Found: c.found.files, Most: b.most.Files}
	}
	return v
}

// isWorseThan says whether a folder over its bound grew in what it is over.
func (v verdict) isWorseThan(before verdict) bool {
	switch v.excess.Kind {
	case wire.Bytes:
		return v.found.bytes > before.found.bytes
	case wire.Entries:
		return v.found.files > before.found.files
	case wire.Uncounted:
		return v.uncounted
	}
	return false
}

// stopFilling kills what ran when a count began: commands with what they left and, if the folder
// grew again, interpreters, which may have ended the script that filled it.
func (r *runner) stopFilling(begun time.Time, excess wire.Excess, again bool) {
	for _, j := range r.pool.atWork() {
		if !j.began.After(begun) && (again || j.Mode != wire.Dialogue) {
			go r.stopFor(j, excess)
		}
	}
}

// stopFor kills a job, or what it left, because the folder is over its bound.
func (r *runner) stopFor(j *job, excess wire.Excess) {
	if j.isEnded() {
		r.destroy(j)
		return
	}
	j.mu.Lock()
	if !j.ended {
		j.excess = excess
	}
	j.mu.Unlock()
	r.stop(j, &j.filling)
}

// overrun is what a command's end tells of the bound.
func (r *runner) overrun(j *job) wire.Excess {
	began := r.bound.isCounting() // before the command ended
	done := r.look(false)
	if done && began {
		done = r.look(true)
	}
	if !done {
		go r.resume()
	}
	j.mu.Lock()
	stopped, excess := j.filling, j.excess
	j.mu.Unlock()
	if stopped {
		excess.Stopped = true
		return excess
	}
	r.bound.mu.Lock()
	defer r.bound.mu.Unlock()
	return r.bound.last.excess
}

func (b *bound) isCounting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.walk != nil
}

// watch counts while something runs.
func (r *runner) watch() {
	b := &r.bound
	b.mu.Lock()
	start := !b.watched && b.most != (wire.Bound{})
	b.watched = b.watched || start
	b.mu.Unlock()
	if start {
		go r.keepWatch()
	}
}

func (r *runner) keepWatch() {
	b := &r.bound
	for {
		time.Sleep(b.over)
		b.mu.Lock()
		if len(r.pool.atWork()) == 0 {
			b.watched = false
			b.mu.Unlock()
			return
		}
		every := b.within
		if b.last.excess != (wire.Excess{}) || b.last.uncounted {
			every = b.over
		}
		due := time.Since(b.begun) >= max(every, lookShare*b.took)
		b.mu.Unlock()
		if due {
			r.recount(true)
		}
	}
}
