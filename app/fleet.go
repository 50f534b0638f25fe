package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers"
	"github.com/bailiff-dev/bailiff/internal/network/throttle"
)

// fleetParts are what a sidecar has that shares a store with others; all are nil where it does
// not. Without a listener for peers it serves what comes to it, and there is no router.
type fleetParts struct {
	members  *fleet.Fleet
	homes    *fleet.Homes
	requests *fleet.Requests
	stop     func() // ends what writes requests down
	router   *peers.Router
	server   *peers.Server
}

// openFleet tells the others of this sidecar, once it has its name among them.
func (c *core) openFleet(ctx context.Context) (err error) {
	if c.database == nil {
		return nil
	}
	of := fleet.Config{DB: c.database, Replica: c.cfg.Store.Replica, Address: c.cfg.Store.Peer.Address,
		Revision: c.policies.Revision, Head: func() fleet.LogHead { return fleet.LogHead(c.decisions.Head()) }, Standing: c.standing,
		Sandboxes: c.heldSandboxes, Living: c.divideLimits}
	err = c.awaitAnswer(ctx, func(ctx context.Context) (err error) {
		c.fleet.members, err = fleet.New(ctx, of)
		return err
	})
	if err != nil {
		return fmt.Errorf("joining the other sidecars: %w", err)
	}
	c.fleet.homes, c.fleet.requests = c.fleet.members.Homes(), c.fleet.members.Requests()
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // requests end later than the sidecar is told to
	ended := make(chan struct{})
	go func() { defer close(ended); c.fleet.requests.Run(ctx) }()
	c.fleet.stop = func() { end(); <-ended }
	return nil
}

// sayAnew tells a PostgreSQL that may lack the last commits which sessions and request ids are this sidecar's.
func (c *core) sayAnew(ctx context.Context) error {
	if !c.halts.Load() {
		return nil // nothing was begun yet
	}
	return errors.Join(c.fleet.homes.SayAnew(ctx), c.fleet.requests.SayAnew(ctx))
}

// divideLimits has sidecars keep a bound together. A caller's requests come to all of them; a user's
// sessions are served by one, unless each serves what comes to it.
func (c *core) divideLimits(living int) {
	parts := throttle.Parts{Caller: living, User: living}
	if c.cfg.Store.Peer.Listen != "" {
		parts.User = 1
	}
	c.throttle.Divide(parts)
}

// heldSandboxes are those of this sidecar, with their sessions.
func (c *core) heldSandboxes() (all []fleet.Sandbox) {
	if !c.halts.Load() {
		return nil // none was made yet
	}
	for _, h := range c.enforcer.Held() {
		one := fleet.Sandbox{Backend: h.Backend, ID: h.ID, MayHaveMore: h.MayHaveMore}
		for _, s := range h.Sessions {
			one.Sessions = append(one.Sessions, fleet.Session{ID: s.ID, Platform: s.Platform, User: s.UserID})
		}
		all = append(all, one)
	}
	return all
}

func (c *core) standing() fleet.Standing {
	err := c.approvals.Err() // first: a sidecar that is heard again has counted its silence before
	epoch, silences := c.approvals.Standing()
	return fleet.Standing{Epoch: epoch, Silences: silences, Err: err}
}

// epoch is that of this sidecar's name; zero where it shares no store.
func (c *core) epoch() int64 {
	if c.approvals == nil {
		return 0 // before it has its name, when it makes no sandbox that outlives it
	}
	epoch, _ := c.approvals.Standing()
	return epoch
}

// checkOwner says why sandboxes of this sidecar's name may be another's by now; nil where it shares no store, so that
// no other can have the name, and before it has its name, when it has made no sandbox.
func (c *core) checkOwner() error {
	if c.database == nil || c.approvals == nil {
		return nil
	}
	return c.standing().Err
}

