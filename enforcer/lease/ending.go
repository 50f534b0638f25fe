package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// maxFailed bounds how many failures are remembered to be told.
const maxFailed = 10_000

// expire ends a lease that no request has used since its clock was started.
func (p *Pool) expire(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users == 0 && time.Since(l.used) >= l.idle {
		p.retireLocked(l, reasonIdle)
	}
}

func replaceReason(l *Lease) string {
	if l.Alive() {
		return reasonExpired
	}
	return reasonFailed
}

// retireLocked takes a lease out of use; it is closed when its last user leaves.
func (p *Pool) retireLocked(l *Lease, reason string) {
	if l.retired == "" {
		l.retired = reason
		p.recordFailedLocked(l)
	}
	if reason == reasonFailed && !l.alone && (l.ID() != "" || l.replacement) {
		if len(p.failed) >= maxFailed { // of sessions that never came back
			clear(p.failed)
		}
		p.failed[l.slot] = true
	}
	if p.live[l.slot] == l {
		delete(p.live, l.slot)
	}
	if l.users == 0 {
		p.removeLocked(l)
	}
}

// recordFailedLocked tells operators that a sandbox failed, and remembers whose
// interpreters went with it.
func (p *Pool) recordFailedLocked(l *Lease) {
	if l.retired != reasonFailed || l.ID() == "" {
		return
	}
	p.config.Log.Warn("a sandbox failed; its session's next request gets another one", "backend", l.backend, "sandbox", l.ID(),
		"caller", l.caller, "session", l.session)
	l.recordLostLocked(reasonFailed)
}

// removeLocked closes a lease's sandbox in the background, once.
func (p *Pool) removeLocked(l *Lease) {
	if l.removed {
		return
	}
	l.removed = true
	if p.live[l.slot] == l {
		delete(p.live, l.slot)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.ageing.Stop()
	l.recordLostLocked(l.retired)
	for session, at := range p.workdirs {
		if at.lease == l && !at.staysLocked() {
			delete(p.workdirs, session)
		}
	}
	go l.close(l.retired)
}

func (l *Lease) close(reason string) {
	defer l.pool.forget(l)
	ctx, cancel := context.WithTimeout(context.Background(), supply.OpenTimeout)
	defer cancel()
	<-l.ready
	if l.err != nil {
		return
	}
	l.pool.delete(l) // first: what is to go must not be adopted
	err := l.sandbox.Close(ctx)
	if err != nil && !errors.Is(err, backends.ErrSuperseded) {
		l.unclosed = fmt.Errorf("sandbox %s of %s: %w", l.ID(), l.backend, err)
	}
	switch {
	case errors.Is(err, backends.ErrSuperseded):
		l.pool.config.Log.Warn("a sandbox is left to a later run of this sidecar", "backend", l.backend, "sandbox", l.ID(), "error", err)
		l.pool.removed(l, reasonSuperseded, l.settleFiles(ctx, reasonSuperseded, nil))
	case errors.Is(err, backends.ErrOwnerUnknown):
		l.pool.config.Log.Warn("a sandbox is left to a sweep, once it is known whose it is", "backend", l.backend, "sandbox", l.ID(),
			"error", err)
		l.pool.removed(l, reasonOwnerUnknown, l.settleFiles(ctx, reason, err))
	default:
		l.pool.removed(l, reason, errors.Join(err, l.settleFiles(ctx, reason, nil)))
	}
}

func (p *Pool) forget(l *Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, l)
	close(l.gone)
}
