package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/reach"
)

// refusal is why a connection does not go on, as the program is told.
type refusal struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Instead string `json:"instead,omitempty"`
}

// Error is the sentence.
func (r *refusal) Error() string { return r.Message }

func refuse(c bailiff.Connection, rule, message, instead string) *refusal {
	return &refusal{c.Host, c.Port, rule, message, instead}
}

// aimed is the connection with its destination.
func aimed(of bailiff.Connection, to reach.Target, protocol, via string) bailiff.Connection {
	_, of.IsAddress = to.Host.Address()
	of.Host, of.Domain, of.Port, of.Protocol, of.Via = to.Host.String(), to.Host.Domain(), int(to.Port), protocol, via
	of.Time = time.Now()
	return of
}

// allow asks the policies, and has the answer written down. Only where it returns no
// refusal may the destination be resolved.
func (p *Proxy) allow(ctx context.Context, asked ...bailiff.Connection) (c bailiff.Connection, private bool, no *refusal) {
	for _, one := range asked {
		judged := p.config.Judge.Connection(ctx, one)
		if judged.Outcome == bailiff.Allow {
			e := Event{What: Opened, Connection: one, Revision: judged.Revision}
			if err := p.config.Recorder.Record(ctx, e); err != nil {
				return one, false, unrecorded(one)
			}
			return one, judged.Private, nil
		}
		if no == nil { // the first way of speaking is the one that is told
			c, no = one, told(one, judged)
		}
	}
	return c, false, p.refused(ctx, c, no)
}

func unrecorded(c bailiff.Connection) *refusal {
	return refuse(c, "log.unwritable", "The decision log cannot be written, so nothing leaves.", "Try again later.")
}

// told is the first reason that may be told. A question refuses: no one is asked here.
func told(c bailiff.Connection, judged bailiff.ConnectionJudgement) *refusal {
	reasons := judged.Denials
	if judged.Outcome == bailiff.Ask {
		reasons = judged.Questions
	}
	reasons = bailiff.Decision{Denials: reasons}.Told().Denials
	if len(reasons) == 0 {
		return refuse(c, "policy.error", "The policies gave no reason.", "")
	}
	return refuse(c, reasons[0].Rule, reasons[0].Message, reasons[0].Instead)
}

// refused has a refusal written down; it stands whether that succeeds or not.
func (p *Proxy) refused(ctx context.Context, c bailiff.Connection, no *refusal) *refusal {
	e := Event{What: Refused, Connection: c, Rule: no.Rule, Message: no.Message, Instead: no.Instead}
	if err := p.config.Recorder.Record(ctx, e); err != nil {
		return unrecorded(c)
	}
	return no
}

// dial resolves what was allowed, once, and connects to an address that was checked.
func (p *Proxy) dial(ctx context.Context, to reach.Target, c bailiff.Connection, private bool) (net.Conn, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, 2*stepTime)
	defer cancel()
	addresses, err := p.resolve(ctx, to.Host)
	if err == nil {
		err = p.config.Floor.CheckAll(addresses, to.Port, private)
	}
	if err != nil {
		return nil, p.refused(ctx, c, failure(c, err))
	}
	check := func(told netip.AddrPort) error { return p.config.Floor.Check(told, private) }
	for _, address := range addresses {
		var conn net.Conn
		if conn, err = p.config.Dialer.Dial(ctx, netip.AddrPortFrom(address, to.Port), check); err == nil {
			return conn, nil
		}
	}
	return nil, p.refused(ctx, c, failure(c, err))
}

func (p *Proxy) resolve(ctx context.Context, host reach.Host) ([]netip.Addr, error) {
	if address, ok := host.Address(); ok {
		return []netip.Addr{address}, nil
	}
	found, err := p.config.Resolver.LookupNetIP(ctx, "ip", host.String()+".") // the dot keeps search domains out
	if err == nil && len(found) == 0 {
		err = errors.New("the name has no address")
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}

// The rules of refusals that come from no policy.
const (
	ruleAddress     = "floor.address"
	ruleName        = "floor.name"
	ruleUnreachable = "egress.unreachable"
)

// failure says no more of an address than that it is forbidden: what a name of the inner
// network stands for is no business of a sandbox.
func failure(c bailiff.Connection, err error) *refusal {
	if errors.Is(err, reach.ErrFloor) {
		return refuse(c, ruleAddress, "The host stands for an address that no sandbox may reach.", "Use another host.")
	}
	return refuse(c, ruleUnreachable, "The host cannot be reached.", "Check the name, or try again later.")
}

// NetDialer dials by the kernel.
type NetDialer struct{}

// Dial connects, and asks check about the address that the kernel is told.
func (NetDialer) Dial(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error) {
	dialer := net.Dialer{Timeout: stepTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		told, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("reading the address to dial: %w", err)
		}
		return check(told)
	}}
	return dialer.DialContext(ctx, "tcp", to.String())
}
