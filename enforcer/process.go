package enforcer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

const (
	// mostRunning is how many background processes a session has at once, unless
	// the policies say otherwise.
	mostRunning = 16
	// mostEnded is how many of its ended ones a session can still look at.
	mostEnded = 32
	// longestCommand is how much of a command a list shows.
	longestCommand = 200
)

// process is a background command. It is an occupant of its sandbox from its start
// to its end, and known to its session until it is forgotten.
type process struct {
	id string
	// request is the one that started it, as it was judged.
	request bailiff.Request
	// decision is its id in the decision log.
	decision string
	// lifted says that an operator's word started it, not the policies.
	lifted  bool
	names   []string // of the variables that it got
	lease   *lease
	job     backends.Process
	started time.Time
	judge   func(ctx context.Context, req bailiff.Request) bailiff.Decision

	typed  *typed
	reader turn // whose turn it is to read
	values map[string]bailiff.Secret
	scroll *scroll      // of polls
	polled atomic.Int64 // how far polls have come, for the ledger

	over chan struct{} // closed when end is set
	mu   sync.Mutex
	// reason is why it is being killed.
	reason string
	end    ledger.End
}

// newProcessID is short enough to be typed, and nobody's guess.
func newProcessID() string { return "p" + strings.ToLower(rand.Text()[:10]) }

func (p *process) name() string    { return p.id }
func (p *process) session() string { return p.request.Session.ID }
func (p *process) private() bool   { return len(p.names) > 0 }

func (p *process) running() bool {
	select {
	case <-p.job.Done():
		return false
	case <-p.lease.gone:
		return false
	default:
		return true
	}
}

// allowed says whether the policies let it start now, in such a sandbox and with
// the variables that it got.
func (p *process) allowed(ctx context.Context) bool {
	d := p.judge(ctx, p.request)
	if p.lifted {
		return !fromTheFloor(d)
	}
	return d.Outcome != bailiff.Deny && p.mismatch(p.request, d) == ""
}

// kill ends it with everything it started; the reason is told to whoever asks.
func (p *process) kill(ctx context.Context, reason string) error {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = bailiff.Sentence(reason)
	}
	p.mu.Unlock()
	return p.job.Kill(ctx)
}

// finish notes how it ended.
func (p *process) finish(ctx context.Context) ledger.End {
	removed := p.lease.leases.whyGone(p.lease)
	last, _ := p.job.Log(ctx, 0, 0) // of a lost sandbox nothing is known
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = p.outcome(removed)
	p.end.At, p.end.Written = time.Now(), last.Written
	close(p.over)
	return p.end
}

// outcome words its end. A sandbox that was removed took it along, which is no
// fault of its own.
func (p *process) outcome(removed string) ledger.End {
	exit, ended := p.exit()
	interrupted := ledger.End{Status: bailiff.Interrupted, ExitCode: bailiff.ExitInterrupted}
	switch {
	case ended && exit.TimedOut:
		return ledger.End{Status: bailiff.TimedOut, ExitCode: bailiff.ExitTimeout, Message: "Stopped at its time limit, with everything it had started."}
	case ended && !exit.Interrupted && !exit.Lost:
		return ledger.End{Status: bailiff.Completed, ExitCode: exit.Code}
	case p.reason != "":
		interrupted.Message = p.reason
	case removed != "":
		interrupted.Message = removed
	case ended && exit.Interrupted:
		interrupted.Message = "It was stopped."
	default:
		return ledger.End{Status: bailiff.Failed, ExitCode: bailiff.ExitFailed, Message: "It was lost with its sandbox, or with the process that looked after it."}
	}
	return interrupted
}

func (p *process) exit() (e backends.Exit, ended bool) {
	select {
	case <-p.job.Done():
		return p.job.Exit(), true
	default:
		return e, false
	}
}

