package telegram

import (
	"slices"
	"sync"
)

// lately remembers the last things that were put into it. Nothing is kept under the
// empty key.
type lately[K comparable, V any] struct {
	mu    sync.Mutex
	most  int
	all   map[K]V
	order []K
}

func newLately[K comparable, V any](most int) *lately[K, V] {
	return &lately[K, V]{most: most, all: map[K]V{}}
}

func (l *lately[K, V]) get(key K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	value, known := l.all[key]
	return value, known
}

func (l *lately[K, V]) put(key K, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var none K
	if key == none {
		return
	}
	if _, known := l.all[key]; !known {
		l.order = append(l.order, key)
	}
	l.all[key] = value
	if len(l.order) > l.most {
		delete(l.all, l.order[0])
		l.order = slices.Delete(l.order, 0, 1)
	}
}

// drop forgets a key, and says whether it was known.
func (l *lately[K, V]) drop(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.all[key]
	if known {
		delete(l.all, key)
		l.order = slices.DeleteFunc(l.order, func(k K) bool { return k == key })
	}
	return known
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
