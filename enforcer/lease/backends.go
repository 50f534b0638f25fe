package lease

import (
	"context"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Refusal is nil where a spec's request is served or could be; it says why not before
// approvers are asked for a yes that could not be used.
func (p *Pool) Refusal(t Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.live[t.slot]; l != nil && l.fitsLocked(t) {
		return nil
	}
	return p.supply.Refusal(t.backend, t.spec)
}

// serves says whether a session has a sandbox of a backend.
func (p *Pool) serves(caller, session, backend string) bool {
	isTheirs := func(s bailiff.Session) bool { return s.ID == session }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.live {
		if l.caller == caller && l.backend == backend && l.Alive() && slices.ContainsFunc(l.sessions, isTheirs) {
			return true
		}
	}
	return false
}

// Watch probes the backends until ctx ends.
func (p *Pool) Watch(ctx context.Context) { p.supply.Watch(ctx) }

// Probe asks every backend at once whether it is ready, and returns when all
// have answered.
func (p *Pool) Probe(ctx context.Context) { p.supply.Probe(ctx) }

// Readiness returns, for each backend, nil or why it is not ready.
func (p *Pool) Readiness() map[string]error { return p.supply.Readiness() }

// Pin replaces the image's name in a decision that may run by one that cannot come to
// mean another image, so that what is approved is what runs.
func (p *Pool) Pin(ctx context.Context, d *bailiff.Decision) error {
	if d.Outcome == bailiff.Deny {
		return nil
	}
	image, err := p.supply.Pin(ctx, d.Backend.Name, d.Backend.Image)
	if err == nil {
		d.Backend.Image = image
	}
	return err
}
