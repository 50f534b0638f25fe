package client

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// hearing is how long a request that is stopped may take to say how it ended.
const hearing = 5 * time.Second

// line is the connection that a request is on. When the request is stopped, no more is
// said on it, which the sidecar takes as its caller having gone; what it says then is still
// heard.
type line struct {
	give   context.CancelFunc // the request up
	mu     sync.Mutex
	conn   net.Conn
	silent bool
	over   bool
}

// stoppable has a request on a context stopped by the end of a channel, until that is
// released.
func stoppable(ctx context.Context, stop <-chan struct{}) (context.Context, func()) {
	ctx, give := context.WithCancel(ctx)
	if stop == nil {
		return ctx, give
	}
	l := &line{give: give}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { l.take(info.Conn) }})
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-stop:
			l.fallSilent()
		}
	}()
	return ctx, func() {
		close(over)
		give()
		l.release()
	}
}

func (l *line) take(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
}

// fallSilent gives a request up that is on no connection yet. One that is over has none any
// more: another request may be on it.
func (l *line) fallSilent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	half, can := l.conn.(interface{ CloseWrite() error })
	if !can || half.CloseWrite() != nil {
		l.give()
		return
	}
	l.silent = true
	time.AfterFunc(hearing, l.give)
}

// release closes a connection that is of no use to another request.
func (l *line) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over = true; l.silent {
		_ = l.conn.Close()
	}
}
