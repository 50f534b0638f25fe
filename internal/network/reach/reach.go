// Package reach reads where a connection wants to go, in one way only, and knows the
// addresses that no sandbox may reach.
//
// Promised of a host: it has one spelling. What is judged, logged, resolved and written
// into TLS and HTTP is that one string, and a text that two programs might read
// differently is refused. Promised of an address: an address of this machine, of its
// link, of a metadata service or of no use on the public network is refused, in every
// form that carries one address inside another. No policy lifts this.
//
// Not here: whether a host is allowed, which the policies say, and the resolving.
package reach

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// ErrName is in every error about a host or port that is not written in the one way.
var ErrName = errors.New("the destination is not written in a way that has one meaning")

// Host is a name or an address in its one spelling. The zero value is no host.
type Host struct {
	name    string
	address netip.Addr
}

// Target is a host and a port.
type Target struct {
	Host Host
	Port uint16
}

// Most of a name and of each of its labels, in bytes.
const (
	mostName  = 253
	mostLabel = 63
)

// ParseTarget reads "host:port", an IPv6 address in brackets. The port is needed.
func ParseTarget(written string) (Target, error) {
	colon := strings.LastIndexByte(written, ':')
	if colon < 0 {
		return Target{}, refused("a port is missing")
	}
	host, err := ParseHost(written[:colon])
	if err != nil {
		return Target{}, err
	}
	port, err := ParsePort(written[colon+1:])
	return Target{host, port}, err
}

// ParsePort reads a port from 1 to 65535, in decimal digits without a leading zero.
func ParsePort(written string) (uint16, error) {
	port, err := strconv.ParseUint(written, 10, 16)
	if err != nil || port == 0 || strconv.FormatUint(port, 10) != written {
		return 0, refused("the port is no number from 1 to 65535")
	}
	return uint16(port), nil
}

// ParseHost reads a name, an IPv4 address or an IPv6 address in brackets.
func ParseHost(written string) (Host, error) {
	for i := range len(written) {
		if c := written[i]; c < 0x21 || c > 0x7e || strings.IndexByte(`%\@/#?`, c) >= 0 {
			return Host{}, refused("the host holds a character that no host has")
		}
	}
	if inner, ok := strings.CutPrefix(written, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		address, err := netip.ParseAddr(inner)
		if !ok || err != nil || !address.Is6() || address.Zone() != "" {
			return Host{}, refused("the host is no IPv6 address in brackets")
		}
		return HostOf(address), nil
	}
	return parseName(written)
}

func parseName(written string) (Host, error) {
	name := strings.ToLower(strings.TrimSuffix(written, "."))
	if len(name) > mostName {
		return Host{}, refused("the name is too long")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return Host{}, refused("the host is no name of letters, digits and hyphens")
		}
	}
	if !endsInNumber(labels) {
		return Host{name: name}, nil
	}
	address, err := netip.ParseAddr(name)
	if err != nil || name != written {
		return Host{}, refused("the number is no IPv4 address of four decimal parts")
	}
	return HostOf(address), nil
}

// isLabel accepts what is between two dots. A label in punycode must be what IDNA makes
// of its own text, so that no two spellings look alike by mistake of the encoding.
func isLabel(label string) bool {
	if label == "" || len(label) > mostLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	if !strings.HasPrefix(label, "xn--") {
		return true
	}
	ascii, err := idna.Lookup.ToASCII(label)
	return err == nil && ascii == label
}

// endsInNumber says whether some resolver would read the name as an IPv4 address.
func endsInNumber(labels []string) bool {
	last := labels[len(labels)-1]
	if _, err := strconv.ParseUint(last, 10, 64); err == nil || strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// HostOf is the host that is an address; an IPv4 address in IPv6 is the IPv4 address.
func HostOf(address netip.Addr) Host {
	address = address.Unmap().WithZone("")
	return Host{name: address.String(), address: address}
}

// String is the one spelling, an IPv6 address without brackets.
func (h Host) String() string { return h.name }

// Address is the address if the host is one.
func (h Host) Address() (address netip.Addr, ok bool) { return h.address, h.address.IsValid() }

// Domain is the registrable domain of a name; empty for an address, and for a name that
// has none.
func (h Host) Domain() string {
	if h.address.IsValid() {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(h.name)
	if err != nil {
		return ""
	}
	return domain
}

// String is "host:port", an IPv6 address in brackets.
func (t Target) String() string {
	if t.Host.address.Is6() {
		return "[" + t.Host.name + "]:" + strconv.Itoa(int(t.Port))
	}
	return t.Host.name + ":" + strconv.Itoa(int(t.Port))
}

func refused(why string) error { return fmt.Errorf("%w: %s", ErrName, why) }
