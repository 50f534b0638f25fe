package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

const (
	// mostRunning is how many background processes a session has at once, unless
	// the policies say otherwise.
	mostRunning = 16
	// mostEnded is how many of its ended ones a session can still look at.
	mostEnded = 32
)

// processes are the background processes of all sessions.
type processes struct {
	mu sync.Mutex
	// known are those of a session, the oldest first; starting counts those that
	// are about to be.
	known    map[sessionKey][]*process
	starting map[sessionKey]int
	// gone are those whose sandbox is gone, the latest last.
	gone     map[sessionKey][]*departed
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
	most, n := limits.Processes, ps.starting[key]+count(ps.known[key])
	if most == 0 {
		most = mostRunning
	}
	if n < most {
		return nil
	}
	return fmt.Errorf("%w: the session has %d, as many as limits.processes of the policies allows; kill one with the process tool, or wait until one has ended", errProcesses, n)
}

// running counts the background processes of a session that run.
func (ps *processes) running(key sessionKey) int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return count(ps.known[key])
}

func count(all []*process) (running int) {
	for _, p := range all {
		if p.running() {
			running++
		}
	}
	return running
}

// reservation is room that is kept for a background process which is being started.
type reservation struct {
	processes *processes
	key       sessionKey
	over      bool
}

// reserve keeps room until the process is known or the room is given up.
func (ps *processes) reserve(req bailiff.Request, limits bailiff.Limits) (*reservation, error) {
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
	return &reservation{processes: ps, key: key}, nil
}

// fill makes a process known in the room that was kept for it, in one step: counted
// twice, it would keep another one out.
func (r *reservation) fill(p *process) {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	r.end()
	r.processes.know(p)
}

// giveUp leaves the room to others, unless it is filled.
func (r *reservation) giveUp() {
	r.processes.mu.Lock()
	defer r.processes.mu.Unlock()
	r.end()
}

func (r *reservation) end() {
	if r.over {
		return
	}
	r.over = true
	if starting := r.processes.starting; starting[r.key] > 1 {
		starting[r.key]--
	} else {
		delete(starting, r.key)
	}
}

// add makes a process known to its session.
func (ps *processes) add(p *process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.know(p)
}

func (ps *processes) know(p *process) {
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

// find returns the process that a request names, if it is its sender's, or nil.
func (ps *processes) find(req bailiff.Request) *process {
	for _, p := range ps.list(req) {
		if p.id == req.Args.ProcessID {
			return p
		}
	}
	return nil
}

// list returns the processes of a request's session and user, the oldest first:
// of those who share a session each may have a sandbox of their own.
func (ps *processes) list(req bailiff.Request) []*process {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(ps.known[keyOf(req)]), func(p *process) bool { return !p.belongs(req.Session) })
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
	delete(ps.gone, key)
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
