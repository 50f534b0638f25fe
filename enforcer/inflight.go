package enforcer

import (
	"fmt"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// A request holds a place at its listener until it is answered. These bound how many
// places a session may take, and how many those take that wait for approvers: a
// client that finds none is told to send the request again.
const (
	maxUnderWayOfSession = 64
	maxWaitingOfCaller   = 128
	maxWaitingOfSession  = 16
)

var errInFlight = fmt.Errorf("%d requests of the session are under way, as many as it may have; send this one again when one of them "+
	"has been answered",
	maxUnderWayOfSession)

// inFlight counts requests that are in one state, by caller and session.
type inFlight struct {
	mu       sync.Mutex
	callers  map[string]int
	sessions map[lease.Key]int
}

// enter counts a request in; false if there are too many of its session, or of its
// caller where that is bounded.
func (c *inFlight) enter(req bailiff.Request, ofSession, ofCaller int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers == nil {
		c.callers, c.sessions = map[string]int{}, map[lease.Key]int{}
	}
	if c.sessions[lease.KeyOf(req)] >= ofSession || ofCaller > 0 && c.callers[req.Caller] >= ofCaller {
		return false
	}
	c.callers[req.Caller]++
	c.sessions[lease.KeyOf(req)]++
	return true
}

// leave counts it out again.
func (c *inFlight) leave(req bailiff.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers[req.Caller]--; c.callers[req.Caller] == 0 {
		delete(c.callers, req.Caller)
	}
	if c.sessions[lease.KeyOf(req)]--; c.sessions[lease.KeyOf(req)] == 0 {
		delete(c.sessions, lease.KeyOf(req))
	}
}
