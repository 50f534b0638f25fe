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

// Owner is the process that has a socket of "tcp" or "udp" whose own end is at an address: one of
// them, where several share it, and 0 where none is found within the bounds.
func Owner(network string, at unix.Sockaddr) (pid int) {
	end, known := at.(*unix.SockaddrInet4)
	if !known {
		return 0
	}
	inode := inodeOf(network, end)
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

// inodeOf reads the kernel's list of sockets. Of "udp" the address may be any.
func inodeOf(network string, end *unix.SockaddrInet4) string {
	list, err := os.Open("/proc/net/" + network)
	if err != nil {
		return ""
	}
	defer list.Close()
	port := fmt.Sprintf(":%04X", end.Port)
	own := fmt.Sprintf("%02X%02X%02X%02X", end.Addr[3], end.Addr[2], end.Addr[1], end.Addr[0]) + port // in the order of the machine
	for lines := bufio.NewScanner(io.LimitReader(list, mostList)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && (fields[1] == own || network == "udp" && fields[1] == "00000000"+port) {
			return fields[9]
		}
	}
	return ""
}
