package chat

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// ConnectionObserver counts whether a service reaches people.
type ConnectionObserver interface {
	ChatDown(service string, down bool)
}

// Connection is the state of the connection to a service at which no approvals are posted.
type Connection struct{ health }

// NewConnection returns the state of a service that has not connected yet.
func NewConnection(service string, o ConnectionObserver, log *slog.Logger) *Connection {
	return &Connection{health{service: service, observer: o, log: log, changed: func() {}}}
}

const (
	// downAfter is how long a service may fail until it counts as down: connections break
	// and are made again all the time.
	downAfter = 5 * time.Second
	// postAgainAfter is how long a service counts as down after a post failed. Only the
	// next approval shows whether the service takes posts again.
	postAgainAfter = 10 * time.Second
)

// health is whether a service reaches people: its connection stands, and it takes posts.
type health struct {
	service  string
	observer ConnectionObserver
	log      *slog.Logger
	changed  func()

	connection, posting failure

	reporting    sync.Mutex
	reportedDown bool // the service was last reported as down
}

// Connected takes the state of the service's connection: nil, or why there is none. With a connection that came back
// posts are tried again at once.
func (h *health) Connected(err error) {
	if err != nil {
		h.noteFailure(&h.connection, err)
		return
	}
	if h.connection.clear() {
		h.posting.age()
		h.report()
	}
}

// Fault is why the service reaches no people, as far as is known; nil if it does.
func (h *health) Fault() error {
	line, posting := h.connection.fault(), h.posting.fault()
	if line != nil && posting != nil && line.Error() == posting.Error() {
		return line
	}
	return errors.Join(line, posting)
}

// Down is why no person can be asked now; nil if one can, or if it is time to try again.
func (h *health) Down() error {
	if time.Since(h.posting.last()) >= postAgainAfter {
		return h.connection.fault()
	}
	return h.Fault()
}

func (h *health) noteSuccess(f *failure) {
	if f.clear() {
		h.report()
	}
}

func (h *health) noteFailure(f *failure, err error) {
	fresh := f.record(err)
	switch {
	case f.fault() != nil:
		h.report()
	case fresh:
		time.AfterFunc(downAfter, h.report)
	}
}

// report counts and logs whether the service reaches people.
func (h *health) report() {
	h.reporting.Lock()
	fault := h.Fault()
	fresh := fault != nil && !h.reportedDown
	h.reportedDown = fault != nil
	h.observer.ChatDown(h.service, h.reportedDown)
	h.reporting.Unlock()
	if fresh {
		h.log.Warn("nobody is reached by this chat service now", "service", h.service, "error",
			strings.ReplaceAll(fault.Error(), "\n", "; "))
	}
	h.changed()
}

// failure is why a part of a service does not work, and since when.
type failure struct {
	mu            sync.Mutex
	err           error
	since, latest time.Time
}

// record takes in an error, and says whether it is the first.
func (f *failure) record(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := f.err == nil
	f.err, f.latest = err, time.Now()
	if fresh {
		f.since = f.latest
	}
	return fresh
}

// clear forgets the error, and says whether there was one.
func (f *failure) clear() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.err != nil
	f.err = nil
	return was
}

// fault is the error, once it has lasted long enough to count.
func (f *failure) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil && (isFinal(f.err) || time.Since(f.since) >= downAfter) {
		return f.err
	}
	return nil
}

// age has the error count as recorded long ago.
func (f *failure) age() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latest = time.Time{}
}

// last is when an error was recorded last.
func (f *failure) last() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.latest
}
