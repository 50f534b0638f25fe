package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/names"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// Ports knows which ports a name is likely to be allowed at; the policies say at which it is.
type Ports interface {
	Ports(host string) []uint16
}

// commonPorts are looked at for each name, and a program that dials them is told why they are closed.
var commonPorts = []uint16{443, 80, 22}

// mostPorts bounds those that are looked at.
const mostPorts = 16

// mostTables is of how many sandboxes it is remembered what stands for names.
const mostTables = 1000

// direct is a connection of a program that takes no proxy.
type direct interface {
	// Direct is the address and port that it dialled, not valid where it took a proxy.
	Direct() netip.AddrPort
}

// Names says whether programs may look names up, and connect without a proxy.
func (p *Proxy) Names() bool { return p.now.Load().config.Ports != nil }

// LookUp answers a query of DNS of a program. A name that the policies let nothing reach is
// unknown; others have an address of loopback. Nothing is resolved.
func (p *Proxy) LookUp(ctx context.Context, query []byte, of bailiff.Connection, hear bailiff.ConnectionHearer) backends.Name {
	q, fault, ok := names.Read(query)
	switch {
	case !ok:
		return backends.Name{}
	case fault != nil:
		return backends.Name{Answer: fault}
	case !p.Names():
		return backends.Name{Answer: q.Refusal()}
	}
	host, err := reach.ParseHost(q.Name())
	if _, isAddress := host.Address(); err != nil || isAddress || strings.HasSuffix(host.String(), ".arpa") {
		return backends.Name{Answer: q.NoSuchName()}
	}
	heard := p.forConnection(of, nil, hear)
	return heard.name(ctx, q, host, of)
}

// name answers a query about a host.
func (p *Proxy) name(ctx context.Context, q names.Query, host reach.Host, of bailiff.Connection) backends.Name {
	c := withTarget(of, reach.Target{Host: host}, "", "connect")
	c.Direct = true
	if !p.meter.admitQuery(of.Sandbox, p.config.Limits) {
		p.recordRefusal(ctx, c, tooMany(c, tooManyAsked))
		return backends.Name{Answer: q.Failure()}
	}
	ports, no := p.openPorts(ctx, host, of)
	if no != nil {
		no.Port = 0
		// Queries come in pairs, and a name without a dot is no host of others: one line is enough.
		if !q.WantsIPv6() && strings.Contains(host.String(), ".") {
			p.recordRefusal(ctx, c, no)
		}
		return backends.Name{Answer: q.NoSuchName()}
	}
	if !q.WantsIPv4() {
		return backends.Name{Answer: q.NoRecords()}
	}
	address, ok := p.tableOf(of.Sandbox).Address(host)
	if !ok {
		return backends.Name{Answer: q.Failure()}
	}
	return backends.Name{Answer: q.Address(address), Address: address, Ports: ports, Failure: q.Failure()}
}

// openPorts are the ports at which a program may dial a name, those among them where it is only
// told why not. It refuses a name that may be reached at none.
func (p *Proxy) openPorts(ctx context.Context, host reach.Host, of bailiff.Connection) (ports []uint16, no *refusal) {
	may := false
	ports = p.candidatePorts(host, of)
	for _, port := range ports {
		c, judged := weigh(ctx, p.config.Judge, tunnels(reach.Target{Host: host, Port: port}, "connect", of))
		if judged.Outcome != bailiff.Deny {
			may = true
		} else if no == nil {
			no = told(c, judged.Denials)
		}
	}
	if may {
		return ports, nil
	}
	return nil, no
}

// candidatePorts are the ports that are looked at for a name: the usual ones, and those that its rows and
// its request name.
func (p *Proxy) candidatePorts(host reach.Host, of bailiff.Connection) []uint16 {
	ports := slices.Concat(commonPorts, p.config.Ports.Ports(host.String()))
	for _, said := range of.For.Egress {
		named, below := strings.CutPrefix(said, "*.")
		to, err := reach.ParseTarget(named)
		if err == nil && (to.Host == host && !below || below && strings.HasSuffix(host.String(), "."+to.Host.String())) {
			ports = append(ports, to.Port)
		}
	}
	slices.Sort(ports[len(commonPorts):])
	var each []uint16
	for _, port := range ports {
		if !slices.Contains(each, port) && len(each) < mostPorts {
			each = append(each, port)
		}
	}
	return each
}

// tableOf is what stands for names in a sandbox.
func (p *Proxy) tableOf(sandbox string) *names.Table {
	return p.tables.GetOrPut(sandbox, func() *names.Table { return names.NewTable(sandbox, backends.Direct) })
}

// serveDirect serves a connection to an address that stands for a name as a tunnel to that.
func (p *Proxy) serveDirect(ctx context.Context, client net.Conn, dialled netip.AddrPort, of bailiff.Connection) {
	of.Direct = true
	to := p.nameBehind(reach.Target{Host: reach.HostOf(dialled.Addr()), Port: dialled.Port()}, of.Sandbox)
	if _, isAddress := to.Host.Address(); isAddress {
		c := withTarget(of, to, "tcp", "connect")
		reset(client, p.recordRefusal(ctx, c, refuse(c, ruleUnreachable, "The address stands for no name.", "Look the name up again.")))
		return
	}
	way, no := p.open(ctx, to, "connect", of)
	if no != nil {
		reset(client, no)
		return
	}
	defer way.close()
	p.carry(ctx, client, way)
}

// nameBehind is a destination with the name that its address stands for in the sandbox, if it does.
func (p *Proxy) nameBehind(to reach.Target, sandbox string) reach.Target {
	if address, is := to.Host.Address(); is && p.config.Ports != nil && backends.Direct.Contains(address) {
		if host, stands := p.tableOf(sandbox).Host(address); stands {
			to.Host = host
		}
	}
	return to
}

// reset has a program read that its connection was refused, as far as TCP has words for that.
func reset(client net.Conn, no *refusal) {
	if c, can := client.(interface{ Reset(reason string) }); can {
		c.Reset(no.Rule)
	}
}
