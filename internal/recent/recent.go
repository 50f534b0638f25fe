// Package recent remembers what was put or looked at last, within a bound.
//
// Promised: of the keys used last at least as many are known as the bound says, at most
// twice as many in all, and using one takes the same time however many there are.
//
// Not here: what is to outlive the process.
package recent

import (
	"maps"
	"sync"
)

// Map holds values by the keys used last. It may be used concurrently.
type Map[K comparable, V any] struct {
	most int

	mu         sync.Mutex
	young, old map[K]V
}

// New makes one that knows at least so many keys.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{most: most, young: map[K]V{}}
}

// Get returns what is known by a key, which counts as used then.
func (m *Map[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, known := m.young[key]; known {
		return v, true
	}
	v, known := m.old[key]
	if known {
		m.set(key, v)
	}
	return v, known
}

// Put has a value known by a key.
func (m *Map[K, V]) Put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, v)
}

// Take returns what is known by a key, and forgets it.
func (m *Map[K, V]) Take(key K) (v V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, all := range []map[K]V{m.old, m.young} {
		if found, has := all[key]; has {
			v, known = found, true
			delete(all, key)
		}
	}
	return v, known
}

// ForgetAll forgets every value that is so.
func (m *Map[K, V]) ForgetAll(so func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, all := range []map[K]V{m.young, m.old} {
		maps.DeleteFunc(all, func(_ K, v V) bool { return so(v) })
	}
}

// set uses a key; m.mu is held.
func (m *Map[K, V]) set(key K, v V) {
	if _, known := m.young[key]; !known && len(m.young) >= m.most {
		m.old, m.young = m.young, map[K]V{}
	}
	m.young[key] = v
}
