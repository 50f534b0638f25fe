package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// shareArrived is when the runner is told that bytes of all connections have arrived.
const shareArrived = wire.ConnsWindow / 8

// outlet is the client's side of an outlet.
type outlet struct {
	client *Client
	most   int
	serve  func(backends.OutletConn)
	lookUp func(uint32, []byte) backends.Name // nil where no names are looked up

	mu sync.Mutex
	// order is the stream on which the outlet was asked for, and ready says that the
	// runner has answered: connections of which it told before are another outlet's.
	order uint32
	ready bool
	conns map[uint32]*conn
	width wire.Width
	// asked is how many queries were not answered.
	asked int
	// left is what all connections together may send.
	left int
	// arrived are the bytes that the runner was not told of.
	arrived int
	// fault is why there are no connections any more.
	fault error
}

// OpenOutlet has the runner listen, as [backends.Outlet] says.
func (c *Client) OpenOutlet(ctx context.Context, terms backends.OutletTerms, serve func(backends.OutletConn)) (backends.OutletFacts,
	error) {
	if !c.place.Names {
		terms.LookUp = nil
	}
	order := wire.Encode(wire.OutletTerms{Most: terms.MostConnections, CA: terms.CA, Roots: string(terms.Roots),
		Names: terms.LookUp != nil})
	switch {
	case !c.place.Outlet:
		return backends.OutletFacts{}, fmt.Errorf("%w: network: only a sandbox whose network is egress has an outlet",
			backends.ErrUnsupported)
	case terms.MostConnections < 1 || terms.MostConnections > math.MaxInt32:
		return backends.OutletFacts{}, fmt.Errorf("opening an outlet for %d connections at once, want 1 or more", terms.MostConnections)
	case len(order) > wire.MaxOutlet:
		return backends.OutletFacts{}, fmt.Errorf("opening an outlet: the certificates have %d bytes, want at most %d",
			len(terms.CA)+len(terms.Roots), wire.MaxOutlet)
	}
	o := &outlet{client: c, most: terms.MostConnections, serve: serve, lookUp: terms.LookUp, conns: map[uint32]*conn{},
		left: wire.ConnsWindow}
	if !c.outlet.CompareAndSwap(nil, o) {
		return backends.OutletFacts{}, fmt.Errorf("%w: the sandbox has an outlet already", backends.ErrUnsupported)
	}
	facts, err := o.ask(ctx, order)
	if err != nil {
		o.fail(err)
		c.outlet.CompareAndSwap(o, nil)
		return backends.OutletFacts{}, fmt.Errorf("opening an outlet: %w", err)
	}
	return facts, nil
}

// ask has the runner open it.
func (o *outlet) ask(ctx context.Context, order []byte) (facts backends.OutletFacts, err error) {
	c := o.client
	call, err := c.open()
	if err != nil {
		return facts, err
	}
	defer c.drop(call)
	o.mu.Lock()
	o.order = call.stream
	o.mu.Unlock()
	go func() {
		if err := c.out.SendAll(wire.Outlet, call.stream, order); err != nil {
			c.fail(fmt.Errorf("speaking to the runner: %w", err))
		}
	}()
	answer, err := c.answerInTime(ctx, call)
	if err != nil {
		return facts, err
	}
	got, err := wire.Decode[wire.OutletFacts](answer.Payload)
	switch {
	case err != nil:
		return facts, err
	case got.Fault != "":
		return facts, fmt.Errorf("%w: %s", backends.ErrUnavailable, bailiff.Foreign(got.Fault))
	case got.Port < 1 || got.Port > math.MaxUint16:
		return facts, fmt.Errorf("the runner names %d as its port", got.Port)
	}
	return backends.OutletFacts{Port: got.Port, CAFile: got.CAFile, Bundle: got.Bundle, Names: o.lookUp != nil && got.NoNames == "",
		NoNames: bailiff.Foreign(got.NoNames)}, nil
}

// isOfConns says whether a frame concerns the connections of an outlet.
func isOfConns(f wire.Frame) bool {
	switch f.Kind {
	case wire.Opened, wire.Asked, wire.Carry, wire.Allow, wire.Widen, wire.Cut, wire.OutletReady, wire.Hello:
		return true
	}
	return false
}

