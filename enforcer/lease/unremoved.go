package lease

import (
	"maps"

	"github.com/bailiff-dev/bailiff"
)

// noteUnremoved remembers that the files of a lease could not be removed.
func (p *Pool) noteUnremoved(l *Lease, err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.unremoved = true
	p.unremoved[l.backend] = bailiff.ForeignError(err) // a command chose the names of the files
}

// forgetUnremoved forgets a backend's fault, since a sweep has removed all files there.
func (p *Pool) forgetUnremoved(backend string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.unremoved, backend)
}

// countUnremoved counts the leases whose files could not be removed.
func (p *Pool) countUnremoved(leases []*Lease) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range leases {
		if l.unremoved {
			n++
		}
	}
	return n
}

// Leftovers is why files of sessions that have ended could not be removed yet, by backend.
func (p *Pool) Leftovers() map[string]error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.unremoved)
}
