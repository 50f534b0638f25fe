package runner

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// conn is a connection of a program in the sandbox. The outlet's lock guards it.
type conn struct {
	outlet  *outlet
	number  uint32
	arrival wire.Arrival
	// changed is told whenever a Read or Write that waits may go on.
	changed           sync.Cond
	readBy, writtenBy deadline

	// came is what was not read, and size what that takes of the window.
	came   [][]byte
	size   int
	window wire.Account
	// heard says that the program sends no more, closed that the sidecar reads no more.
	heard, closed bool
	// left is what may be sent of room, writing says that a call does, told that no more will be.
	left, room    int
	writing, told bool
	// fault is why there is no connection any more.
	fault error
}

var _ backends.OutletConn = (*conn)(nil)

func newConn(o *outlet, number uint32, arrival wire.Arrival) *conn {
	c := &conn{outlet: o, number: number, arrival: arrival, left: wire.ConnWindow, room: wire.ConnWindow,
		window: wire.NewAccount(&o.width)}
	c.changed.L = &o.mu
	return c
}

// hear takes what the runner says of it.
func (c *conn) hear(f wire.Frame) error {
	defer c.changed.Broadcast()
	switch f.Kind {
	case wire.Carry:
		return c.receive(f)
	case wire.Allow:
		n, err := wire.Decode[wire.Number](f.Payload)
		if err != nil || n < 0 || int(n) > c.room-c.left {
			return errTooMuch
		}
		c.left += int(n)
	case wire.Widen:
		if c.room > wire.ConnWindow {
			return errTooMuch
		}
		c.room, c.left = wire.WideWindow, c.left+wire.Widening
	case wire.Cut:
		c.end(fmt.Errorf("the connection was reset: %s", bailiff.Foreign(string(f.Payload))))
	}
	return nil
}

func (c *conn) receive(f wire.Frame) error {
	if c.size += cost(f); c.heard || c.size > c.window.Size() {
		return errTooMuch
	}
	if !c.closed && len(f.Payload) > 0 {
		c.came = append(c.came, bytes.Clone(f.Payload))
	} else if !c.closed {
		c.taken(wire.Overhead)
	}
	if c.heard = f.Last; c.heard {
		c.forgetIfOver()
	} else if c.closed && c.size > wire.ConnWindow/2 { // it goes on sending, and is not read
		c.cut("the sidecar does not listen any more", net.ErrClosed)
	}
	return nil
}

// taken notes what of the window is free again.
func (c *conn) taken(n int) {
	c.size -= n
	if c.window.Pass(n); c.heard {
		return
	}
	if c.window.Widen() {
		c.outlet.widen(c.number)
	}
	if due := c.window.TakeDue(); due > 0 {
		c.outlet.allow(c.number, due)
	}
}

// Read waits for what the program says.
func (c *conn) Read(p []byte) (int, error) {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.fault != nil:
			return 0, c.fault
		case c.readBy.isPast():
			return 0, os.ErrDeadlineExceeded
		case len(c.came) > 0:
			n := copy(p, c.came[0])
			c.advance(n)
			return n, nil
		case c.heard:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		c.changed.Wait()
	}
}

// advance drops what was read.
func (c *conn) advance(n int) {
	if n < len(c.came[0]) {
		c.came[0] = c.came[0][n:]
		c.taken(n)
		return
	}
	c.came[0] = nil
	c.came = c.came[1:]
	c.taken(n + wire.Overhead)
}

// Write says something to the program, and waits while it does not read.
func (c *conn) Write(p []byte) (written int, err error) {
	if err := c.beginWriting(); err != nil {
		return 0, err
	}
	defer c.endWriting()
	for len(p) > 0 {
		c.outlet.client.precedence.wait()
		n, err := c.share(len(p))
		if err != nil {
			return written, err
		}
		if err := c.carry(p[:n], false); err != nil {
			return written, err
		}
		written, p = written+n, p[n:]
	}
	return written, nil
}

// beginWriting waits until no other call writes.
func (c *conn) beginWriting() error {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	for {
		if err := c.unwritable(); err != nil {
			return err
		}
		if !c.writing {
			c.writing = true
			return nil
		}
		c.changed.Wait()
	}
}

func (c *conn) endWriting() {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	c.writing = false
	c.changed.Broadcast()
}

