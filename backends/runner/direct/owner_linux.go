package direct

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks bounds the open files that are looked at for one socket, mostList what is read of the
// list of sockets, and part how many names of a folder are held at once.
const (
	mostLinks = 8192
	mostList  = 1 << 20
	part      = 256
)

// Owner is the process that has a socket of "tcp" or "udp" whose own end is at an address, and whose other end at
// another if that is given: one of them, where several share it, and 0 where none is found within the bounds.
func Owner(network string, at, to unix.Sockaddr) (pid int) {
	end, known := at.(*unix.SockaddrInet4)
	if !known {
		return 0
	}
	other, _ := to.(*unix.SockaddrInet4)
	inode := inodeOf(network, families[0], end, other)
	if inode == "" {
		inode = inodeOf(network, families[1], end, other)
	}
	if inode == "" {
		return 0
	}
	want, left := "socket:["+inode+"]", mostLinks
	for name := range entries("/proc") {
		if number, err := strconv.Atoi(name); err == nil && number > 1 && has("/proc/"+name+"/fd", want, &left) {
			return number
		}
	}
	return 0
}

// has says whether a process has a file open, of which its folder of links tells.
func has(folder, want string, left *int) bool {
	for name := range entries(folder) {
		if *left--; *left < 0 {
			return false
		}
		if to, err := os.Readlink(folder + "/" + name); err == nil && to == want {
			return true
		}
	}
	return false
}

// entries are the names in a folder, of which some are lacking if it goes meanwhile.
func entries(folder string) iter.Seq[string] {
	return func(yield func(string) bool) {
		opened, err := os.Open(folder)
		if err != nil {
			return
		}
		defer opened.Close()
		for {
			names, err := opened.Readdirnames(part)
			for _, name := range names {
				if !yield(name) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// family is how the kernel's list of sockets spells addresses of IPv4: in that of IPv6 are sockets of programs, such as
// Java's, that speak IPv4 by them.
type family struct{ list, before, any string }

var families = [2]family{
	{"", "", "00000000"},
	{"6", "0000000000000000FFFF0000", "00000000000000000000000000000000"},
}

// spelt is an end of a socket in the list, in the machine's order of bytes.
func (f family) spelt(end *unix.SockaddrInet4) string {
	return fmt.Sprintf("%s%02X%02X%02X%02X:%04X", f.before, end.Addr[3], end.Addr[2], end.Addr[1], end.Addr[0], end.Port)
}

// inodeOf reads the kernel's list of sockets. Of "udp" the address may be any. A socket that its program has closed has no inode.
func inodeOf(network string, f family, end, other *unix.SockaddrInet4) string {
	list, err := os.Open("/proc/net/" + network + f.list)
	if err != nil {
		return ""
	}
	defer list.Close()
	own, anywhere, far := f.spelt(end), fmt.Sprintf("%s:%04X", f.any, end.Port), ""
	if other != nil {
		far = f.spelt(other)
	}
	for lines := bufio.NewScanner(io.LimitReader(list, mostList)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && fields[9] != "0" && (fields[1] == own || network == "udp" && fields[1] == anywhere) &&
			(far == "" || fields[2] == far) {
			return fields[9]
		}
	}
	return ""
}
