package enforcer

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// Rejudge asks of all that is live whether the policies that are in force now would
// still order it: what they would not goes, and what runs there is stopped. It is for
// after a reload; a request that was judged before and comes to its sandbox later has
// that reviewed then.
func (e *Enforcer) Rejudge(ctx context.Context) {
	e.reloads.Add(1)
	e.leases.Review(ctx)
}

// orders is the sandbox that the policies would order for a request now.
func (e *Enforcer) orders(ctx context.Context, req bailiff.Request) (lease.Spec, bool) {
	d := e.decide(ctx, req, found{}).Decision
	return e.leases.SpecOf(req, d), d.Outcome != bailiff.Deny
}

// allows is what the policies say now to a request whose process runs; what an operator
// lifted, only the floor can stop.
func (e *Enforcer) allows(ctx context.Context, req bailiff.Request, lifted bool) (bailiff.Decision, bool) {
	d := e.decide(ctx, req, found{}).Decision
	if lifted {
		return d, !fromTheFloor(d)
	}
	return d, d.Outcome != bailiff.Deny
}
