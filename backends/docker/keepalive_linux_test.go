package docker

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// A peer that vanished is noticed by what the kernel was told of the connection.
func TestAnEngineThatFellSilentIsGivenUp(t *testing.T) {
	conn, err := location{"tcp", serveNothing(t)}.dialPort(t.Context())
	backendtest.Must(t, err)
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	backendtest.Must(t, err)
	if got := unconfirmed(t, raw); got != 30*time.Second {
		t.Errorf("what was sent may stay unconfirmed for %v", got)
	}
}

// unconfirmed is how long the kernel waits for what was sent to be confirmed.
func unconfirmed(t *testing.T, conn syscall.RawConn) time.Duration {
	t.Helper()
	var value int
	var fault error
	err := conn.Control(func(fd uintptr) { value, fault = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) })
	if err != nil || fault != nil {
		t.Fatal(err, fault)
	}
	return time.Duration(value) * time.Millisecond
}
