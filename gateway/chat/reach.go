package chat

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// LineObserver is told when a service begins or ends to reach people.
type LineObserver interface {
	ChatDown(service string, down bool)
}

// Line is the connection to a service at which no approvals are posted.
type Line struct{ reach }

// NewLine has not connected yet.
func NewLine(service string, o LineObserver, log *slog.Logger) *Line {
	return &Line{reach{service: service, observer: o, log: log, changed: func() {}}}
}

const (
	// grace is how long a service may fail until it counts as down: connections break and
	// are made anew all the time.
	grace = 5 * time.Second
	// tryAgain is how long nobody is asked at a service where posting failed. Only the next
	// approval shows whether it can be posted again.
	tryAgain = 10 * time.Second
)

// reach is whether a service's people are reached: whether the connection stands, and
// whether what is posted gets there.
type reach struct {
	service  string
	observer LineObserver
	log      *slog.Logger
	changed  func()

	line, posting trouble

	telling sync.Mutex
	told    bool // that nobody is reached
}

// Connected takes in that the service's connection stands, or why it does not.
func (r *reach) Connected(err error) {
	if err == nil {
		r.works(&r.line)
		return
	}
	r.fails(&r.line, err)
}

// Fault is why nobody is reached, as far as is known; nil if people are.
func (r *reach) Fault() error {
	line, posting := r.line.fault(), r.posting.fault()
	if line != nil && posting != nil && line.Error() == posting.Error() {
		return line
	}
	return errors.Join(line, posting)
}

// Down is why nobody can be asked now; nil if somebody can, or it is time to try.
func (r *reach) Down() error {
	if time.Since(r.posting.last()) >= tryAgain {
		return r.line.fault()
	}
	return r.Fault()
}

func (r *reach) works(t *trouble) {
	if t.end() {
		r.tell()
	}
}

func (r *reach) fails(t *trouble, err error) {
	fresh := t.fail(err)
	switch {
	case t.fault() != nil:
		r.tell()
	case fresh:
		time.AfterFunc(grace, r.tell)
	}
}

// tell tells whether people are reached.
func (r *reach) tell() {
	r.telling.Lock()
	fault := r.Fault()
	fresh := fault != nil && !r.told
	r.told = fault != nil
	r.observer.ChatDown(r.service, r.told)
	r.telling.Unlock()
	if fresh {
		r.log.Warn("nobody is reached by this chat service now", "service", r.service, "error", strings.ReplaceAll(fault.Error(), "\n", "; "))
	}
	r.changed()
}

// trouble is why something does not work, and since when.
type trouble struct {
	mu         sync.Mutex
	err        error
	since, met time.Time
}

// fail takes in a failure, and says whether trouble begins with it.
func (t *trouble) fail(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.err == nil
	t.err, t.met = err, time.Now()
	if fresh {
		t.since = t.met
	}
	return fresh
}

// end says whether there was trouble.
func (t *trouble) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.err != nil
	t.err = nil
	return was
}

// fault is the trouble, once it counts.
func (t *trouble) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil && (isFinal(t.err) || time.Since(t.since) >= grace) {
		return t.err
	}
	return nil
}

// last is when it was last met.
func (t *trouble) last() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.met
}
