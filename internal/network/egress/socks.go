package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// Answers of SOCKS5.
const (
	socksOpen        = 0x00
	socksForbidden   = 0x02
	socksUnsupported = 0x07
	socksNoMethod    = 0xff
)

// errSOCKS is a request that is no CONNECT of SOCKS5 without a password.
var (
	errSOCKS         = errors.New("the program asks SOCKS5 for something else than a connection to a host")
	errSOCKSPassword = fmt.Errorf("%w without a password", errSOCKS)
	errSOCKS4        = errors.New("the program speaks SOCKS4")
)

func (p *Proxy) serveSOCKS(ctx context.Context, client net.Conn, of bailiff.Connection) {
	to, written, err := readSOCKS(client)
	switch {
	case errors.Is(err, reach.ErrName):
		of.Host, of.Via, of.Protocol = written, "socks", "tcp"
		p.recordRefusal(ctx, of, refuse(of, ruleName, err.Error(), ""))
		answerSOCKS(client, socksForbidden)
		return
	case errors.Is(err, errSOCKS), errors.Is(err, os.ErrDeadlineExceeded):
		of.Via, of.Protocol = "socks", "tcp"
		p.recordRefusal(ctx, of, headRefusal(of, err))
		answerSOCKS(client, socksUnsupported)
		return
	case err != nil:
		return
	}
	way, no := p.open(ctx, to, "socks", of)
	if no != nil {
		answerSOCKS(client, socksForbidden)
		return
	}
	defer way.close()
	if answerSOCKS(client, socksOpen) == nil {
		p.carry(ctx, client, way)
	}
}

// refuseSOCKS4 refuses what names no hosts, or names them in a way of its own.
func (p *Proxy) refuseSOCKS4(ctx context.Context, client net.Conn, of bailiff.Connection) {
	of.Via, of.Protocol = "socks", "tcp"
	p.recordRefusal(ctx, of, headRefusal(of, errSOCKS4))
	_, _ = client.Write([]byte{0, 0x5b, 0, 0, 0, 0, 0, 0}) // a program that has gone needs no answer
}

func answerSOCKS(client net.Conn, code byte) error {
	_, err := client.Write([]byte{socksVersion, code, 0, 1, 0, 0, 0, 0, 0, 0})
	return err
}

// readSOCKS reads the greeting, answers it, and reads where the program wants to go.
func readSOCKS(client net.Conn) (to reach.Target, written string, err error) {
	methods, err := readCounted(client, 1)
	if err != nil {
		return to, "", err
	}
	if !slices.Contains(methods, 0) {
		_, err := client.Write([]byte{socksVersion, socksNoMethod})
		return to, "", errors.Join(errSOCKSPassword, err)
	}
	if _, err := client.Write([]byte{socksVersion, 0}); err != nil {
		return to, "", err
	}
	var head [4]byte
	if _, err := io.ReadFull(client, head[:]); err != nil {
		return to, "", err
	}
	if head[0] != socksVersion || head[1] != 1 || head[2] != 0 {
		return to, "", errSOCKS
	}
	host, written, hostErr, err := readSOCKSHost(client, head[3])
	if err != nil {
		return to, "", err
	}
	var port [2]byte
	if _, err := io.ReadFull(client, port[:]); err != nil {
		return to, written, err
	}
	to = reach.Target{Host: host, Port: binary.BigEndian.Uint16(port[:])}
	if hostErr == nil {
		_, hostErr = reach.ParseTarget(to.String()) // port 0
	}
	return to, written, hostErr
}

// readSOCKSHost reads the host in whole, and tells apart a host that cannot be read from
// a connection that cannot.
func readSOCKSHost(client net.Conn, kind byte) (host reach.Host, written string, hostErr, err error) {
	switch kind {
	case 1, 4:
		bytes := make([]byte, net.IPv4len)
		if kind == 4 {
			bytes = make([]byte, net.IPv6len)
		}
		if _, err := io.ReadFull(client, bytes); err != nil {
			return host, "", nil, err
		}
		address, _ := netip.AddrFromSlice(bytes) // of one of the two lengths
		return reach.HostOf(address), address.String(), nil, nil
	case 3:
		name, err := readCounted(client, 0)
		if err != nil {
			return host, "", nil, err
		}
		host, hostErr = reach.ParseHost(string(name))
		return host, string(name), hostErr, nil
	}
	return host, "", nil, errSOCKS
}

// readCounted skips some bytes, and reads as many as the next byte says.
func readCounted(client net.Conn, skip int) ([]byte, error) {
	head := make([]byte, skip+1)
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, err
	}
	all := make([]byte, head[skip])
	_, err := io.ReadFull(client, all)
	return all, err
}
