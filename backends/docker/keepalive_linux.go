package docker

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setKeepAlive ends a connection whose peer has not confirmed for 30 seconds the bytes
// that were sent, where the system itself would wait for a quarter of an hour.
func setKeepAlive(_, _ string, conn syscall.RawConn) error {
	var fault error
	err := conn.Control(func(fd uintptr) {
		fault = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 30_000)
	})
	if err != nil {
		return err
	}
	return fault
}
