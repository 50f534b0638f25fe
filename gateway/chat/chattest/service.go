package chattest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Signal is a lock that wakes the tests that wait for a change of what it guards.
type Signal struct {
	sync.Mutex
	changed chan struct{}
}

// Change makes a change with the lock held.
func (s *Signal) Change(do func()) {
	s.Lock()
	defer s.Unlock()
	do()
	s.Wake()
}

// Read reads while nothing changes.
func (s *Signal) Read(do func()) {
	s.Lock()
	defer s.Unlock()
	do()
}

// Wake wakes those that wait. The lock is held.
func (s *Signal) Wake() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Changes is closed by the next change. The lock is held.
func (s *Signal) Changes() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Await waits until something is so, looked at with the lock held, and says whether it came
// to be.
func (s *Signal) Await(tb testing.TB, is func() bool) bool { return s.AwaitFor(Patience(tb), is) }

// AwaitFor is Await for a time of its own.
func (s *Signal) AwaitFor(long time.Duration, is func() bool) bool {
	return s.wait(long, func() (so bool) { s.Read(func() { so = is() }); return so })
}

// AwaitSeen is Await for a look that takes the lock itself.
func (s *Signal) AwaitSeen(tb testing.TB, is func() bool) bool { return s.wait(Patience(tb), is) }

func (s *Signal) wait(long time.Duration, is func() bool) bool {
	for late := time.After(long); ; {
		var changed <-chan struct{}
		s.Read(func() { changed = s.Changes() })
		if is() {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		}
	}
}

// Faults are how calls of a service fail, and how often each was made. The zero value of F
// is no fault.
type Faults[F any] struct {
	mu    sync.Mutex
	how   func(method string) F
	calls map[string]int
}

// Fail has calls fail from now on, as the function says of each; nil lets all pass.
func (f *Faults[F]) Fail(how func(method string) F) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.how = how
}

// Calls is how often a method was called, failures included.
func (f *Faults[F]) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// Next counts a call, and says how it fails.
func (f *Faults[F]) Next(method string) (fault F) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[method]++
	if f.how != nil {
		fault = f.how(method)
	}
	return fault
}

// Answer does what a call asks for. Where it is found that the service refuses, a *R ends the
// work as a panic, and is returned in the place of an answer.
func Answer[R any](do func() any) (answer any, no *R) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case *R:
			no = cause
		default:
			panic(cause)
		}
	}()
	return do(), nil
}

// Serve starts a service that lasts as long as the test; end is called before it ends.
func Serve(tb testing.TB, handler http.Handler, end func()) *httptest.Server {
	s := httptest.NewServer(handler)
	tb.Cleanup(func() {
		end()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}
