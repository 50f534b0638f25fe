package direct

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Java's sockets and those of others are of IPv6, by which they speak IPv4.
func TestTheOwnerOfASocketIsFoundWhicheverFamilyItIsOf(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	for name, dial := range map[string]func() (int, error){
		"IPv4": func() (int, error) {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
			}
			return fd, err
		},
		"IPv6": func() (int, error) {
			fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Connect(fd, &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}})
			}
			return fd, err
		},
	} {
		fd, err := dial()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer unix.Close(fd)
		accepted, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		from := accepted.RemoteAddr().(*net.TCPAddr)
		program := &unix.SockaddrInet4{Port: from.Port, Addr: [4]byte(from.IP.To4())}
		if got := Owner("tcp", program, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); got != os.Getpid() {
			t.Errorf("%s: the owner is %d, want %d", name, got, os.Getpid())
		}
		if got := Owner("tcp", program, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 2}}); got != 0 {
			t.Errorf("%s: the owner of a socket that leads elsewhere is %d", name, got)
		}
	}
}
