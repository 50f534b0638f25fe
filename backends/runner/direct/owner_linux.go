package direct

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks bounds the open files that are looked at for one socket.
const mostLinks = 8192

// Owner is the process that has a socket of "tcp" or "udp" whose own end is at an address: one of
// them, where several share it, and 0 where none is found within the bound.
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
	for _, name := range entries("/proc") {
		if number, err := strconv.Atoi(name); err == nil && number > 1 && has("/proc/"+name+"/fd", want, &left) {
			return number
		}
	}
	return 0
}

// has says whether a process has a file open, of which its folder of links tells.
func has(folder, want string, left *int) bool {
	for _, name := range entries(folder) {
		if *left--; *left < 0 {
			return false
		}
		if to, err := os.Readlink(folder + "/" + name); err == nil && to == want {
			return true
		}
	}
	return false
}

func entries(folder string) []string {
	opened, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer opened.Close()
	names, _ := opened.Readdirnames(-1) // of those that end meanwhile some are lacking
	return names
}

// inodeOf reads the kernel's list of sockets. Of "udp" the address may be any.
func inodeOf(network string, end *unix.SockaddrInet4) string {
	list, err := os.ReadFile("/proc/net/" + network)
	if err != nil {
		return ""
	}
	port := fmt.Sprintf(":%04X", end.Port)
	own := fmt.Sprintf("%02X%02X%02X%02X", end.Addr[3], end.Addr[2], end.Addr[1], end.Addr[0]) + port // in the order of the machine
	for line := range bytes.Lines(list) {
		fields := strings.Fields(string(line))
		if len(fields) > 9 && (fields[1] == own || network == "udp" && fields[1] == "00000000"+port) {
			return fields[9]
		}
	}
	return ""
}
