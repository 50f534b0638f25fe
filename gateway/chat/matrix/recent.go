package matrix

import (
	"maps"
	"sync"
)

const (
	mostAsking = 4096
	mostRooms  = 1024
)

// recent keeps what was put or looked at last: at least so many, at most twice as many.
type recent[V any] struct {
	most int

	mu         sync.Mutex
	young, old map[string]V
}

func newRecent[V any](most int) *recent[V] {
	return &recent[V]{most: most, young: map[string]V{}}
}

func (r *recent[V]) get(key string) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, known := r.young[key]; known {
		return v, true
	}
	v, known := r.old[key]
	if known {
		r.set(key, v)
	}
	return v, known
}

func (r *recent[V]) put(key string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(key, v)
}

func (r *recent[V]) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, key)
	delete(r.old, key)
}

func (r *recent[V]) forgetAll(which func(V) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range []map[string]V{r.young, r.old} {
		maps.DeleteFunc(all, func(_ string, v V) bool { return which(v) })
	}
}

func (r *recent[V]) set(key string, v V) {
	if _, known := r.young[key]; !known && len(r.young) >= r.most {
		r.old, r.young = r.young, map[string]V{}
	}
	r.young[key] = v
}