var errSuperseded = errors.New("another client has taken the sandbox over")

var errTooMuch = errors.New("the runner sends more than it may")

// hear takes what the runner says of connections, and never waits. An error is the
// runner's fault.
func (o *outlet) hear(f wire.Frame) error {
	if f.Kind == wire.Hello { // to another client, whose connections later ones are
		o.fail(errSuperseded)
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case f.Kind == wire.OutletReady:
		o.ready = o.ready || f.Stream == o.order
		return nil
	case !o.ready:
		return nil
	case f.Kind == wire.Opened:
		return o.opened(f)
	case f.Kind == wire.Asked:
		return o.answerQuery(f)
	case f.Kind == wire.Allow && f.Stream == wire.Everything:
		return o.allowed(f)
	case f.Kind == wire.Carry:
		o.note(cost(f))
	}
	c := o.conns[f.Stream]
	if c == nil { // it was cut meanwhile
		return nil
	}
	return c.hear(f)
}

func (o *outlet) opened(f wire.Frame) error {
	arrival, err := wire.Decode[wire.Arrival](f.Payload)
	if err != nil || o.fault != nil {
		return err
	}
	if arrival.Port < 0 || arrival.Port > math.MaxUint16 {
		return fmt.Errorf("the runner names %d as the port of a connection", arrival.Port)
	}
	if len(o.conns) >= o.most || o.conns[f.Stream] != nil {
		return errTooMuch
	}
	c := newConn(o, f.Stream, arrival)
	o.conns[f.Stream] = c
	go o.serve(c)
	return nil
}

// answerQuery has a query answered.
func (o *outlet) answerQuery(f wire.Frame) error {
	if o.fault != nil {
		return nil
	}
	query, err := wire.Decode[wire.Query](f.Payload)
	if err != nil || o.lookUp == nil || o.asked >= wire.MaxAsked || len(query.Text) > wire.MaxQuery {
		return errTooMuch
	}
	o.asked++
	go func() {
		name := nameOf(o.lookUp(query.Label, []byte(query.Text)))
		o.mu.Lock()
		o.asked-- // the runner counts it once it has the answer
		o.mu.Unlock()
		o.client.say(wire.Frame{Kind: wire.Named, Stream: f.Stream, Payload: wire.Encode(name), Last: true})
	}()
	return nil
}

// nameOf is the message for an answer. An address outside of [backends.Direct], or that of the resolver, becomes the failure.
func nameOf(name backends.Name) wire.Name {
	told := wire.Name{Answer: string(name.Answer), Failure: string(name.Failure)}
	if !name.Address.IsValid() {
		return told
	}
	if !backends.Direct.Contains(name.Address) {
		return wire.Name{Answer: told.Failure}
	}
	if told.Number, _ = wire.AddressNumber(name.Address.As4()); told.Number == wire.ResolverNumber {
		return wire.Name{Answer: told.Failure}
	}
	for _, port := range name.Ports {
		told.Ports = append(told.Ports, int(port))
	}
	return told
}

// allowed adds to what all connections may send.
func (o *outlet) allowed(f wire.Frame) error {
	n, err := wire.Decode[wire.Number](f.Payload)
	if err != nil || n < 0 || int(n) > wire.ConnsWindow-o.left {
		return errTooMuch
	}
	o.left += int(n)
	for _, c := range o.conns {
		c.changed.Broadcast()
	}
	return nil
}

// note counts the bytes that have arrived, read or dropped.
func (o *outlet) note(n int) {
	if o.arrived += n; o.arrived >= shareArrived {
		o.allow(wire.Everything, o.arrived)
		o.arrived = 0
	}
}

func (o *outlet) allow(stream uint32, n int) {
	go o.client.say(wire.Frame{Kind: wire.Allow, Stream: stream, Payload: wire.Encode(wire.Number(n)), Last: true})
}

func (o *outlet) widen(stream uint32) {
	go o.client.say(wire.Frame{Kind: wire.Widen, Stream: stream, Last: true})
}

// fail ends all connections.
func (o *outlet) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fault = err
	for _, c := range o.conns {
		c.end(err)
	}
}
