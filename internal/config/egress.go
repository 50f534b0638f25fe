package config

import (
	"net/netip"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff/internal/reach"
)

// Egress says how the sidecar reaches what sandboxes may reach.
type Egress struct {
	// Hosts are addresses of names that are not resolved.
	Hosts map[string]netip.Addr
	// Own are services of this machine that sandboxes may reach, each by its exact address
	// and port.
	Own []netip.AddrPort
	// Trust are files of certificates by which servers are verified, beside the system's.
	Trust []string
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
	})
}

// hosts reads names with their addresses.
func (r *reader) hosts(e *Egress, at place) {
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
