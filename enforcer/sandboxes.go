package enforcer

import (
	"context"

	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// Adopt goes on with the sandboxes that an earlier run of this sidecar leased. It must
// be called once, before the first request.
func (e *Enforcer) Adopt(ctx context.Context) { e.leases.Adopt(ctx) }

// Watch probes the backends until ctx ends.
func (e *Enforcer) Watch(ctx context.Context) { e.leases.Watch(ctx) }

// Probe asks every backend at once whether it is ready, and returns when all
// have answered.
func (e *Enforcer) Probe(ctx context.Context) { e.leases.Probe(ctx) }

// Readiness returns, for each backend, nil or why it is not ready.
func (e *Enforcer) Readiness() map[string]error { return e.leases.Readiness() }

// Limit sets how many sandboxes there may be. Those that are there stay.
func (e *Enforcer) Limit(most lease.Bounds) { e.leases.Limit(most) }

// Warm sets how many sandboxes may stand ready; the zero Warm keeps none.
func (e *Enforcer) Warm(w lease.Warm) { e.leases.Warm(w) }

// Sandboxes lists the live ones, the oldest first.
func (e *Enforcer) Sandboxes() []lease.Sandbox { return e.leases.Sandboxes() }

// Held lists the sandboxes with the sessions that are in them.
func (e *Enforcer) Held() []lease.Held { return e.leases.Held() }

// Leftovers is why files of sessions that have ended could not be removed yet, by backend.
func (e *Enforcer) Leftovers() map[string]error { return e.leases.Leftovers() }

// RemoveSandbox stops and removes one; found is false when there is none of that id.
func (e *Enforcer) RemoveSandbox(id string) (found bool) { return e.leases.Remove(id) }

// Reap removes every sandbox that no request uses now, and what earlier runs of
// this sidecar left behind; it returns how many sandboxes.
func (e *Enforcer) Reap(ctx context.Context) (int, error) { return e.leases.Reap(ctx) }

// Sweep removes the sandboxes and workspaces of this owner that no lease holds; it
// returns how many sandboxes.
func (e *Enforcer) Sweep(ctx context.Context) (removed int, err error) { return e.leases.Sweep(ctx) }
