package docker

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// giveUpSilence ends a connection whose other end has not confirmed for 30 seconds
// what was sent, where the system itself would wait for a quarter of an hour.
func giveUpSilence(_, _ string, conn syscall.RawConn) error {
	var fault error
	err := conn.Control(func(fd uintptr) {
		fault = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 30_000)
	})
	if err != nil {
		return err
	}
	return fault
}