func (c *conn) unwritable() error {
	switch {
	case c.closed, c.told:
		return net.ErrClosed
	case c.fault != nil:
		return c.fault
	case c.writtenBy.isPast():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// share waits until something may be sent, and takes a frame's worth of at most so much.
func (c *conn) share(most int) (int, error) {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	for {
		if err := c.unwritable(); err != nil {
			return 0, err
		}
		if left := min(c.left, c.outlet.left) - wire.Overhead; left > 0 {
			n := min(most, left, wire.MaxPayload)
			c.left -= n + wire.Overhead
			c.outlet.left -= n + wire.Overhead
			return n, nil
		}
		c.changed.Wait()
	}
}

func (c *conn) carry(p []byte, last bool) error {
	err := c.outlet.client.out.SendBulk(wire.Frame{Kind: wire.Carry, Stream: c.number, Payload: p, Last: last})
	if err != nil {
		err = fmt.Errorf("speaking to the runner: %w", err)
		c.outlet.client.fail(err)
	}
	return err
}

// CloseWrite tells the program of the end of what is said, once a Write that goes on
// is done.
func (c *conn) CloseWrite() error {
	if err := c.beginWriting(); err != nil {
		return err
	}
	defer c.endWriting()
	c.outlet.mu.Lock()
	c.told = true
	c.outlet.left -= wire.Overhead // it comes back as every frame's
	c.forgetIfOver()
	c.outlet.mu.Unlock()
	return c.carry(nil, true)
}

// Close ends both directions. What was written still arrives.
func (c *conn) Close() error {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.came = nil
	c.window.Close()
	c.taken(c.size) // so that a program that goes on sending gets as far as to be told
	c.readBy.set(time.Time{}, nil)
	c.writtenBy.set(time.Time{}, nil)
	c.changed.Broadcast()
	if !c.told && c.fault == nil {
		c.told = true
		c.outlet.left -= wire.Overhead
		go func() { _ = c.carry(nil, true) }()
	}
	c.forgetIfOver()
	return nil
}

// Reset ends both directions at once.
func (c *conn) Reset(reason string) {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	c.cut(reason, fmt.Errorf("the connection was reset: %s", reason))
}

// cut tells the runner of the end, unless it knows.
func (c *conn) cut(reason string, fault error) {
	if c.fault != nil || c.heard && c.told {
		return
	}
	reason = bailiff.Beginning(reason, longestReason)
	go c.outlet.client.say(wire.Frame{Kind: wire.Cut, Stream: c.number, Payload: []byte(reason), Last: true})
	c.end(fault)
}

// longestReason bounds why a connection is reset, in bytes.
const longestReason = 1 << 10

// end lets every waiting call go on.
func (c *conn) end(fault error) {
	if c.fault == nil {
		c.fault = fault
	}
	c.came = nil
	c.window.Close()
	c.changed.Broadcast()
	delete(c.outlet.conns, c.number)
}

// forgetIfOver gives up the number of what has ended both ways.
func (c *conn) forgetIfOver() {
	if c.heard && c.told {
		delete(c.outlet.conns, c.number)
	}
}

// Label tells which command connected.
func (c *conn) Label() uint32 { return c.arrival.Label }

// Direct is the address that stands for a name, and the port.
func (c *conn) Direct() netip.AddrPort {
	if c.arrival.Port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(netip.AddrFrom4(wire.Address(c.arrival.Number)), uint16(c.arrival.Port))
}

// address is an end of a connection.
type address string

// Network is that of both ends.
func (address) Network() string { return "outlet" }

// String names an end.
func (a address) String() string { return string(a) }

// LocalAddr is what the program dialled.
func (c *conn) LocalAddr() net.Addr {
	if direct := c.Direct(); direct.IsValid() {
		return address(direct.String())
	}
	return address(backends.OutletHost(c.arrival.Label).String())
}

// RemoteAddr names the connection among those of its sandbox.
func (c *conn) RemoteAddr() net.Addr { return address(fmt.Sprintf("connection %d", c.number)) }

// SetDeadline bounds both Read and Write.
func (c *conn) SetDeadline(t time.Time) error {
	c.setDeadline(t, &c.readBy, &c.writtenBy)
	return nil
}

// SetReadDeadline bounds Read.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.setDeadline(t, &c.readBy)
	return nil
}

// SetWriteDeadline bounds Write.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.setDeadline(t, &c.writtenBy)
	return nil
}

func (c *conn) setDeadline(t time.Time, which ...*deadline) {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	for _, d := range which {
		d.set(t, c.expire)
	}
	c.changed.Broadcast()
}

// expire has waiting calls look at the time.
func (c *conn) expire() {
	c.outlet.mu.Lock()
	defer c.outlet.mu.Unlock()
	c.changed.Broadcast()
}

// deadline is when a call gives up that waits; none if it is zero.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) isPast() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) set(t time.Time, expire func()) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if d.at = t; !t.IsZero() {
		d.timer = time.AfterFunc(time.Until(t), expire)
	}
}
