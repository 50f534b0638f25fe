package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"github.com/bailiff-dev/bailiff"
)

// peer is the user at the other end of a Unix socket.
type peer struct {
	uid uint32
	err error
}

type peerKey struct{}

type peerNameKey struct{}

// peerNameOf is the name of a request's peer, see [peerName].
func peerNameOf(ctx context.Context) string {
	name, _ := ctx.Value(peerNameKey{}).(string)
	return name
}

var (
	errNoPeer   = errors.New("the connection tells no user")
	errNoServer = errors.New("the system does not tell which process serves a socket")
)

// withPeer asks once, when a connection begins; net/http carries it to the
// requests in no other way.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	ours := own(c)
	if ours == nil {
		return ctx
	}
	ctx = context.WithValue(ctx, peerNameKey{}, ours.who)
	socket, ok := ours.Conn.(*net.UnixConn)
	if !ok {
		return ctx
	}
	uid, err := peerUID(socket)
	return context.WithValue(ctx, peerKey{}, peer{uid, err})
}

func peerOf(ctx context.Context) peer {
	if p, ok := ctx.Value(peerKey{}).(peer); ok {
		return p
	}
	return peer{err: errNoPeer}
}

// userOf names the user that a request came in by, where the kernel says who it is.
func userOf(ctx context.Context) string {
	if who := peerOf(ctx); who.err == nil {
		return bailiff.Credential(who.uid)
	}
	return ""
}

// CredentialOf names by what a request came in by a [Listener], as [bailiff.Request] has
// it in Peer.
func CredentialOf(r *http.Request) string {
	if user := userOf(r.Context()); user != "" {
		return user
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if isOwn(r.RemoteAddr, local) {
		return bailiff.LocalTCP
	}
	return bailiff.RemoteTCP
}

// isOwn says whether an address is this machine's; one that cannot be told counts
// as its own, since that is who may less.
func isOwn(remote string, local net.Addr) bool {
	there, err := netip.ParseAddrPort(remote)
	if err != nil || local == nil {
		return true
	}
	from := there.Addr().Unmap().WithZone("")
	here, err := netip.ParseAddrPort(local.String())
	if err != nil || from.IsLoopback() || from == here.Addr().Unmap().WithZone("") {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err != nil || prefix.Addr().Unmap().WithZone("") == from {
			return true
		}
	}
	return false
}

func peerUID(socket *net.UnixConn) (uint32, error) {
	uid, _, err := peerProcess(socket)
	return uid, err
}

// peerProcess is the user that connected, and the process, which is zero where the system does not
// tell it.
func peerProcess(socket *net.UnixConn) (uid uint32, pid int32, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	if wrong := raw.Control(func(fd uintptr) { uid, pid, err = credential(int(fd)) }); wrong != nil {
		return 0, 0, wrong
	}
	return uid, pid, err
}

// ServerPID is the process that serves a Unix socket, as the kernel knows it.
func ServerPID(ctx context.Context, path string) (pid int, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errNoPeer
	}
	_, found, err := peerProcess(socket)
	if err == nil && found <= 0 { // the system does not tell, or it is none of the processes that are seen from here
		err = errNoServer
	}
	return int(found), err
}

// peerName tells clients apart: by their process on a Unix socket, by their address on TCP.
func peerName(c net.Conn) string {
	if socket, ok := c.(*net.UnixConn); ok {
		uid, pid, err := peerProcess(socket)
		return fmt.Sprint(uid, " ", pid, " ", err)
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return host
}
