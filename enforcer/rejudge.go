package enforcer

import (
	"context"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const (
	// neutral is the command by which a sandbox is judged: it does nothing.
	neutral = ":"
	// resolveTimeout bounds the look for an image's meaning. One that a live sandbox
	// runs is there already.
	resolveTimeout = 5 * time.Second
)

// Rejudge asks of all that is live whether the policies that are in force now would
// still order it, for each session that has been in it: what they would not goes,
// and what runs there is stopped. It is for after a reload; a request that was
// judged before and comes to its sandbox later has that reviewed then.
func (e *Enforcer) Rejudge(ctx context.Context) {
	e.reloads.Add(1)
	e.leases.pool.drain(reasonPolicy)
	r := e.newReview()
	for _, l := range e.leases.standing() {
		r.of(ctx, l)
	}
}

// review is a look by the policies at what is live.
type review struct {
	*Enforcer
	unknown map[string]bool // images of which nobody could say what they mean
}

func (e *Enforcer) newReview() *review { return &review{e, map[string]bool{}} }

// of takes a sandbox away that the policies no longer order, and stops the
// processes in it that they no longer allow.
func (r *review) of(ctx context.Context, l *lease) {
	allowed := r.allows(ctx, l)
	if ctx.Err() != nil { // nothing was asked
		return
	}
	if !allowed {
		r.leases.dropOne(l, reasonPolicy)
		return
	}
	for _, o := range r.leases.occupantsOf(l) {
		r.ofOccupant(ctx, l, o)
	}
}

func (r *review) ofOccupant(ctx context.Context, l *lease, o occupant) {
	if !o.running() || o.allowed(ctx) || ctx.Err() != nil {
		return
	}
	if err := o.kill(ctx, "The policies that are in force now no longer allow it"); err != nil {
		r.config.Log.Error("stopping a process that the policies no longer allow; its sandbox goes", "sandbox", l.id(), "error", err)
		r.leases.dropOne(l, reasonPolicy)
	}
}

// allows says whether every session that has been in a sandbox would be sent there
// again.
func (r *review) allows(ctx context.Context, l *lease) bool {
	guests, all := r.leases.guestsOf(l)
	return all && !slices.ContainsFunc(guests, func(s bailiff.Session) bool { return !r.sends(ctx, s, l) })
}

// sends says whether a session's request would be sent to a sandbox like this, if
// need be by its own wish.
func (r *review) sends(ctx context.Context, s bailiff.Session, l *lease) bool {
	return slices.ContainsFunc([]string{"", l.backend}, func(wish string) bool {
		req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: neutral}, Session: s, Caller: l.caller, Backend: wish}
		d := r.decide(ctx, req, nil).Decision
		if d.Outcome == bailiff.Deny || d.Backend.Name != l.backend {
			return false
		}
		return r.pins(ctx, &d) && r.leases.renew(l, tenancy(req, d, r.config.Owner))
	})
}

// pins finds out what a decision's image means now.
func (r *review) pins(ctx context.Context, d *bailiff.Decision) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	image := d.Backend.Name + " " + d.Backend.Image
	if !r.unknown[image] && r.pinImage(ctx, d) != nil {
		r.unknown[image] = true
	}
	return !r.unknown[image]
}

// renew says whether a lease is what a tenant's would be, and lets the tenant's
// terms hold for it then.
func (ls *leases) renew(l *lease, t tenant) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	same := !l.removed && (l.alone || l.slot == t.slot) && l.fingerprint == fingerprint(t.spec)
	if same {
		l.agree(t)
	}
	return same
}

// standing are the leases whose sandboxes are there or on their way.
func (ls *leases) standing() (all []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if !l.removed {
			all = append(all, l)
		}
	}
	return all
}
