package settings

import "net"

// IsLoopback says whether a host, by its name or number, is this machine for the process that
// asks from here.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
