package process

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/output"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

// longestCommand is how much of a command a list shows.
const longestCommand = 200

// Process is a background command. It lives in its sandbox from its start to its end,
// and is known to its session until it is forgotten.
type Process struct {
	id string
	// request is the one that started it, as it was judged.
	request bailiff.Request
	// decision is its id in the decision log.
	decision string
	// lifted says that an operator's word started it, not the policies.
	lifted  bool
	names   []string // of the variables that it got
	lease   *lease.Lease
	job     backends.Process
	started time.Time
	judge   Policies

	typed  *typed
	reader turn.Turn // whose turn it is to read
	values map[string]bailiff.Secret
	log    *output.Log  // of polls
	polled atomic.Int64 // how far polls have come, for the ledger
	way    Way          // nil where an earlier run of this sidecar had started it

	over chan struct{} // closed when end is set
	mu   sync.Mutex
	// reason is why it is being killed.
	reason string
	end    ledger.End
	// lost says that it ended since its sandbox did.
	lost bool
	// told is set once its session knows that it was lost.
	told atomic.Bool
}

// newID is short enough to be typed, and cannot be guessed.
func newID() string { return "p" + strings.ToLower(rand.Text()[:10]) }

// ID is what its session calls it by.
func (p *Process) ID() string { return p.id }

// Lease is where it lives.
func (p *Process) Lease() *lease.Lease { return p.lease }

// Identity implements [lease.Resident].
func (p *Process) Identity() (name string, of bailiff.Session, private bool) {
	return p.id, p.request.Session, p.private()
}

func (p *Process) private() bool { return len(p.names) > 0 }

// muted says that its output could not be redacted, since the values of its variables
// went with an earlier run of this sidecar.
func (p *Process) muted() bool { return p.private() && p.values == nil }

// Running is false once all that is left of it is its log.
func (p *Process) Running() bool {
	select {
	case <-p.job.Done():
		return false
	case <-p.lease.Done():
		return false
	default:
		return true
	}
}

// MayStart says whether the policies let it start now, in such a sandbox and with
// the variables that it got.
func (p *Process) MayStart(ctx context.Context) bool {
	d, allowed := p.judge(ctx, p.request, p.lifted)
	return allowed && (p.lifted || p.mismatch(p.request, d) == "")
}

// Kill ends it with everything it started; the reason is told to the session.
func (p *Process) Kill(ctx context.Context, reason string) error {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = bailiff.Sentence(reason)
	}
	p.mu.Unlock()
	return p.job.Kill(ctx)
}

// finish notes how it ended.
func (p *Process) finish(ctx context.Context) ledger.End {
	removed := p.lease.WhyGone()
	last, _ := p.job.Log(ctx, 0, 0) // of a lost sandbox nothing is known
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = p.outcome(removed)
	p.lost = p.end.Status == bailiff.Failed || removed != "" && p.end.Message == removed
	p.end.At, p.end.Written = time.Now(), last.Written
	close(p.over)
	return p.end
}

// outcome words its end. A sandbox that was removed took it along, which is no
// fault of its own.
func (p *Process) outcome(removed string) ledger.End {
	exit, ended := p.exit()
	interrupted := ledger.End{Status: bailiff.Interrupted, ExitCode: bailiff.ExitInterrupted}
	switch {
	case ended && exit.TimedOut:
		return ledger.End{Status: bailiff.TimedOut, ExitCode: bailiff.ExitTimeout,
			Message: "Stopped at its time limit, with everything it had started."}
	case ended && exit.Excess.Stopped:
		interrupted.Message = exit.Excess.Sentence()
	case ended && !exit.Interrupted && !exit.Lost:
		return ledger.End{Status: bailiff.Completed, ExitCode: exit.Code}
	case p.reason != "":
		interrupted.Message = p.reason
	case removed != "" && removed != lease.SandboxFailed:
		interrupted.Message = removed
	case ended && exit.Interrupted:
		interrupted.Message = "It was stopped."
	default:
		return ledger.End{Status: bailiff.Failed, ExitCode: bailiff.ExitFailed,
			Message: "It was lost with its sandbox, or with the process that looked after it."}
	}
	return interrupted
}

func (p *Process) exit() (e backends.Exit, ended bool) {
	select {
	case <-p.job.Done():
		return p.job.Exit(), true
	default:
		return e, false
	}
}

// State is what its session is told of it.
func (p *Process) State(ctx context.Context) bailiff.ProcessState {
	s := bailiff.ProcessState{ID: p.id, Command: bailiff.Beginning(p.request.Args.Command, longestCommand), Started: p.started}
	if end, ended := p.ended(); ended {
		s.Ended, s.Status, s.ExitCode, s.Written = end.At, end.Status, end.ExitCode, end.Written
	} else if now, err := p.job.Log(ctx, 0, 0); err == nil {
		s.Written = now.Written
	}
	return s
}

func (p *Process) ended() (ledger.End, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end, !p.end.At.IsZero()
}
