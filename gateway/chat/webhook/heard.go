package webhook

import (
	"container/heap"
	"sync"
	"time"
)

// mostHeard bounds what is remembered: two names an answer.
const mostHeard = 100_000

// verdict is on whether something was heard before.
type verdict int

const (
	repeated verdict = iota
	full
	first
)

// heard are names that were heard, each until it cannot come again.
type heard struct {
	mu    sync.Mutex
	names map[string]bool
	ends  ends
}

func newHeard() *heard { return &heard{names: map[string]bool{}} }

// take remembers names until they expire. It remembers none of them if one was heard.
func (h *heard) take(now, expires time.Time, names ...string) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.ends) > 0 && h.ends[0].at.Before(now) {
		delete(h.names, heap.Pop(&h.ends).(end).name)
	}
	for _, name := range names {
		if h.names[name] {
			return repeated
		}
	}
	if len(h.names)+len(names) > mostHeard {
		return full
	}
	for _, name := range names {
		h.names[name] = true
		heap.Push(&h.ends, end{expires, name})
	}
	return first
}

// end is when a name may be forgotten.
type end struct {
	at   time.Time
	name string
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
