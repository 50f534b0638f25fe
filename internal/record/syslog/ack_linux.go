package syslog

import (
	"crypto/tls"
	"net"
	"syscall"
)

// acknowledge has the kernel acknowledge what came at once, where it would wait for more to send: a receiver that gathers
// small writes (Nagle) has sent one answer and keeps the others until then, tens of milliseconds at the end of each batch.
// The kernel forgets it soon, so that it is said again before each wait. Where it cannot be said it goes as before.
func acknowledge(conn net.Conn) {
	if secured, is := conn.(*tls.Conn); is {
		conn = secured.NetConn()
	}
	tcp, is := conn.(*net.TCPConn)
	if !is {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) })
	}
}
