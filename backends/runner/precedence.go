package runner

import (
	"sync"
	"time"
)

// precedenceTime is how long a call goes before the bytes of an outlet: longer than a short command takes.
const precedenceTime = 10 * time.Millisecond

// precedence has the bytes of connections wait while calls begin. What moves them (programs in the sandbox, and both
// ends of its stream) would take the processors that a command waits for. No piece waits longer than precedenceTime,
// so that calls which follow one another hold up no connection for good.
type precedence struct {
	mu    sync.Mutex
	calls int           // that have precedence
	over  chan struct{} // closed once no call has precedence any more
}

// begin gives a call precedence until end is called, and no longer than precedenceTime.
func (p *precedence) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls++; p.calls == 1 {
		p.over = make(chan struct{})
	}
	once := sync.OnceFunc(p.end)
	timer := time.AfterFunc(precedenceTime, once)
	return func() {
		timer.Stop()
		once()
	}
}

func (p *precedence) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 {
		close(p.over)
	}
}

// wait lets calls go first.
func (p *precedence) wait() {
	p.mu.Lock()
	over, calls := p.over, p.calls
	p.mu.Unlock()
	if calls == 0 {
		return
	}
	timer := time.NewTimer(precedenceTime)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	}
}
