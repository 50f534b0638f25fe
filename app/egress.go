package app

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/audit"
	"github.com/bailiff-dev/bailiff/internal/egress"
	"github.com/bailiff-dev/bailiff/internal/reach"
)

// newWayOut makes the proxy by which sandboxes leave whose network is egress.
func (c *core) newWayOut() (*egress.Proxy, error) {
	return egress.New(egress.Config{
		Judge: c.policies, Recorder: connectionLog{c.recorder()}, Resolver: hostNames{c.cfg.Egress.Hosts}, Dialer: egress.NetDialer{},
		Floor: reach.NewFloor(c.cfg.Egress.Own, reach.MachineAddresses),
	})
}

// hostNames are those of the configuration, and all that the machine resolves.
type hostNames struct{ configured map[string]netip.Addr }

// LookupNetIP finds the addresses of a name.
func (n hostNames) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if address, ok := n.configured[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{address}, nil
	}
	return net.DefaultResolver.LookupNetIP(ctx, network, host)
}

// connectionLog writes the events of connections into the decision log.
type connectionLog struct{ log enforcer.Recorder }

// Record writes an opening before it returns; the rest need not be waited for.
func (l connectionLog) Record(ctx context.Context, e egress.Event) error {
	event := api.Event{
		DecisionID: e.Connection.For.DecisionID, Timestamp: time.Now().UTC(), RequestedBy: e.Connection.Caller,
		Custom: api.Custom{Event: api.ConnectionEvent, Session: e.Connection.Session.ID, Backend: e.Connection.Backend,
			Connection: connectionSaid(e)},
	}
	if event.DecisionID == "" {
		event.DecisionID = audit.NewID()
	}
	if e.Revision != "" {
		event.Bundles = map[string]api.Bundle{"policies": {Revision: e.Revision}}
	}
	if e.What == egress.Opened {
		return l.log.Record(ctx, event)
	}
	l.log.Note(event)
	return nil
}

func connectionSaid(e egress.Event) *api.Connection {
	c := e.Connection
	return &api.Connection{What: e.What, Protocol: c.Protocol, Via: c.Via, Host: c.Host, Port: c.Port, Method: c.Method, Path: c.Path,
		Rule: e.Rule, Sent: e.Sent, Received: e.Received}
}
