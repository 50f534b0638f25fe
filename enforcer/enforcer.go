// Package enforcer is the policy enforcement point (PEP): the only code that
// can reach a sandbox.
//
// A request goes one way: it is judged, its decision is recorded, every
// obligation is met, it runs, its end is recorded, the caller is answered.
// request.go reads in that order. Where the decision is to ask, humans'
// grants let it go on, or it waits for them and is judged a second time (ask.go).
// An error anywhere on the way means that nothing runs and that the answer says
// why; there is no other backend to fall back to. An operator's word can lift the
// policies, loudly, and nothing else ([Enforcer.BreakGlass]).
//
// Promised here:
//   - nothing runs unless its decision is on disk: what runs takes a grant, and only the
//     step that recorded the decision makes one (record.go); a client that runs a request
//     itself is not told that it may before that (decide.go);
//   - the floor (floor.go) holds under any policy, hostile ones included;
//   - a request that gets variables is alone in its sandbox, and what it leaves
//     behind is killed (enforcer/lease);
//   - values of variables go to the sandbox's runner and to the redactor, and
//     nowhere else;
//   - what humans approved is what runs: a grant covers the request by its digest
//     or by what was found in it, and is taken, on disk, before the request runs;
//   - what lives on in the background is seen by its session alone, keeps out requests
//     that must not run beside it, and reads only what was judged for it
//     (enforcer/process);
//   - what is frozen does not run, and what ran when it was frozen is stopped;
//   - a request id runs at most once (enforcer/answers).
//
// Not here: how a decision is made (internal/pdp), who shares which sandbox
// (enforcer/lease), how one is made (backends), how a request arrives (gateway).
package enforcer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
	"github.com/bailiff-dev/bailiff/enforcer/inflight"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/enforcer/process"
	"github.com/bailiff-dev/bailiff/enforcer/refusals"
	"github.com/bailiff-dev/bailiff/enforcer/sights"
	"github.com/bailiff-dev/bailiff/enforcer/toolbox"
)

// New returns an Enforcer, or names everything that the config lacks. Callers
// must also run [Enforcer.Adopt], [Enforcer.Watch] and, at the end, [Enforcer.Close].
func New(c Config) (*Enforcer, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.History == nil {
		c.History = past.InMemory()
	}
	ctx, stop := context.WithCancelCause(context.Background())
	e := &Enforcer{config: c, answers: answers.Remember(c.Unfinished, c.Claims), refusals: refusals.New(), running: ctx, stop: stop}
	e.leaving, e.leave = context.WithCancel(context.Background())
	e.parts = e
	if c.Tracer != nil {
		e.parts = traced{e, c.Tracer}
	}
	e.guards = guard.New(guard.Config{Kept: c.KeptAside, Repositories: c.Repositories, PutBack: c.Observer.PutBack, Log: c.Log})
	e.processes = process.New(process.Config{Policies: e.allows, Recorder: c.Recorder, Log: c.Log})
	var err error
	if e.sights, err = sights.New(c.Owner, c.Projects); err != nil {
		return nil, err
	}
	e.leases, err = lease.New(lease.Config{
		Backends: c.Backends, Readiness: c.Readiness,
		Owner: c.Owner, CheckOwner: c.CheckOwner, Homes: c.Homes, Repositories: c.Repositories, Caches: c.Caches,
		Ledger: c.Ledger, Workspaces: c.Workspaces,
		Policies: e.orders, Freezer: c.Freezer, Processes: e.processes,
		Recorder: c.Recorder, Sandboxes: c.Sandboxes, Log: c.Log,
	})
	return e, err
}

// Enforcer judges requests and meets their obligations.
type Enforcer struct {
	config    Config
	parts     parts
	answers   *answers.Remembered
	leases    *lease.Pool
	flights   flights
	underWay  inflight.Count
	waiting   inflight.Count // for humans
	reloads   atomic.Uint64  // of policies that what is live was judged by anew
	patience  atomic.Int64   // of a connection that is asked about, in nanoseconds; 0 is the usual
	processes *process.Table
	tools     toolbox.Toolbox
	refusals  refusals.Refusals
	guards    *guard.Guards
	sights    *sights.Sights

	running context.Context // ends when Close gives up waiting
	stop    context.CancelCauseFunc
	leaving context.Context // ends when sessions are to leave, or the sidecar stops
	leave   context.CancelFunc
	flight  sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

var errShutdown = errors.New("the sidecar is shutting down")

// Execute takes a request to its end. It always answers; news, which may be
// nil, is told the decision and the output on the way, never concurrently.
func (e *Enforcer) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	return e.runGuarded(ctx, req, func(ctx context.Context) answer {
		if err := e.admit(req); err != nil {
			return failure(bailiff.Unavailable, bailiff.CodeRateLimited, err)
		}
		if !e.underWay.Enter(req, inflight.MaxOfSession, 0) {
			return failure(bailiff.Unavailable, bailiff.CodeBusy, inflight.ErrTooMany)
		}
		defer e.underWay.Leave(req)
		return answer{Answer: e.answers.Once(ctx, req, news, func(claimed answers.Own) bailiff.Answer {
			return e.execute(ctx, req, news, nil, claimed).of(req)
		})}
	})
}

// admit keeps out what comes too fast.
func (e *Enforcer) admit(req bailiff.Request) error {
	if e.config.Throttle == nil {
		return nil
	}
	return e.config.Throttle.Admit(req)
}

// runGuarded runs a request that counts among those under way, and ends when the
// sidecar stops or an operator halts it.
func (e *Enforcer) runGuarded(ctx context.Context, req bailiff.Request, run func(context.Context) answer) bailiff.Answer {
	return e.parts.serve(ctx, req, func(ctx context.Context) bailiff.Answer {
		if !e.enter() {
			return failure(bailiff.Unavailable, bailiff.CodeShutdown, errShutdown).of(req)
		}
		defer e.flight.Done()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(e.running, func() { cancel(errShutdown) })()
		remove, in := e.flights.add(req, cancel)
		if !in {
			return failure(bailiff.Unavailable, bailiff.CodeShutdown, errShutdown).of(req)
		}
		defer remove()
		return run(ctx).withHalt(ctx).of(req)
	})
}

// serve is all of a request's way.
func (*Enforcer) serve(ctx context.Context, _ bailiff.Request, run func(context.Context) bailiff.Answer) bailiff.Answer {
	return run(ctx)
}

// EndSession stops and removes a session's sandboxes with their files, and takes its open questions back.
// In one that is the user's, what the session runs in the background is stopped, and its interpreters are ended.
func (e *Enforcer) EndSession(ctx context.Context, caller, session string) (bailiff.Ended, error) {
	key := lease.Key{Caller: caller, Session: session}
	e.tools.Forget(key)
	e.refusals.Forget(caller, session)
	e.config.History.Forget(caller, session)
	running := e.processes.Running(key)
	dropped, unremoved, err := e.leases.EndSession(ctx, caller, session)
	return bailiff.Ended{Sandboxes: dropped, Processes: running, Unremoved: unremoved}, errors.Join(err, e.processes.End(ctx, key),
		e.config.Approvals.Withdraw(ctx, caller, session))
}

// Close lets running requests finish until ctx ends, then interrupts them, and
// removes every sandbox and what else the backends keep for them.
func (e *Enforcer) Close(ctx context.Context) {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	idle := make(chan struct{})
	go func() { e.flight.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
		e.stop(errShutdown)
		<-idle
	}
	e.leases.Close(ctx)
	e.processes.Wait()
}

func (e *Enforcer) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.flight.Add(1)
	}
	return !e.closed
}
