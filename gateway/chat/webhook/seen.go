package webhook

import (
	"container/heap"
	"sync"
	"time"
)

// mostHeard bounds what is remembered.
const mostHeard = 100_000

// verdict is on whether something was heard before.
type verdict int

const (
	repeated verdict = iota
	full
	first
)

// heard are answers that were heard, by their ids, each until it cannot come again. Who
// sends one again with the same signature sends the same id.
type heard struct {
	mu   sync.Mutex
	ids  map[string]bool
	ends ends
}

func newHeard() *heard { return &heard{ids: map[string]bool{}} }

// take remembers an answer until it expires, if it was not heard.
func (h *heard) take(now, expires time.Time, id string) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.ends) > 0 && h.ends[0].at.Before(now) {
		delete(h.ids, heap.Pop(&h.ends).(end).id)
	}
	if h.ids[id] {
		return repeated
	}
	if len(h.ids) == mostHeard {
		return full
	}
	h.ids[id] = true
	heap.Push(&h.ends, end{expires, id})
	return first
}

// end is when an id may be forgotten.
type end struct {
	at time.Time
	id string
}

// ends are a heap, the next one first.
type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
