package names

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"sync"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// most is how many names a sandbox has at least, tries how many addresses are looked at for another.
const (
	most  = 256
	tries = 16
)

// Table is which addresses of a range stand for which names in one sandbox. It is safe for
// concurrent use.
type Table struct {
	of      string
	within  netip.Prefix
	mu      sync.Mutex
	standby *recent.Map[uint32, reach.Host]
}

// NewTable makes one of a sandbox. The first 256 addresses of the range, which is one of IPv4,
// stand for no name.
func NewTable(sandbox string, within netip.Prefix) *Table {
	return &Table{of: sandbox, within: within, standby: recent.New[uint32, reach.Host](most)}
}

// Address is the address that stands for a name from now on. It is not ok where others have all
// that could.
func (t *Table) Address(host reach.Host) (address netip.Addr, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := sha256.Sum256([]byte(t.of + "\x00" + host.String()))
	first := binary.BigEndian.Uint32(sum[:])
	for i := range uint32(tries) {
		number := t.number(first + i)
		if t.standby.GetOrPut(number, func() reach.Host { return host }) == host {
			return t.address(number), true
		}
	}
	return address, false
}

// Host is the name that an address stands for.
func (t *Table) Host(address netip.Addr) (host reach.Host, ok bool) {
	if !t.within.Contains(address) {
		return host, false
	}
	bytes := address.As4()
	return t.standby.Get(binary.BigEndian.Uint32(bytes[:]) & t.mask())
}

func (t *Table) mask() uint32 { return 1<<(32-t.within.Bits()) - 1 }

// number leaves the first addresses out.
func (t *Table) number(any uint32) uint32 {
	const first = 256
	return first + any%(t.mask()+1-first)
}

func (t *Table) address(number uint32) netip.Addr {
	bytes := t.within.Masked().Addr().As4()
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(bytes[:])|number)))
}
