package reach

import (
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrFloor is in every error about an address that is refused.
var ErrFloor = errors.New("the address is one that no sandbox may reach")

// Refusal is an address that is refused, and the class that it is of.
type Refusal struct {
	Address netip.Addr
	Class   string
}

// Error names the address and its class.
func (r *Refusal) Error() string { return fmt.Sprintf("%v: %s is %s", ErrFloor, r.Address, r.Class) }

// Unwrap is [ErrFloor].
func (r *Refusal) Unwrap() error { return ErrFloor }

//go:embed floor.txt
var floorText string

type classed struct {
	prefix netip.Prefix
	class  string
}

// table is that of floor.txt, the longest prefixes first.
var table = sync.OnceValue(func() []classed {
	var all []classed
	for line := range strings.Lines(floorText) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] != "#" {
			all = append(all, classed{netip.MustParsePrefix(fields[0]), fields[1]})
		}
	}
	slices.SortStableFunc(all, func(a, b classed) int { return b.prefix.Bits() - a.prefix.Bits() })
	return all
})

// Class is the word for an address in the table, empty for a public one. Of an address
// that carries an IPv4 address, it is also that one's.
func Class(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if !address.IsValid() {
		return "unspecified"
	}
	for _, entry := range table() {
		if entry.prefix.Contains(address) {
			return entry.class
		}
	}
	if inner, ok := carried(address); ok {
		return Class(inner)
	}
	return ""
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
)

// carried is the IPv4 address inside an IPv6 address of the known forms.
func carried(address netip.Addr) (netip.Addr, bool) {
	if !address.Is6() {
		return netip.Addr{}, false
	}
	bytes := address.As16()
	switch {
	case sixToFour.Contains(address):
		return netip.AddrFrom4([4]byte(bytes[2:6])), true
	case nat64.Contains(address), compatible.Contains(address):
		return netip.AddrFrom4([4]byte(bytes[12:])), true
	}
	return netip.Addr{}, false
}

// Floor refuses addresses. It is safe for concurrent use.
type Floor struct {
	services []netip.AddrPort
	machine  func() ([]netip.Addr, error)

	mu      sync.Mutex
	own     []netip.Addr
	ownRead time.Time
}

// ownFor is how long the addresses of this machine's interfaces are believed.
const ownFor = 10 * time.Second

// NewFloor makes one that lets services of this machine be reached, each by its exact
// address and port. Machine lists the machine's own addresses; [MachineAddresses] does.
func NewFloor(services []netip.AddrPort, machine func() ([]netip.Addr, error)) *Floor {
	return &Floor{services: slices.Clone(services), machine: machine}
}

// Check refuses an address by a [Refusal]. Private says that the policies have opened
// private addresses for this very host. An error of another kind refuses as well.
func (f *Floor) Check(to netip.AddrPort, private bool) error {
	address := to.Addr().Unmap().WithZone("")
	if slices.Contains(f.services, netip.AddrPortFrom(address, to.Port())) {
		return nil
	}
	class := Class(address)
	if class != "" && (!private || class != "private" && class != "shared") {
		return &Refusal{address, class}
	}
	own, err := f.ownAddresses()
	if err != nil {
		return err
	}
	inner, carries := carried(address)
	if slices.Contains(own, address) || carries && slices.Contains(own, inner) {
		return &Refusal{address, "own"}
	}
	return nil
}

// CheckAll refuses all of a name's addresses for one that is refused: a mixed answer is
// the attack.
func (f *Floor) CheckAll(addresses []netip.Addr, port uint16, private bool) error {
	for _, address := range addresses {
		if err := f.Check(netip.AddrPortFrom(address, port), private); err != nil {
			return err
		}
	}
	return nil
}

func (f *Floor) ownAddresses() ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.own != nil && time.Since(f.ownRead) < ownFor {
		return f.own, nil
	}
	own, err := f.machine()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this machine: %w", err)
	}
	f.own, f.ownRead = own, time.Now()
	return own, nil
}

// MachineAddresses are those of this machine's interfaces.
func MachineAddresses() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := []netip.Addr{}
	for _, one := range found {
		prefix, err := netip.ParsePrefix(one.String())
		if err != nil {
			return nil, err
		}
		own = append(own, prefix.Addr().Unmap())
	}
	return own, nil
}
