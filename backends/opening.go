package backends

import (
	"crypto/rand"
	"strings"
	"sync"
)

// Opening holds the names of sandboxes that a backend is making and that no caller
// knows of yet, so that a sweep spares them. Its zero value holds none.
type Opening struct {
	mu    sync.Mutex
	names map[string]bool
}

// Name makes up a name, which is held until done is called.
func (o *Opening) Name(prefix string) (name string, done func()) {
	name = prefix + strings.ToLower(rand.Text()[:16])
	return name, o.Begin(name)
}

// Begin holds a name until done is called.
func (o *Opening) Begin(name string) (done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil {
		o.names = map[string]bool{}
	}
	o.names[name] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.names, name)
	}
}

// Has says whether a name is held.
func (o *Opening) Has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.names[name]
}

// Any says whether any is.
func (o *Opening) Any() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.names) > 0
}