// openRouter prepares to send requests to the sidecars that serve their sessions.
func (c *core) openRouter() (err error) {
	c.front = c.enforcer
	if c.cfg.Store.Peer.Listen == "" {
		return nil
	}
	c.fleet.router, err = peers.New(peers.Config{Local: c.enforcer, Homes: c.fleet.homes, TLS: peerTLS(c.cfg.Store.Peer),
		Observer: c.metrics, Frozen: c.isFrozen, Tracer: c.agentTracer()})
	c.front = c.fleet.router
	return err
}

// isFrozen says whether an operator froze a session. What is stopped because PostgreSQL does not answer is for its home
// to say.
func (c *core) isFrozen(s bailiff.Session) bool {
	return c.approvals.Err() == nil && c.approvals.IsFrozen(s)
}

func peerTLS(p config.Peer) peers.TLS {
	return peers.TLS{Certificate: p.Cert, Key: p.Key, Authority: p.CA}
}

// openPeers opens the listener at which the other sidecars ask.
func (a *App) openPeers() (err error) {
	if a.fleet.router == nil {
		return nil
	}
	if a.fleet.server, err = peers.Listen(a.cfg.Store.Peer.Listen, a.fleet.router, a.log); err != nil {
		return fmt.Errorf("opening store.peer: %w", err)
	}
	return nil
}

// shutPeers takes no more requests of other sidecars, which then send them where they go next.
func (a *App) shutPeers(ctx context.Context) {
	if err := a.fleet.server.Shutdown(ctx); err != nil {
		a.log.Warn("closing a listener", "listener", "peers", "error", err)
	}
}

