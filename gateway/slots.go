package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// slots bounds how many requests run at once. A request whose body still arrives keeps
// its slot only until another request needs one.
type slots struct {
	most int

	mu    sync.Mutex
	taken int
	// arriving are the slots of requests whose bodies still arrive, by peer, the oldest first.
	arriving map[string][]*slot
}

// slot is that of one request.
type slot struct {
	of   *slots
	peer string
	// end stops the reading of the body, and the request; lost says that it was called.
	end  func()
	lost bool
}

// errSlotLost is why the reading of a body stops whose slot another request got.
var errSlotLost = errors.New("another request got the slot while the body arrived")

func newSlots(most int) *slots { return &slots{most: most, arriving: map[string][]*slot{}} }

// take gives a request of a peer a slot, if need be that of a request whose body still
// arrives. A request with a body says how it is ended until that has arrived.
func (s *slots) take(peer string, end func()) (*slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.most && !s.makeRoom() {
		return nil, false
	}
	s.taken++
	own := &slot{of: s, peer: peer, end: end}
	if end != nil {
		s.arriving[peer] = append(s.arriving[peer], own)
	}
	return own, true
}

// makeRoom ends the oldest request whose body still arrives, of the peer that has most of
// them.
func (s *slots) makeRoom() bool {
	var crowd []*slot
	for _, all := range s.arriving {
		if len(all) > len(crowd) {
			crowd = all
		}
	}
	if len(crowd) == 0 {
		return false
	}
	oldest := crowd[0]
	s.settle(oldest)
	oldest.lost = true
	s.taken--
	oldest.end()
	return true
}

// settle has a slot be none of those that can be lost.
func (s *slots) settle(own *slot) {
	s.arriving[own.peer] = slices.DeleteFunc(s.arriving[own.peer], func(other *slot) bool { return other == own })
	if len(s.arriving[own.peer]) == 0 {
		delete(s.arriving, own.peer)
	}
}

// keep keeps the slot from now on; it is false if another request got it.
func (own *slot) keep() bool {
	own.of.mu.Lock()
	defer own.of.mu.Unlock()
	own.of.settle(own)
	return !own.lost
}

// leave gives the slot back.
func (own *slot) leave() {
	own.of.mu.Lock()
	defer own.of.mu.Unlock()
	own.of.settle(own)
	if !own.lost {
		own.lost = true
		own.of.taken--
	}
}

// enter takes a slot for a request, and gives it back by leave.
func (l *Listener) enter(p *paced, r *http.Request) (within *http.Request, leave func(), ok bool) {
	if r.ContentLength == 0 {
		own, ok := l.slots.take("", nil)
		if !ok {
			return nil, nil, false
		}
		return r, own.leave, true
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	own, ok := l.slots.take(peerNameOf(r.Context()), func() {
		cancel(errSlotLost)
		_ = p.control.SetReadDeadline(time.Now()) // a broken connection fails the read
	})
	if !ok {
		cancel(nil)
		return nil, nil, false
	}
	within = r.WithContext(ctx)
	within.Body = &slottedBody{r.Body, own}
	return within, func() { own.leave(); cancel(nil) }, true
}

// slottedBody keeps its request's slot once all of it has arrived.
type slottedBody struct {
	io.ReadCloser
	own *slot
}

func (b *slottedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil && !b.own.keep() {
		return n, errSlotLost
	}
	return n, err
}
