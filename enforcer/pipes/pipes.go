// Package pipes gives connections within the sidecar, at whose other ends something serves.
//
// Promised here: no connection is given once they have ended, and the end returns when all of them
// have been served.
package pipes

import (
	"context"
	"net"
	"sync"
)

// Pipes are such connections. They are safe for concurrent use.
type Pipes struct {
	ctx   context.Context //nolint:containedctx // in which the connections are served
	serve func(ctx context.Context, conn net.Conn)

	mu      sync.Mutex
	serving sync.WaitGroup
}

// New gives connections until ctx ends. Serve serves one to its end, at the latest to that of ctx.
func New(ctx context.Context, serve func(ctx context.Context, conn net.Conn)) *Pipes {
	return &Pipes{ctx: ctx, serve: serve}
}

// Dial gives one.
func (p *Pipes) Dial() (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return nil, net.ErrClosed
	}
	near, far := net.Pipe()
	p.serving.Go(func() { p.serve(p.ctx, far) })
	return near, nil
}

// Wait returns when the last one was served, once ctx has ended.
func (p *Pipes) Wait() {
	<-p.ctx.Done()
	p.mu.Lock() // no other begins after it
	defer p.mu.Unlock()
	p.serving.Wait()
}
