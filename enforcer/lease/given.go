package lease

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// given are the variables that commands in a workspace got. A value may be in its files, in
// the name of a folder or on a screen, so that it is known as long as the workspace is.
// The names are in the ledger, the values in memory alone: each that a name had, the last
// one last.
type given map[string][]bailiff.Secret

// Give notes the variables that a command gets, before it gets them, and returns all that
// were given before, with the values that were.
func (h *Hold) Give(values map[string]bailiff.Secret) map[string][]bailiff.Secret {
	l := h.lease
	all, isNew := l.pool.give(l, values)
	if isNew {
		l.pool.save(l)
		if err := l.pool.remember(l); err != nil {
			l.pool.config.Log.Error("a restart will not redact what a kept workspace was given", "backend", l.backend, "error", err)
		}
	}
	return all
}

// give notes the variables, and says whether one of the names is new.
func (p *Pool) give(l *Lease, values map[string]bailiff.Secret) (all given, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.given[l.givenKey()]
	for name, value := range values {
		if _, ok := known[name]; !ok {
			isNew, l.stale = true, true
		}
		if known == nil {
			known = given{}
			p.given[l.givenKey()] = known
		}
		known[name] = append(slices.DeleteFunc(known[name], func(v bailiff.Secret) bool { return v.Reveal() == value.Reveal() }), value)
	}
	all = given{}
	for name, values := range known {
		all[name] = slices.Clone(values)
	}
	return all, isNew
}

// givenKey names the workspace, or the slot of a sandbox without one.
func (t Spec) givenKey() string { return cmp.Or(t.files(), t.slot) }

// forgetGiven forgets the variables of a sandbox that ends with its files.
func (p *Pool) forgetGiven(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if next := p.live[l.slot]; p.isLastInLocked(l) && (next == nil || next == l) {
		delete(p.given, l.givenKey())
	}
}

// givenNamesLocked are the names that the ledger should know.
func (l *Lease) givenNamesLocked() []string {
	return slices.Sorted(maps.Keys(l.pool.given[l.givenKey()]))
}

// nameGivenLocked takes over the names of variables that an earlier run of the sidecar gave.
func (p *Pool) nameGivenLocked(key string, names []string) {
	for _, name := range names {
		if p.given[key] == nil {
			p.given[key] = given{}
		}
		if _, ok := p.given[key][name]; !ok {
			p.given[key][name] = nil
		}
	}
}
