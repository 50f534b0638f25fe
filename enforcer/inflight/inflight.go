// Package inflight counts the requests that are in one state, and keeps out those beyond a bound.
//
// A request holds a place at its listener until it is answered. The bounds say how many
// places a session may take, and how many those take that wait for approvers: a
// client that finds none is told to send the request again.
package inflight

import (
	"fmt"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// The bounds on requests of a session, and on those of a session or a caller that wait for approvers.
const (
	MaxOfSession        = 64
	MaxWaitingOfCaller  = 128
	MaxWaitingOfSession = 16
)

// ErrTooMany refuses one more of a session.
var ErrTooMany = fmt.Errorf("%d requests of the session are under way, as many as it may have; send this one again when one of them "+
	"has been answered", MaxOfSession)

// Count counts requests by caller and session. It may be used concurrently.
type Count struct {
	mu       sync.Mutex
	callers  map[string]int
	sessions map[lease.Key]int
}

// Enter counts a request in; false if there are too many of its session, or of its
// caller where that is bounded.
func (c *Count) Enter(req bailiff.Request, ofSession, ofCaller int) bool {
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

// Leave counts it out again.
func (c *Count) Leave(req bailiff.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers[req.Caller]--; c.callers[req.Caller] == 0 {
		delete(c.callers, req.Caller)
	}
	if c.sessions[lease.KeyOf(req)]--; c.sessions[lease.KeyOf(req)] == 0 {
		delete(c.sessions, lease.KeyOf(req))
	}
}
