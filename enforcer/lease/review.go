package lease

import (
	"context"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

const (
	// neutral is the command by which a sandbox is judged: it does nothing.
	neutral = ":"
	// resolveTimeout bounds the look for an image's meaning. One that a live sandbox
	// runs is there already.
	resolveTimeout = 5 * time.Second
)

// Review asks of all that is live whether the policies that are in force now would
// still order it, for each session that has been in it: what they would not goes,
// and what runs there is stopped.
func (p *Pool) Review(ctx context.Context) {
	p.supply.Drain(reasonPolicy)
	r := p.newReview()
	for _, l := range p.standing() {
		r.of(ctx, l)
	}
}

// Review asks it of one sandbox.
func (l *Lease) Review(ctx context.Context) { l.pool.newReview().of(ctx, l) }

// ReviewResident asks it of what lives there.
func (l *Lease) ReviewResident(ctx context.Context, r Resident) {
	if !r.Running() || r.MayStart(ctx) || ctx.Err() != nil {
		return
	}
	if err := r.Kill(ctx, "The policies that are in force now no longer allow it"); err != nil {
		l.pool.config.Log.Error("stopping a process that the policies no longer allow; its sandbox goes", "sandbox", l.ID(), "error", err)
		l.pool.dropOne(l, reasonPolicy)
	}
}

// review is a look by the policies at what is live.
type review struct {
	*Pool
	unknown map[string]bool // images of which no backend could say what they mean
}

func (p *Pool) newReview() *review { return &review{p, map[string]bool{}} }

// of takes a sandbox away that the policies no longer order, and stops the
// processes in it that they no longer allow.
func (r *review) of(ctx context.Context, l *Lease) {
	allowed := r.allows(ctx, l)
	if ctx.Err() != nil { // nothing was asked
		return
	}
	if !allowed {
		r.dropOne(l, reasonPolicy)
		return
	}
	for _, resident := range l.residentsNow() {
		l.ReviewResident(ctx, resident)
	}
}

// allows says whether every session that has been in a sandbox would be sent there
// again.
func (r *review) allows(ctx context.Context, l *Lease) bool {
	sessions, all := r.sessionsOf(l)
	return all && !slices.ContainsFunc(sessions, func(s bailiff.Session) bool { return !r.sends(ctx, s, l) })
}

// sends says whether a session's request would be sent to a sandbox like this, if
// need be by its own wish.
func (r *review) sends(ctx context.Context, s bailiff.Session, l *Lease) bool {
	return slices.ContainsFunc([]string{"", l.backend}, func(wish string) bool {
		req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: neutral}, Session: s, Caller: l.caller,
			Peer: l.peer, Backend: wish}
		t, ordered := r.config.Policies(ctx, req)
		return ordered && t.backend == l.backend && r.pins(ctx, &t) && r.renew(l, t)
	})
}

// pins finds out what a spec's image means now.
func (r *review) pins(ctx context.Context, t *Spec) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	image := t.backend + " " + t.spec.Image
	if r.unknown[image] {
		return false
	}
	pinned, err := r.supply.Pin(ctx, t.backend, t.spec.Image)
	if err != nil {
		r.unknown[image] = true
		return false
	}
	t.spec.Image = pinned
	return true
}

// renew says whether a lease is what a spec's would be, and applies the spec's limits
// then.
func (p *Pool) renew(l *Lease, t Spec) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := !l.removed && (l.alone || l.slot == t.slot) && l.fingerprint == supply.Fingerprint(t.spec)
	if same {
		l.applyLimitsLocked(t)
	}
	return same
}

// standing are the leases whose sandboxes are there or on their way.
func (p *Pool) standing() []*Lease {
	return p.leases(func(l *Lease) bool { return !l.removed })
}
