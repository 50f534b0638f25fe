package runner

import (
	"io"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Grace is how long a runner may be late.
const Grace = grace

// Joined are both ends of a connection whose frames travel over two streams.
func Joined(here, there io.ReadWriteCloser) (one, other backends.OutletConn) {
	ends := [2]*conn{}
	for i, stream := range []io.ReadWriteCloser{here, there} {
		c := &Client{stream: stream, out: wire.NewWriter(stream), calls: map[uint32]*call{}, done: make(chan struct{})}
		o := &outlet{client: c, most: 1, ready: true, conns: map[uint32]*conn{}, left: wire.ConnsWindow,
			serve: func(c backends.OutletConn) { c.Close() }}
		ends[i] = newConn(o, 1, wire.Arrival{})
		o.conns[1] = ends[i]
		c.outlet.Store(o)
		go c.listen(wire.NewReader(stream))
	}
	return ends[0], ends[1]
}
