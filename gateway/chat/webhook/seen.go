package webhook

import (
	"container/heap"
	"sync"
	"time"
)

// maxSeen answers are remembered.
const maxSeen = 100_000

// seenResult says whether an answer was seen before.
type seenResult int

const (
	repeated seenResult = iota
	full
	first
)

// seenAnswers are the ids of answers that were taken, each until its signature expires. An
// answer that is sent again with the same signature has the same id.
type seenAnswers struct {
	mu       sync.Mutex
	ids      map[string]bool
	expiries expiries
}

func newSeenAnswers() *seenAnswers { return &seenAnswers{ids: map[string]bool{}} }

// add remembers an answer until it expires, unless it was seen before.
func (h *seenAnswers) add(now, expires time.Time, id string) seenResult {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.expiries) > 0 && h.expiries[0].at.Before(now) {
		delete(h.ids, heap.Pop(&h.expiries).(expiry).id)
	}
	if h.ids[id] {
		return repeated
	}
	if len(h.ids) == maxSeen {
		return full
	}
	h.ids[id] = true
	heap.Push(&h.expiries, expiry{expires, id})
	return first
}

// expiry is when an id may be forgotten.
type expiry struct {
	at time.Time
	id string
}

// expiries are a heap, the earliest first.
type expiries []expiry

func (e expiries) Len() int           { return len(e) }
func (e expiries) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e expiries) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *expiries) Push(x any)        { *e = append(*e, x.(expiry)) }
func (e *expiries) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