// handOver gives the sessions away that this sidecar serves, until ctx ends: at once those of which nothing
// runs, each of the others once that has ended, its background processes too. Their sandboxes are removed
// meanwhile.
func (a *App) handOver(ctx context.Context) {
	busy, ended := a.enforcer.Leave()
	tick := time.NewTicker(busyEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		var keep []fleet.Session
		for _, p := range busy() {
			keep = append(keep, fleet.Session{Caller: p.Caller, ID: p.Session.ID, Platform: p.Session.Platform, User: p.Session.UserID})
		}
		a.fleet.requests.AwaitFree(ctx) // of those that are not kept
		if err := a.fleet.homes.GiveAway(ctx, keep); err != nil {
			a.log.Warn("giving sessions to other sidecars; they take them over when this one has ended", "error", err)
		}
		a.enforcer.DropIdle()
		if len(keep) == 0 {
			return
		}
		select {
		case <-ended:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// busyEvery is how soon it is seen that a background process has ended.
const busyEvery = 200 * time.Millisecond

// claims are the request ids of all sidecars as the enforcer needs them; nil where there is one.
func (c *core) claims() answers.Claims {
	if c.fleet.requests == nil {
		return nil
	}
	return sharedClaims{c.fleet.requests}
}

// homes say which sidecar serves a session, as the leases need it; nil where each serves what comes to it.
func (c *core) homes() lease.Homes {
	if c.cfg.Store.Peer.Listen == "" {
		return nil
	}
	return sharedHomes{c.fleet.homes}
}

type sharedHomes struct{ *fleet.Homes }

func (s sharedHomes) Serves(ctx context.Context, k lease.Key) error {
	return s.Homes.Serves(ctx, fleet.Session{Caller: k.Caller, ID: k.Session})
}

type sharedClaims struct{ *fleet.Requests }

func (s sharedClaims) Claim(ctx context.Context, caller, session, id, digest string) (first, same bool, err error) {
	claimed, err := s.Requests.Claim(ctx, fleet.RequestID{Caller: caller, Session: session, ID: id}, digest)
	return claimed == fleet.First, claimed == fleet.SameElsewhere, err
}

func (s sharedClaims) Ended(caller, session, id string, free bool) {
	s.Requests.Ended(fleet.RequestID{Caller: caller, Session: session, ID: id}, free)
}

// replicas are the sidecars that share the store; none where it does not answer, which the warnings
// tell of.
func (a *App) replicas(ctx context.Context) (list []api.ReplicaStatus) {
	if a.fleet.members == nil {
		return nil
	}
	members, err := a.fleet.members.Members(ctx)
	if err != nil {
		return nil
	}
	for _, m := range members {
		state := "silent"
		switch {
		case m.Left:
			state = "left"
		case m.Lives():
			state = "lives"
		}
		list = append(list, api.ReplicaStatus{Name: m.ID, Self: m.ID == a.cfg.Store.Replica, Address: m.Address, State: state,
			SilentSeconds: int(m.Silent.Seconds()), Homes: m.Homes, Revision: m.Revision})
	}
	return list
}

// replicaWarnings say that sidecars which live judge by other policies.
func replicaWarnings(replicas []api.ReplicaStatus) []string {
	revisions := map[string]bool{}
	for _, r := range replicas {
		if r.State == "lives" && r.Revision != "" {
			revisions[r.Revision] = true
		}
	}
	if len(revisions) < 2 {
		return nil
	}
	return []string{"the sidecars that share the store judge by different policies"}
}

// runFleet does until ctx ends what a sidecar among others has to.
func (a *App) runFleet(ctx context.Context) {
	if a.database == nil {
		return
	}
	a.serving.Go(func() { a.fleet.members.Run(ctx) })
	if a.cfg.Store.OnOutage == config.OnOutageStop {
		a.serving.Go(func() { a.stopAtOutages(ctx) })
	}
	if a.fleet.router != nil {
		watch := &takeovers{log: a.log, yield: a.yield}
		look := func() { watch.look(ctx, a.standing().Silences) }
		look() // before anything is served
		a.serving.Go(func() { backends.Every(storeEvery, ctx.Done(), look) })
	}
}

// storeEvery is how soon it is seen that the store does not answer, or that this sidecar was silent
// for so long that others may have taken its sessions over.
const storeEvery = time.Second

// stopAtOutages stops what runs while the store that sidecars share does not answer.
func (a *App) stopAtOutages(ctx context.Context) {
	watch := outages{log: a.log, stop: a.enforcer.Suspend}
	backends.Every(storeEvery, ctx.Done(), func() { watch.look(ctx, a.standing().Err) })
}

// outages are those of the store that sidecars share.
type outages struct {
	log  *slog.Logger
	stop func(context.Context) error
	away bool
}

// look stops what runs if the store does not answer now: each time, since a request that was judged right
// before an outage may begin after it was seen first.
func (o *outages) look(ctx context.Context, err error) {
	begins := err != nil && !o.away
	o.away = err != nil
	if begins {
		o.log.Warn("what runs is stopped until the shared store answers again", "error", err)
	}
	if !o.away {
		return
	}
	if err := o.stop(ctx); err != nil {
		o.log.Error("stopping what runs", "error", err)
	}
}

// takeovers are of sessions of this sidecar, by others that had not heard of it for so long.
type takeovers struct {
	log    *slog.Logger
	yield  func(context.Context) error
	looked bool
	seen   uint64 // silences of this sidecar
}

// look yields if this sidecar was silent since it looked last. The first look yields always: the sessions of sandboxes
// that an earlier run made may be others' by now.
func (t *takeovers) look(ctx context.Context, silences uint64) {
	if t.looked && t.seen == silences {
		return
	}
	if err := t.yield(ctx); err != nil {
		t.log.Error("looking which sessions other sidecars have taken over", "error", err)
		return
	}
	t.looked, t.seen = true, silences
}

// yield ends what runs of sessions whose home is another sidecar by now.
func (a *App) yield(ctx context.Context) error {
	var all []fleet.Session
	for _, key := range a.enforcer.Serving() {
		all = append(all, fleet.Session{Caller: key.Caller, ID: key.Session})
	}
	lost, err := a.fleet.homes.LostSessions(ctx, all)
	for _, s := range lost {
		a.log.Warn("another sidecar has taken a session over", "caller", s.Caller, "session", s.ID)
		a.enforcer.Yield(ctx, lease.Key{Caller: s.Caller, Session: s.ID})
	}
	return err
}
