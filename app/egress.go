package app

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// newWayOut makes the proxy by which sandboxes leave whose network is egress.
func (c *core) newWayOut() (enforcer.WayOut, error) {
	c.refusals = egress.NewSparing(connectionLog{c.recorder()})
	settings, err := c.wayOutOf(c.cfg.Egress)
	if err != nil {
		return nil, err
	}
	c.proxy, err = egress.New(settings)
	return countedWay{c.proxy, c.metrics, &c.egress}, err
}

// prepareEgress has the next connection go as another section egress says.
func (c *core) prepareEgress(next *config.Config) (func(context.Context) error, error) {
	settings, err := c.wayOutOf(next.Egress)
	if err == nil {
		err = egress.Check(settings)
	}
	if err != nil {
		return nil, fmt.Errorf("taking over the section egress: %w", err)
	}
	return func(context.Context) error {
		if err := c.proxy.Change(settings); err != nil {
			return err
		}
		c.enforcer.Hold(hold(next.Egress))
		c.cfg.Egress = next.Egress
		return nil
	}, nil
}

// hold is how long a connection waits for people.
func hold(section config.Egress) time.Duration {
	return time.Duration(section.Limits.HoldSeconds) * time.Second
}

func limitsOf(l config.EgressLimits) egress.Limits {
	return egress.Limits{Connections: l.Connections, Total: l.Total, PerSecond: l.PerSecond, PerHost: l.PerHost}
}

// wayOutOf is what the proxy needs, as a section egress says.
func (c *core) wayOutOf(section config.Egress) (settings egress.Config, err error) {
	settings = egress.Config{
		Judge: countedJudge{c.policies, c.metrics}, Recorder: countedEvents{c.refusals, c.metrics, &c.egress},
		Resolver: hostNames{section.Hosts, resolverOf(section.Resolver)},
		Ports:    portsOf(section, c.policies),
		Floor:    reach.NewFloor(section.Own, reach.MachineAddresses), Limits: limitsOf(section.Limits),
	}
	if settings.Key, err = sandboxesKey(filepath.Join(c.cfg.StateDir, "egress.key")); err != nil {
		return settings, err
	}
	if settings.Roots, err = trustedRoots(section.Trust); err != nil {
		return settings, err
	}
	if settings.Authority, err = authorityOf(section.CA); err != nil {
		return settings, err
	}
	settings.Dialer, err = dialerOf(section.UpstreamProxy)
	return settings, err
}

// portsOf is nil where programs are to use a proxy.
func portsOf(section config.Egress, policies *pdp.PDP) egress.Ports {
	if !section.Direct {
		return nil
	}
	return policies
}

func authorityOf(ca config.EgressCA) (*egress.Authority, error) {
	if ca == (config.EgressCA{}) {
		return nil, nil
	}
	chain, key, err := ca.Read()
	if err != nil {
		return nil, fmt.Errorf("reading egress.ca: %w", err)
	}
	return &egress.Authority{Chain: chain, Key: key}, nil
}

func dialerOf(proxy config.UpstreamProxy) (egress.Dialer, error) {
	if proxy.URL == "" {
		return egress.NetDialer{}, nil
	}
	login, err := proxy.Login()
	if err != nil {
		return nil, fmt.Errorf("reading egress.upstream_proxy: %w", err)
	}
	at, err := url.Parse(proxy.URL)
	if err != nil {
		return nil, fmt.Errorf("reading egress.upstream_proxy: %w", err)
	}
	return egress.ProxyDialer{URL: at, Login: login}, nil
}

// resolverOf asks DNS servers in turn, or those of the machine where there are none.
func resolverOf(servers []netip.AddrPort) *net.Resolver {
	if len(servers) == 0 {
		return net.DefaultResolver
	}
	var turn atomic.Uint32
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		server := servers[int(turn.Add(1)-1)%len(servers)]
		return new(net.Dialer).DialContext(ctx, network, server.String())
	}}
}

// sandboxesKey reads the key from which those of sandboxes' authorities come, or makes it.
func sandboxesKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, egress.KeySize)
		_, _ = rand.Read(key) // never fails
		if err := records.Write(path, key, true); err != nil {
			return nil, fmt.Errorf("making the key of sandboxes' certificates: %w", err)
		}
		return key, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of sandboxes' certificates: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may use %s: move it away, and another is made", path)
	}
	key, err := os.ReadFile(path)
	if err == nil && len(key) != egress.KeySize {
		err = fmt.Errorf("%s holds %d bytes, want %d: move it away, and another is made", path, len(key), egress.KeySize)
	}
	return key, err
}

// trustedRoots are those of the machine, and those in files of the configuration.
func trustedRoots(paths []string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the certificates that this machine trusts: %w", err)
	}
	for _, path := range paths {
		all, err := certificates.Read(path)
		if err != nil {
			return nil, fmt.Errorf("reading egress.trust: %w", err)
		}
		for _, one := range all {
			roots.AddCert(one)
		}
	}
	return roots, nil
}

// hostNames are those of the configuration, and all that a resolver finds.
type hostNames struct {
	configured map[string]netip.Addr
	*net.Resolver
}

// LookupNetIP finds the addresses of a name.
func (n hostNames) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if address, ok := n.configured[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{address}, nil
	}
	return n.Resolver.LookupNetIP(ctx, network, host)
}

// connectionLog writes the events of connections into the decision log.
type connectionLog struct{ log enforcer.Recorder }

// Record writes an opening before it returns; the rest need not be waited for.
func (l connectionLog) Record(ctx context.Context, e egress.Event) error {
	event := api.Event{
		DecisionID: e.Connection.For.DecisionID, Timestamp: time.Now().UTC(), RequestedBy: e.Connection.Caller,
		Custom: api.Custom{Event: api.ConnectionEvent, Session: e.Connection.Session.ID,
			Agent: e.Connection.Session.Agent, Backend: e.Connection.Backend,
			Connection: connectionSaid(e)},
	}
	if event.DecisionID == "" {
		event.DecisionID = audit.NewID()
	}
	if j := e.Judged; j != nil {
		event.Path, event.Input, event.Result = api.ConnectionPath, pdp.ConnectionInput(e.Connection), *j
		event.Bundles = map[string]api.Bundle{"policies": {Revision: j.Revision}}
	}
	if e.What == egress.Opened {
		return l.log.Record(ctx, event)
	}
	l.log.Note(event)
	return nil
}

func connectionSaid(e egress.Event) *api.Connection {
	c := e.Connection
	if c.Direct {
		c.Via = "direct"
	}
	return &api.Connection{What: e.What, Protocol: c.Protocol, Via: c.Via, Host: c.Host, Port: c.Port, Method: c.Method, Path: c.Path,
		Rule: e.Rule, Approval: e.Approval, More: e.More, Sent: e.Sent, Received: e.Received}
}
