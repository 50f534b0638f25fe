package daytona

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// proxy stands between a backend and the stand-in for Daytona, as a network does.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	open  *sync.Cond
	held  bool
	piece int
	pause time.Duration
}

// newProxy has the cloud be reached through it from now on.
func newProxy(t *testing.T, c *cloud) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	backendtest.Must(t, err)
	p := &proxy{listener: listener, to: c.server.Listener.Addr().String(), piece: 32 << 10}
	p.open = sync.NewCond(&p.mu)
	c.address = "http://" + listener.Addr().String()
	t.Cleanup(func() {
		listener.Close()
		p.release()
	})
	go p.serve()
	return p
}

func (p *proxy) serve() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.to)
		if err != nil {
			from.Close()
			continue
		}
		go p.pass(from, to)
		go p.pass(to, from)
	}
}

func (p *proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		piece, pause := p.gate()
		n, err := from.Read(buffer[:piece])
		p.gate()
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
		time.Sleep(pause) // a network of that width
	}
}

// gate waits while everything is held.
func (p *proxy) gate() (piece int, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held {
		p.open.Wait()
	}
	return p.piece, p.pause
}

func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
}

func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
	p.open.Broadcast()
}

// slow lets so many bytes pass in each so much time.
func (p *proxy) slow(piece int, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.piece, p.pause = piece, pause
}
