// Package recent is a cache of the values used last, within bounds.
//
// Promised: of the keys used last at least as many are known as the bound says, at most
// twice as many in all, and using one takes the same time however many there are. A bound
// on the sizes of values holds in the same way.
//
// Not here: values that outlive the process.
package recent

import (
	"maps"
	"sync"
)

// Map holds values by the keys used last. It may be used concurrently.
type Map[K comparable, V any] struct {
	most     int
	mostSize int
	sizeOf   func(V) int

	mu         sync.Mutex
	young, old map[K]V
	size       int // of the young values
}

// New makes one that knows at least so many keys.
func New[K comparable, V any](most int) *Map[K, V] {
	return NewSized[K, V](most, 0, func(V) int { return 0 })
}

// NewSized makes one whose values have at most twice a size together, too. A value may be
// forgotten, though it is among those used last, where the others are too large.
func NewSized[K comparable, V any](most, mostSize int, sizeOf func(V) int) *Map[K, V] {
	return &Map[K, V]{most: most, mostSize: mostSize, sizeOf: sizeOf, young: map[K]V{}}
}

// Get returns the value of a key, which counts as used then.
func (m *Map[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, known := m.young[key]; known {
		return v, true
	}
	v, known := m.old[key]
	if known {
		m.setLocked(key, v)
	}
	return v, known
}

// GetOrPut returns the value of a key, or sets one if there is none.
func (m *Map[K, V]) GetOrPut(key K, one func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := m.young[key]
	if known {
		return v
	}
	if v, known = m.old[key]; !known {
		v = one()
	}
	m.setLocked(key, v)
	return v
}

// Put sets the value of a key.
func (m *Map[K, V]) Put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setLocked(key, v)
}

// Take returns the value of a key, and forgets it.
func (m *Map[K, V]) Take(key K) (v V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, known = m.old[key]; known {
		delete(m.old, key)
	}
	if newer, has := m.young[key]; has {
		v, known = newer, true
		m.size -= m.sizeOf(newer)
		delete(m.young, key)
	}
	return v, known
}

// All are the values that are known, by key. None counts as used by that.
func (m *Map[K, V]) All() map[K]V {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.young)
	for key, v := range m.old {
		if _, newer := all[key]; !newer {
			all[key] = v
		}
	}
	return all
}

// ForgetAll forgets every value of which so is true.
func (m *Map[K, V]) ForgetAll(so func(V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.old, func(_ K, v V) bool { return so(v) })
	maps.DeleteFunc(m.young, func(_ K, v V) bool {
		gone := so(v)
		if gone {
			m.size -= m.sizeOf(v)
		}
		return gone
	})
}

// Len is how many keys are known.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.young)
	for key := range m.old {
		if _, again := m.young[key]; !again {
			n++
		}
	}
	return n
}

func (m *Map[K, V]) setLocked(key K, v V) {
	size := m.sizeOf(v)
	before, known := m.young[key]
	if known {
		size -= m.sizeOf(before)
	}
	if !known && len(m.young) >= m.most || m.size+size > m.mostSize && len(m.young) > 0 {
		m.old, m.young, m.size = m.young, map[K]V{}, 0
		size = m.sizeOf(v)
	}
	m.young[key] = v
	m.size += size
}
