package enforcer

import (
	"context"
	"errors"
	"time"
)

// maxFailed bounds how many failures are remembered to be told.
const maxFailed = 10_000

// expire ends a lease that nobody has used since its clock was started.
func (ls *leases) expire(l *lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.users == 0 && time.Since(l.used) >= l.idle {
		ls.retire(l, reasonIdle)
	}
}

func replaceReason(l *lease) string {
	if l.alive() {
		return reasonExpired
	}
	return reasonFailed
}

// retire takes a lease out of use; it is closed when its last user leaves.
func (ls *leases) retire(l *lease, reason string) {
	if l.retired == "" {
		l.retired = reason
		ls.mourn(l)
	}
	if reason == reasonFailed && !l.alone && (l.id() != "" || l.heir) {
		if len(ls.failed) >= maxFailed { // of sessions that never came back
			clear(ls.failed)
		}
		ls.failed[l.slot] = true
	}
	if ls.live[l.slot] == l {
		delete(ls.live, l.slot)
	}
	if l.users == 0 {
		ls.remove(l)
	}
}

// mourn tells whom it concerns that a sandbox failed.
func (ls *leases) mourn(l *lease) {
	if l.retired != reasonFailed || l.id() == "" {
		return
	}
	ls.log.Warn("a sandbox failed; its session's next request gets another one", "backend", l.backend, "sandbox", l.id(), "caller", l.caller, "session", l.session)
	l.bereave(reasonFailed)
}

// remove closes a lease's sandbox in the background, once.
func (ls *leases) remove(l *lease) {
	if l.removed {
		return
	}
	l.removed = true
	if ls.live[l.slot] == l {
		delete(ls.live, l.slot)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.ageing.Stop()
	l.bereave(l.retired)
	for session, at := range ls.workdirs {
		if at.lease == l && !at.stays() {
			delete(ls.workdirs, session)
		}
	}
	go l.close(l.retired)
}

func (l *lease) close(reason string) {
	defer l.leases.forget(l)
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	<-l.ready
	if l.err != nil {
		return
	}
	l.leases.strike(l) // first: what is to go must not be adopted
	err := l.sandbox.Close(ctx)
	err = errors.Join(err, l.file(ctx, reason))
	l.leases.reaped(l, reason, err)
}

func (ls *leases) forget(l *lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.all, l)
	close(l.gone)
}
