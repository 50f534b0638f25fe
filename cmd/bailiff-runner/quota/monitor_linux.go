package quota

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

// Command is a command that runs, or left something that does.
type Command interface {
	// Began is when it was started.
	Began() time.Time
	// IsInterpreter says that scripts run in it, one after another.
	IsInterpreter() bool
	// Stop kills the command, or what it left, because the folder is over its bound.
	Stop(excess wire.Excess)
}

// Monitor keeps what the commands of the sandbox may fill a folder with. It compares each count with
// the one before: a folder over its bound that grew is filled by something that runs, and one that
// did not may be on its way back.
type Monitor struct {
	// atWork lists the commands that run or left something that does.
	atWork func() []Command
	// within and over replace the constants in tests.
	within, over time.Duration

	mu   sync.Mutex
	most wire.Bound
	// walk is a count that is not at its end, begun then and at work for as long.
	walk  *walk
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

// New is a monitor of no folder yet; atWork lists the commands that run or left something that does.
func New(atWork func() []Command) *Monitor {
	return &Monitor{atWork: atWork, within: lookWithin, over: lookOver}
}

// verdict is what a count has found: how much, and by what that is over the bound.
type verdict struct {
	found     usage
	uncounted bool
	excess    wire.Excess
}

// Bind takes the bound of a client, and counts what is there.
func (m *Monitor) Bind(most wire.Bound) {
	m.mu.Lock()
	if m.most != most {
		m.abandon()
		m.most, m.counted, m.last = most, false, verdict{}
	}
	m.mu.Unlock()
	if most != (wire.Bound{}) {
		go m.recount(true)
	}
}

// abandon gives up a count. The caller holds the lock.
func (m *Monitor) abandon() {
	if m.walk != nil {
		m.walk.close()
		m.walk = nil
	}
}

// recount counts to the end, with breaks, from the start or from where a count stands.
func (m *Monitor) recount(anew bool) {
	for !m.look(anew) {
		anew = false
		time.Sleep(pause)
	}
}

// resume goes on with a count that an ended command began.
func (m *Monitor) resume() {
	m.mu.Lock()
	start := !m.resumed
	m.resumed = true
	m.mu.Unlock()
	if start {
		m.recount(false)
		m.mu.Lock()
		m.resumed = false
		m.mu.Unlock()
	}
}

// look counts for a slice of time. It is true when a count has come to its end, or none is due.
func (m *Monitor) look(anew bool) (done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.most == (wire.Bound{}) || m.walk == nil && !anew && !m.isDue() {
		return true
	}
	if m.walk == nil && !m.begin() {
		return true
	}
	began := time.Now()
	done = m.walk.advance(slice)
	m.took += time.Since(began)
	if done {
		m.compare()
	}
	return done
}

// isDue says whether an ended command begins a count: not where the last took long, was just now, and found
// nothing that must be told.
func (m *Monitor) isDue() bool {
	return m.last.found.files <= quickFiles || m.last.excess != (wire.Excess{}) || !time.Now().Before(m.next)
}

// begin begins a count. A folder that is not there holds nothing.
func (m *Monitor) begin() bool {
	ceiling := usage{files: max(m.most.Files, 1_000_000) * mostCounted}
	walk, err := newWalk(m.most.Folder, ceiling)
	if err != nil {
		return false
	}
	m.walk, m.begun, m.took = walk, time.Now(), 0
	return true
}

// compare holds a finished count against the one before, and stops what fills the
// folder. The caller holds the lock.
func (m *Monitor) compare() {
	now := m.verdictOf(m.walk)
	grew := m.counted && now.isWorseThan(m.last)
	m.abandon()
	m.last, m.counted = now, true
	m.next = time.Now().Add(lookShare / 2 * m.took)
	switch {
	case now.excess == (wire.Excess{}):
		m.grown = 0
	case grew:
		m.grown++
		m.stopFilling(m.begun, now.excess, m.grown > 1)
	}
}

func (m *Monitor) verdictOf(w *walk) verdict {
	v := verdict{found: w.found, uncounted: w.hidden || w.found.exceeds(w.most)}
	if v.uncounted {
		v.found = m.last.found
	}
	switch {
	case v.uncounted && m.last.uncounted:
		v.excess = wire.Excess{Kind: wire.Uncounted, Found: w.found.files, Most: m.most.Files}
	case v.uncounted: // what was moved or closed just then shows the next time
		v.excess = m.last.excess
	case w.found.exceeds(usage{bytes: m.most.Bytes}):
		v.excess = wire.Excess{Kind: wire.Bytes, Found: w.found.bytes, Most: m.most.Bytes}
	case w.found.exceeds(usage{files: m.most.Files}):
		v.excess = wire.Excess{Kind: wire.Entries, Found: w.found.files, Most: m.most.Files}
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
func (m *Monitor) stopFilling(begun time.Time, excess wire.Excess, again bool) {
	for _, c := range m.atWork() {
		if !c.Began().After(begun) && (again || !c.IsInterpreter()) {
			go c.Stop(excess)
		}
	}
}

// AtEnd is by what the folder is over its bound when a command has ended.
func (m *Monitor) AtEnd() wire.Excess {
	began := m.isCounting() // before the command ended
	done := m.look(false)
	if done && began {
		done = m.look(true)
	}
	if !done {
		go m.resume()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.excess
}

func (m *Monitor) isCounting() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.walk != nil
}

// Watch counts while something runs.
func (m *Monitor) Watch() {
	m.mu.Lock()
	start := !m.watched && m.most != (wire.Bound{})
	m.watched = m.watched || start
	m.mu.Unlock()
	if start {
		go m.keepWatch()
	}
}

func (m *Monitor) keepWatch() {
	for {
		time.Sleep(m.over)
		m.mu.Lock()
		if len(m.atWork()) == 0 {
			m.watched = false
			m.mu.Unlock()
			return
		}
		every := m.within
		if m.last.excess != (wire.Excess{}) || m.last.uncounted {
			every = m.over
		}
		due := time.Since(m.begun) >= max(every, lookShare*m.took)
		m.mu.Unlock()
		if due {
			m.recount(true)
		}
	}
}
