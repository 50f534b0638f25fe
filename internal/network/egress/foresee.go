package egress

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// Foreseer says what would become of connections. It resolves, dials, asks and records nothing.
type Foreseer struct {
	Judge Judge
	Floor *reach.Floor
	// Hosts are addresses of names that are not resolved.
	Hosts map[string]netip.Addr
}

// Foreseer foresees by what holds for the next connection.
func (p *Proxy) Foreseer() Foreseer {
	now := p.now.Load().config
	return Foreseer{Judge: now.Judge, Floor: now.Floor}
}

// Forbidden is why a program of this machine may not reach a host that the policies let it reach; nil if it may. The name is looked
// up as for a sandbox, and each of its addresses checked.
func (p *Proxy) Forbidden(ctx context.Context, to reach.Target, private bool) *bailiff.Reason {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	now := Proxy{config: p.now.Load().config}
	addresses, err := now.resolve(ctx, to.Host)
	if err == nil {
		err = now.config.Floor.CheckAll(addresses, to.Port, private)
	}
	if err == nil {
		return nil
	}
	return failure(bailiff.Connection{}, err).reason()
}

// Tunnel foresees a connection, and says in which way the program would speak.
func (f Foreseer) Tunnel(ctx context.Context, to reach.Target, of bailiff.Connection) (bailiff.Connection, bailiff.ConnectionJudgement) {
	ways := tunnels(to, "connect", of)
	if closed := f.closedAddress(ways[0], to); closed != nil {
		return ways[0], *closed
	}
	c, judged := weigh(ctx, f.Judge, ways)
	return c, f.withFloor(c, to, judged)
}

// Request foresees a request on a connection that would be open and whose requests are judged:
// the first of its spellings that is not allowed, or else the last.
func (f Foreseer) Request(ctx context.Context, to reach.Target, c bailiff.Connection, r *http.Request) (bailiff.Connection,
	bailiff.ConnectionJudgement) {
	asked, no := spellings(c, r)
	if no != nil {
		return asked[0], denial(no)
	}
	var judged bailiff.ConnectionJudgement
	for _, c = range asked {
		if judged = f.Judge.Connection(ctx, c); judged.Outcome != bailiff.Allow {
			break
		}
	}
	return c, f.withFloor(c, to, judged)
}

// closedAddress is the refusal of an address that no row opens, and that a row of its own would not help.
func (f Foreseer) closedAddress(c bailiff.Connection, to reach.Target) *bailiff.ConnectionJudgement {
	address, known := to.Host.Address()
	if !known {
		return nil
	}
	if err := f.Floor.CheckAll([]netip.Addr{address}, to.Port, true); err != nil {
		refused := denial(failure(c, err))
		return &refused
	}
	return nil
}

// withFloor is a judgement without addresses that no policy opens, as far as they are known without looking up.
func (f Foreseer) withFloor(c bailiff.Connection, to reach.Target, judged bailiff.ConnectionJudgement) bailiff.ConnectionJudgement {
	address, known := to.Host.Address()
	if !known {
		address, known = f.Hosts[to.Host.String()]
	}
	if !known || judged.Outcome == bailiff.Deny {
		return judged
	}
	if err := f.Floor.CheckAll([]netip.Addr{address}, to.Port, judged.Private); err != nil {
		floored := denial(failure(c, err))
		floored.Revision = judged.Revision
		return floored
	}
	return judged
}

func denial(no *refusal) bailiff.ConnectionJudgement {
	return bailiff.ConnectionJudgement{Denials: []bailiff.Reason{*no.reason()}}
}

func (r *refusal) reason() *bailiff.Reason {
	return &bailiff.Reason{Rule: r.Rule, Message: r.Message, Instead: r.Instead}
}
