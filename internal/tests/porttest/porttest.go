// Package porttest gives tests ports of this machine to listen on later.
//
// Here: a port that the kernel gives to no connection and no listener on port 0, and
// that no other test on this machine is given as long as this one runs. Not here: ports
// of programs that choose fixed ones; a port that is one of those is passed over.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Below 32768, where Linux by default begins to choose ports by itself (ip(7),
// ip_local_port_range), and above the ports that well-known services have.
const lowest, highest = 20_000, 32_000

// Address is 127.0.0.1 with such a port.
func Address(tb testing.TB) string {
	tb.Helper()
	for range highest - lowest {
		port := lowest + rand.IntN(highest-lowest)
		claim, err := net.Listen("unix", fmt.Sprintf("@bailiff-test-port-%d", port))
		if err != nil {
			continue
		}
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		free, err := net.Listen("tcp", address)
		if err != nil {
			_ = claim.Close()
			continue
		}
		_ = free.Close()
		tb.Cleanup(func() { _ = claim.Close() })
		return address
	}
	tb.Fatal("every port is taken")
	return ""
}
