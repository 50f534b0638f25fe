package gateway

import (
	"context"
	"errors"
	"net"
)

// peer is the user at the other end of a Unix socket.
type peer struct {
	uid uint32
	err error
}

type peerKey struct{}

var errNoPeer = errors.New("the connection tells no user")

// withPeer asks once, when a connection begins; net/http carries it to the
// requests in no other way.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	ours, ok := c.(*conn)
	if !ok {
		return ctx
	}
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

func peerUID(socket *net.UnixConn) (uid uint32, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	if wrong := raw.Control(func(fd uintptr) { uid, err = credential(int(fd)) }); wrong != nil {
		return 0, wrong
	}
	return uid, err
}
