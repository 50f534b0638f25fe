package config

import (
	"net/netip"
	"net/url"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// MaxSandboxConnections is the most that the connections of one sandbox can be bounded to.
const MaxSandboxConnections = 256

// Egress says how the sidecar reaches what sandboxes may reach.
type Egress struct {
	// Hosts are addresses of names that are not resolved.
	Hosts map[string]netip.Addr
	// Own are services of this machine that sandboxes may reach, each by its exact address
	// and port.
	Own []netip.AddrPort
	// Trust are files of certificates by which servers are verified, beside the system's.
	Trust []string
	// Resolver are DNS servers that are asked instead of those of this machine.
	Resolver []netip.AddrPort
	// CA is an authority by which the certificates that sandboxes see are made; without one
	// each sandbox has its own.
	CA EgressCA
	// UpstreamProxy is a proxy by which everything is dialled.
	UpstreamProxy UpstreamProxy
	Limits        EgressLimits
	// Direct has programs that know no proxy look names up and connect.
	Direct bool
}

// EgressCA is an authority: the files of its certificate and key, as PEM.
type EgressCA struct{ Certificate, Key string }

// UpstreamProxy is a proxy that takes CONNECT.
type UpstreamProxy struct {
	// URL is http://host:port or https://host:port; empty without one.
	URL string
	// Credential is user:password.
	Credential settings.Credential
}

// EgressLimits bound the connections of sandboxes.
type EgressLimits struct {
	// Connections and Total are open at once: of a sandbox, of all.
	Connections, Total int
	// PerSecond are new ones of a sandbox, PerHost are at one host at once.
	PerSecond, PerHost int
	// HoldSeconds are for how long one waits for people.
	HoldSeconds int
}

func (r *reader) egress(e *Egress, at place) {
	r.section(at, fields{
		"hosts": func(at place) { r.hosts(e, at) },
		"own": func(at place) {
			e.Own = nil
			r.listOfTexts(at, func(at place) {
				if service, ok := r.ownService(at); ok {
					e.Own = append(e.Own, service)
				}
			})
		},
		"trust": r.each(&e.Trust, r.trustedPath),
		"resolver": func(at place) {
			e.Resolver = nil
			r.listOfTexts(at, func(at place) {
				if server, ok := r.dnsServer(at); ok {
					e.Resolver = append(e.Resolver, server)
				}
			})
		},
		"direct":         r.boolean(&e.Direct),
		"ca":             func(at place) { r.egressCA(&e.CA, at) },
		"upstream_proxy": func(at place) { r.upstreamProxy(&e.UpstreamProxy, at) },
		"limits":         func(at place) { r.egressLimits(&e.Limits, at) },
	})
}

func (r *reader) egressLimits(l *EgressLimits, at place) {
	r.section(at, fields{
		"connections": r.number(&l.Connections, 1, MaxSandboxConnections), "total": r.number(&l.Total, 1, 1_000_000),
		"hold_seconds": r.number(&l.HoldSeconds, 1, 600),
		"per_second":   r.number(&l.PerSecond, 1, 10_000), "per_host": r.number(&l.PerHost, 1, MaxSandboxConnections),
	})
}

func (r *reader) egressCA(ca *EgressCA, at place) {
	var key settings.Credential
	r.section(at, fields{
		"certificate": as(&ca.Certificate, r.trustedPath),
		"key": func(at place) {
			if r.credential(&key, at); key.Env != "" {
				r.fault(at, "want {file: PATH}, is a variable")
			}
		},
	})
	if ca.Key = key.File; ca.Certificate == "" || !key.IsSet() {
		r.fault(at, "lacks certificate or key: want {certificate: ca.pem, key: {file: ca.key}}")
	}
}

func (r *reader) upstreamProxy(p *UpstreamProxy, at place) {
	r.section(at, fields{
		"url": func(at place) {
			s, ok := r.text(at)
			if !ok {
				return
			}
			p.URL = s
			u, err := url.Parse(s)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || !isHostPort(u.Host) || s != u.Scheme+"://"+u.Host {
				r.fault(at, "want http://host:port or https://host:port, and the user and password in credential") // s may hold one
			}
		},
		"credential": func(at place) { r.credential(&p.Credential, at) },
	})
	if p.URL == "" {
		r.fault(at, "lacks url: want http://host:port")
	}
}

// dnsServer reads an address, and a port where that is not the usual one.
func (r *reader) dnsServer(at place) (netip.AddrPort, bool) {
	s, ok := r.text(at)
	if !ok {
		return netip.AddrPort{}, false
	}
	if address, err := netip.ParseAddr(s); err == nil && address.Zone() == "" {
		return netip.AddrPortFrom(address.Unmap(), 53), true
	}
	server, err := netip.ParseAddrPort(s)
	if err != nil || server.Port() == 0 || server.Addr().Zone() != "" {
		r.fault(at, `want an IP address, or one with a port, such as "10.0.0.53:5353", is %q`, s)
		return netip.AddrPort{}, false
	}
	return server, true
}

// hosts reads names with their addresses.
func (r *reader) hosts(e *Egress, at place) {
	if at.describe(describeNames) {
		return
	}
	m, ok := at.node.(ast.MapNode)
	if !ok {
		r.wrongType(at, "names with their addresses, such as {registry.corp: 10.0.0.5}")
		return
	}
	e.Hosts = map[string]netip.Addr{}
	for it := m.MapRange(); it.Next(); {
		name := it.Key().GetToken().Value
		value := place{under(at.key, name), it.Value()}
		r.places[value.key] = value
		host, err := reach.ParseHost(name)
		if _, isAddress := host.Address(); err != nil || isAddress || host.String() != name {
			r.fault(place{value.key, it.Key()}, "want a host's name in lower case, is %q", name)
			continue
		}
		if address, ok := r.ip(value); ok {
			e.Hosts[name] = address
		}
	}
}

func (r *reader) ip(at place) (netip.Addr, bool) {
	s, ok := r.text(at)
	if !ok {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(s)
	if err != nil || address.Zone() != "" {
		r.fault(at, "want an IP address, is %q", s)
		return netip.Addr{}, false
	}
	return address.Unmap(), true
}

// ownService reads an address with a port.
func (r *reader) ownService(at place) (netip.AddrPort, bool) {
	s, ok := r.text(at)
	if !ok {
		return netip.AddrPort{}, false
	}
	service, err := netip.ParseAddrPort(s)
	if err != nil || service.Port() == 0 || service.Addr().Zone() != "" {
		r.fault(at, `want an IP address and a port, such as "127.0.0.1:11434", is %q`, s)
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(service.Addr().Unmap(), service.Port()), true
}
