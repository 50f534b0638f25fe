// Package process holds the background processes of sessions.
//
// [Table.Start] starts a command in a sandbox that a request holds. It lives on as a
// resident of that sandbox; its session reads what it prints, writes to it and ends it by
// [Process.Attend]. Its end is recorded.
//
// Promised here:
//   - a process is seen by its session and user alone;
//   - input reaches it only as what was judged to continue all that was typed before;
//   - what it prints is redacted, and no byte is told twice or left out in silence;
//   - a session is told, once, why a process went with its sandbox.
//
// Not here: whether a request may start or reach a process (enforcer), which sandbox it
// lives in (enforcer/lease).
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

const (
	// mostRunning is how many background processes a session has at once, unless
	// the policies say otherwise.
	mostRunning = 16
	// mostEnded is how many of its ended ones a session can still look at.
	mostEnded = 32
)

// Policies judge a process as if it started now. Lifted says that an operator's word
// started it: then only what no policy can lift keeps it from being allowed.
type Policies func(ctx context.Context, req bailiff.Request, lifted bool) (d bailiff.Decision, allowed bool)

// Recorder notes the ends of processes in the decision log.
type Recorder interface{ Note(e api.Event) }

// Config is what a Table needs; every field is required.
type Config struct {
	Policies Policies
	Recorder Recorder
	Log      *slog.Logger
}

// New returns an empty Table.
func New(c Config) *Table { return &Table{config: c} }

// Table holds the background processes of all sessions.
type Table struct {
	config Config

	mu sync.Mutex
	// known are those of a session, the oldest first; starting counts those that
	// are about to be.
	known    map[lease.Key][]*Process
	starting map[lease.Key]int
	// gone are those whose sandbox is gone, the latest last.
	gone     map[lease.Key][]*lostProcess
	watchers sync.WaitGroup
}

// ErrTooMany keeps out a request that would start one process too many.
var ErrTooMany = errors.New("too many background processes")

// Room is an error if a request may start no background process now.
func (t *Table) Room(req bailiff.Request, limits bailiff.Limits) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.roomForLocked(lease.KeyOf(req), limits)
}

func (t *Table) roomForLocked(key lease.Key, limits bailiff.Limits) error {
	most, n := limits.Processes, t.starting[key]+count(t.known[key])
	if most == 0 {
		most = mostRunning
	}
	if n < most {
		return nil
	}
	return fmt.Errorf("%w: the session has %d, as many as limits.processes of the policies allows; kill one with the process tool, or "+
		"wait until one has ended", ErrTooMany, n)
}

// Running counts the background processes of a session that run.
func (t *Table) Running(key lease.Key) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return count(t.known[key])
}

func count(all []*Process) (running int) {
	for _, p := range all {
		if p.Running() {
			running++
		}
	}
	return running
}

// reservation is room that is kept for a background process which is being started.
type reservation struct {
	table *Table
	key   lease.Key
	over  bool
}

// reserve keeps room until the process is known or the room is given up.
func (t *Table) reserve(req bailiff.Request, limits bailiff.Limits) (*reservation, error) {
	key := lease.KeyOf(req)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.roomForLocked(key, limits); err != nil {
		return nil, err
	}
	if t.starting == nil {
		t.starting = map[lease.Key]int{}
	}
	t.starting[key]++
	return &reservation{table: t, key: key}, nil
}

// fill makes a process known in the room that was kept for it, in one step: counted
// twice, it would keep another one out.
func (r *reservation) fill(p *Process) {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	r.endLocked()
	r.table.knowLocked(p)
}

// giveUp leaves the room to others, unless it is filled.
func (r *reservation) giveUp() {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	r.endLocked()
}

func (r *reservation) endLocked() {
	if r.over {
		return
	}
	r.over = true
	if starting := r.table.starting; starting[r.key] > 1 {
		starting[r.key]--
	} else {
		delete(starting, r.key)
	}
}

// add makes a process known to its session.
func (t *Table) add(p *Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.knowLocked(p)
}

func (t *Table) knowLocked(p *Process) {
	key := lease.KeyOf(p.request)
	t.keepLocked(key, append(t.known[key], p))
}

// keepLocked replaces what is known of a session.
func (t *Table) keepLocked(key lease.Key, all []*Process) {
	if t.known == nil {
		t.known = map[lease.Key][]*Process{}
	}
	if t.known[key] = all; len(all) == 0 {
		delete(t.known, key)
	}
}

// Find returns the process that a request names, if it is its sender's, or nil.
func (t *Table) Find(req bailiff.Request) *Process {
	for _, p := range t.list(req) {
		if p.id == req.Args.ProcessID {
			return p
		}
	}
	return nil
}

// list returns the processes of a request's session and user, the oldest first:
// of those who share a session each may have a sandbox of their own.
func (t *Table) list(req bailiff.Request) []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.known[lease.KeyOf(req)]),
		func(p *Process) bool { return !lease.SameUser(p.request.Session, req.Session) })
}

// drop forgets processes.
func (t *Table) drop(match func(*Process) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, all := range t.known {
		t.keepLocked(key, slices.DeleteFunc(all, match))
	}
}

// surplus takes the oldest ended processes of a session out that are too many.
func (t *Table) surplus(key lease.Key) (old []*Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := -mostEnded
	for _, p := range t.known[key] {
		if _, ended := p.ended(); ended {
			n++
		}
	}
	t.keepLocked(key, slices.DeleteFunc(t.known[key], func(p *Process) bool {
		_, ended := p.ended()
		surplus := ended && len(old) < n
		if surplus {
			old = append(old, p)
		}
		return surplus
	}))
	return old
}

// End kills what a session runs in a sandbox that stays, and forgets it.
func (t *Table) End(ctx context.Context, key lease.Key) error {
	t.mu.Lock()
	all := t.known[key]
	t.keepLocked(key, nil)
	delete(t.gone, key)
	t.mu.Unlock()
	var faults []error
	for _, p := range all {
		err := p.Kill(ctx, "Its session was ended.")
		if err == nil {
			err = p.job.Forget(ctx)
		}
		if p.lease.Alive() {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Wait returns when the ends of all processes are noted, after their sandboxes are gone.
func (t *Table) Wait() { t.watchers.Wait() }
