package backends

import (
	"context"
	"net"
	"net/netip"
)

// Outlet is a sandbox whose only way out is the sidecar: one that was opened with the
// network "egress".
type Outlet interface {
	// OpenOutlet has the sandbox listen on loopback and hands each connection to serve,
	// each in a goroutine of its own, until the sandbox ends: the first perhaps before
	// it returns. An error means that it opened none; it wraps [ErrUnsupported] where
	// the sandbox was opened with another network, or has an outlet already.
	OpenOutlet(ctx context.Context, terms OutletTerms, serve func(OutletConn)) (OutletFacts, error)
}

// Egress is the network of a sandbox that has no way out but its outlet.
const Egress = "egress"

// None is the network of a sandbox from which nothing outside is reached.
const None = "none"

// OutletTerms say what an outlet is opened with.
type OutletTerms struct {
	// MostConnections is how many are open at once; the runner refuses more.
	MostConnections int
	// CA is the certificate, in PEM, that programs inside are to trust; empty without
	// interception.
	CA []byte
	// Roots are certificates, in PEM, that programs are to trust besides it where the sandbox
	// has none of its own.
	Roots []byte
	// LookUp answers a query of DNS, as it came, by a program of the command with a label, 0 where that is
	// not known; nil where names are not to be looked up. It is called at once for several.
	LookUp func(label uint32, query []byte) Name
}

// Name is the answer to a query, with what the program is to reach then.
type Name struct {
	// Answer is what it reads, nothing where it is empty.
	Answer []byte
	// Address, of [Direct], stands for the name from now on, and connections to these ports of
	// it are handed on. Where none can be, the program reads Failure. It is no address where none is needed.
	Address netip.Addr
	Ports   []uint16
	Failure []byte
}

// Direct is the range of loopback whose addresses stand for names inside a sandbox. Those of its
// first 256 do not.
var Direct = netip.MustParsePrefix("127.128.0.0/10")

// OutletFacts say what the runner opened.
type OutletFacts struct {
	// Port is where it listens, on every address of loopback.
	Port int
	// CAFile is a file inside the sandbox that holds the certificate alone, Bundle one
	// that holds the image's own roots, or those of the terms, and the certificate. Both are empty if the terms
	// had no certificate.
	CAFile, Bundle string
	// Names says that programs look names up, and NoNames why they do not where they were to:
	// then they reach nothing but by the port.
	Names   bool
	NoNames string
}

// OutletConn is one connection of a program in the sandbox. As with TCP, what was written
// before Close still arrives, and a program that goes on sending is told of a reset.
type OutletConn interface {
	net.Conn
	// CloseWrite ends what the sidecar says; the program reads the end of the stream.
	CloseWrite() error
	// Label tells which command connected: the last 22 bits of the address of loopback
	// that it dialled, and 0 for 127.0.0.1. A connection to another address has the label of the
	// command that it is of, 0 where that is not known.
	Label() uint32
	// Direct is the address of [Direct] and the port that a program dialled which takes no
	// proxy; not valid for a connection to the outlet's port.
	Direct() netip.AddrPort
	// Reset ends both directions at once, and the program is told so. A Read or Write that
	// waits ends with the reason.
	Reset(reason string)
}

// OutletHost is the address of loopback that has a label.
func OutletHost(label uint32) netip.Addr {
	if label == 0 {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrFrom4([4]byte{127, 0x40 | byte(label>>16)&0x3f, byte(label >> 8), byte(label)})
}
