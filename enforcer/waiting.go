package enforcer

import (
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// A request that waits for humans holds a place at its listener. These bound how
// many places waiting may take; whoever finds none is told to send the request again.
const (
	maxWaitingOfCaller  = 128
	maxWaitingOfSession = 16
)

// waiting counts the requests that wait for humans.
type waiting struct {
	mu       sync.Mutex
	callers  map[string]int
	sessions map[[2]string]int
}

// enter counts a request in; false if too many wait.
func (w *waiting) enter(req bailiff.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.callers == nil {
		w.callers, w.sessions = map[string]int{}, map[[2]string]int{}
	}
	session := [2]string{req.Caller, req.Session.ID}
	if w.callers[req.Caller] >= maxWaitingOfCaller || w.sessions[session] >= maxWaitingOfSession {
		return false
	}
	w.callers[req.Caller]++
	w.sessions[session]++
	return true
}

// leave counts it out again.
func (w *waiting) leave(req bailiff.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	session := [2]string{req.Caller, req.Session.ID}
	if w.callers[req.Caller]--; w.callers[req.Caller] == 0 {
		delete(w.callers, req.Caller)
	}
	if w.sessions[session]--; w.sessions[session] == 0 {
		delete(w.sessions, session)
	}
}
