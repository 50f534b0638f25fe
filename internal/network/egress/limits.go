package egress

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bailiff-dev/bailiff"
)

// Limits bound what the connections of sandboxes may take.
type Limits struct {
	// Connections and Total are how many are open at once: of a sandbox, and of all.
	Connections, Total int
	// PerSecond is how many a sandbox may open each second; it may open [burst] times as
	// many at once.
	PerSecond int
	// PerHost is how many requests and tunnels of a sandbox go to one host at once.
	PerHost int
}

// A sandbox may open burst seconds' connections at once. A connection beyond that waits for
// at most startWait, and one to a host that has its fill for at most hostWait.
const (
	burst = 4
	// requestsEach is how many requests a sandbox may send in the time in which it may open a connection.
	requestsEach = 10
	startWait    = 2 * time.Second
	hostWait     = 10 * time.Second
)

// Sentences of refusals by a limit.
const (
	tooManyOpen   = "The sandbox has too many connections open at once."
	tooManyInAll  = "The sandboxes have too many connections open at once."
	tooManyBegun  = "The sandbox opens too many connections a second."
	tooManyAtHost = "The sandbox has too many requests or tunnels to this host at once."
	tooManyAsked  = "The sandbox sends too many requests a second."
)

func tooMany(c bailiff.Connection, message string) *refusal {
	no := refuse(c, ruleTooMany, message, "Use fewer connections, and try again.")
	no.status = http.StatusTooManyRequests
	return no
}

// meter counts the connections that are open. It is safe for concurrent use.
type meter struct {
	mu        sync.Mutex
	open      int
	sandboxes map[string]*share
}

// share is what one sandbox has open.
type share struct {
	open  int
	begun *rate.Limiter
	asked *rate.Limiter // requests on the connections
	hosts map[string]int
	freed chan struct{} // closed and made anew when a host has room again
}

func newMeter() *meter { return &meter{sandboxes: map[string]*share{}} }

// begin counts a connection of a sandbox in, after a while if it opens many. Excess is the
// sentence of its refusal; then it is not counted. End counts it out.
func (m *meter) begin(ctx context.Context, sandbox string, most Limits) (end func(), excess string) {
	wait, excess := m.admit(sandbox, most)
	if excess != "" {
		return func() {}, excess
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return func() { m.end(sandbox) }, ""
}

func (m *meter) admit(sandbox string, most Limits) (wait time.Duration, excess string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shareOfLocked(sandbox, most)
	switch {
	case s.open >= most.Connections:
		return 0, tooManyOpen
	case m.open >= most.Total:
		return 0, tooManyInAll
	}
	turn := s.begun.Reserve()
	if wait = turn.Delay(); wait > startWait {
		turn.Cancel()
		return 0, tooManyBegun
	}
	s.open++
	m.open++
	return wait, ""
}

// shareOfLocked is the share of a sandbox; m.mu is held. Where it makes one, it forgets
// those of which nothing is left to count.
func (m *meter) shareOfLocked(sandbox string, most Limits) *share {
	s := m.sandboxes[sandbox]
	if s == nil {
		for name, other := range m.sandboxes {
			if other.open == 0 && isFull(other.begun) && isFull(other.asked) {
				delete(m.sandboxes, name)
			}
		}
		s = &share{begun: perSecond(most.PerSecond), asked: perSecond(requestsEach * most.PerSecond), hosts: map[string]int{},
			freed: make(chan struct{})}
		m.sandboxes[sandbox] = s
	}
	if s.begun.Limit() != rate.Limit(most.PerSecond) {
		s.begun.SetLimit(rate.Limit(most.PerSecond))
		s.begun.SetBurst(burst * most.PerSecond)
		s.asked.SetLimit(requestsEach * rate.Limit(most.PerSecond))
		s.asked.SetBurst(burst * requestsEach * most.PerSecond)
	}
	return s
}

// isFull says that nothing was taken of late.
func isFull(l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) }

func perSecond(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), burst*n) }

// admitRequest counts a request of a sandbox that has a connection open, and says how long it is to wait.
func (m *meter) admitRequest(sandbox string) (wait time.Duration, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sandboxes[sandbox]
	if s == nil {
		return 0, true // its connection was refused, which its request is told
	}
	turn := s.asked.Reserve()
	if wait = turn.Delay(); wait > startWait {
		turn.Cancel()
		return 0, false
	}
	return wait, true
}

// admitQuery counts a query of a sandbox as a request, and says whether it may have one more now.
func (m *meter) admitQuery(sandbox string, most Limits) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shareOfLocked(sandbox, most).asked.Allow()
}

// pace has a request wait its turn, or refuses it.
func (p *Proxy) pace(ctx context.Context, c bailiff.Connection) *refusal {
	wait, ok := p.meter.admitRequest(c.Sandbox)
	if !ok {
		return p.recordRefusal(ctx, c, tooMany(c, tooManyAsked))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

func (m *meter) end(sandbox string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sandboxes[sandbox].open--
	m.open--
}

// enter waits until a host has room for one more request or tunnel of a sandbox that has a
// connection open, and says whether it has. Leave makes room again.
func (m *meter) enter(ctx context.Context, sandbox, host string, most int) (leave func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, hostWait)
	defer cancel()
	for {
		freed, ok := m.occupy(sandbox, host, most)
		if ok {
			return sync.OnceFunc(func() { m.leave(sandbox, host) }), true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return func() {}, false
		}
	}
}

func (m *meter) occupy(sandbox, host string, most int) (freed <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sandboxes[sandbox]
	if s.hosts[host] >= most {
		return s.freed, false
	}
	s.hosts[host]++
	return nil, true
}

func (m *meter) leave(sandbox, host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sandboxes[sandbox]
	if s.hosts[host]--; s.hosts[host] == 0 {
		delete(s.hosts, host)
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// enter has a request or tunnel wait for its host, or refuses it.
func (p *Proxy) enter(ctx context.Context, c bailiff.Connection) (leave func(), no *refusal) {
	leave, ok := p.meter.enter(ctx, c.Sandbox, c.Host, p.config.Limits.PerHost)
	if !ok {
		return leave, p.recordRefusal(ctx, c, tooMany(c, tooManyAtHost))
	}
	return leave, nil
}

// held is a connection to a server, whose host has room again once it is closed.
type held struct {
	net.Conn
	leave func()
}

// Close makes room.
func (h *held) Close() error {
	defer h.leave()
	return h.Conn.Close()
}

// CloseWrite ends what is said, where the connection below can do so.
func (h *held) CloseWrite() error { return closeWrite(h.Conn) }