// state is what its session is told of it.
func (p *process) state(ctx context.Context) bailiff.ProcessState {
	s := bailiff.ProcessState{ID: p.id, Command: bailiff.Beginning(p.request.Args.Command, longestCommand), Started: p.started}
	if end, ended := p.ended(); ended {
		s.Ended, s.Status, s.ExitCode, s.Written = end.At, end.Status, end.ExitCode, end.Written
	} else if now, err := p.job.Log(ctx, 0, 0); err == nil {
		s.Written = now.Written
	}
	return s
}

func (p *process) ended() (ledger.End, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end, !p.end.At.IsZero()
}

// processes are the background processes of all sessions.
type processes struct {
	mu sync.Mutex
	// known are those of a session, the oldest first; starting counts those that
	// are about to be.
	known    map[sessionKey][]*process
	starting map[sessionKey]int
	watchers sync.WaitGroup
}

type sessionKey struct{ caller, session string }

func keyOf(req bailiff.Request) sessionKey { return sessionKey{req.Caller, req.Session.ID} }

var errProcesses = errors.New("too many background processes")

// room is an error if a request may start no background process now.
func (ps *processes) room(req bailiff.Request, limits bailiff.Limits) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.roomFor(keyOf(req), limits)
}

func (ps *processes) roomFor(key sessionKey, limits bailiff.Limits) error {
	most, n := limits.Processes, ps.starting[key]
	if most == 0 {
		most = mostRunning
	}
	for _, p := range ps.known[key] {
		if p.running() {
			n++
		}
	}
	if n < most {
		return nil
	}
	return fmt.Errorf("%w: the session has %d, as many as limits.processes of the policies allows; kill one with the process tool, or wait until one has ended", errProcesses, n)
}

// reserve keeps room for a background process until it is known, or done is called.
func (ps *processes) reserve(req bailiff.Request, limits bailiff.Limits) (done func(), err error) {
	key := keyOf(req)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if err := ps.roomFor(key, limits); err != nil {
		return nil, err
	}
	if ps.starting == nil {
		ps.starting = map[sessionKey]int{}
	}
	ps.starting[key]++
	return func() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if ps.starting[key]--; ps.starting[key] == 0 {
			delete(ps.starting, key)
		}
	}, nil
}

// add makes a process known to its session.
func (ps *processes) add(p *process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	key := keyOf(p.request)
	ps.keep(key, append(ps.known[key], p))
}

// keep replaces what is known of a session.
func (ps *processes) keep(key sessionKey, all []*process) {
	if ps.known == nil {
		ps.known = map[sessionKey][]*process{}
	}
	if ps.known[key] = all; len(all) == 0 {
		delete(ps.known, key)
	}
}

// find returns the session's process that a request names, or nil.
func (ps *processes) find(req bailiff.Request) *process {
	for _, p := range ps.list(req) {
		if p.id == req.Args.ProcessID {
			return p
		}
	}
	return nil
}

// list returns the processes of a request's session, the oldest first.
func (ps *processes) list(req bailiff.Request) []*process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Clone(ps.known[keyOf(req)])
}

// drop forgets processes.
func (ps *processes) drop(match func(*process) bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for key, all := range ps.known {
		ps.keep(key, slices.DeleteFunc(all, match))
	}
}

// surplus takes the oldest ended processes of a session out that are too many.
func (ps *processes) surplus(key sessionKey) (old []*process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	n := -mostEnded
	for _, p := range ps.known[key] {
		if _, ended := p.ended(); ended {
			n++
		}
	}
	ps.keep(key, slices.DeleteFunc(ps.known[key], func(p *process) bool {
		_, ended := p.ended()
		surplus := ended && len(old) < n
		if surplus {
			old = append(old, p)
		}
		return surplus
	}))
	return old
}

// end kills what a session runs in a sandbox that stays, and forgets it.
func (ps *processes) end(ctx context.Context, key sessionKey) error {
	ps.mu.Lock()
	all := ps.known[key]
	ps.keep(key, nil)
	ps.mu.Unlock()
	var faults []error
	for _, p := range all {
		err := p.kill(ctx, "Its session was ended.")
		if err == nil {
			err = p.job.Forget(ctx)
		}
		if p.lease.alive() {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
