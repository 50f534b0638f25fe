package backendtest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

//go:embed reach.py
var reacher string

// reaching is a program that calls a function of reach.py.
func reaching(function string, arguments ...any) backends.Command {
	words := make([]string, len(arguments))
	for i, argument := range arguments {
		text, _ := json.Marshal(argument) // which Python reads as well
		words[i] = string(text)
	}
	return python(fmt.Sprintf("%s\n%s(%s)\n", reacher, function, strings.Join(words, ", ")))
}

// noNetwork offers listeners of every kind on this machine and tries to reach them from inside,
// and addresses that only a network leads to.
func noNetwork(t *testing.T, b box) {
	port, paths := listeners(t)
	hosts := append(addresses(t), "169.254.169.254", "fd00:ec2::254", "198.51.100.1")
	b.prints("what is reached", reaching("reach", hosts, port, paths), "")
	b.prints("what there is of the network", reaching("change"), "interface lo\n")
	b.says("wc -l </proc/net/unix", "1\n") // its heading: no socket of anyone's
	b.says("tail -n +2 /proc/net/route; grep -v lo$ /proc/net/ipv6_route 2>/dev/null; true", "")
}

// listeners listens on a port of every address, for packets too, and on sockets with
// and without a file.
func listeners(t *testing.T) (port int, paths []string) {
	listener, err := net.Listen("tcp", ":0")
	Must(t, err)
	t.Cleanup(func() { listener.Close() })
	port = listener.Addr().(*net.TCPAddr).Port
	packets, err := net.ListenPacket("udp", fmt.Sprintf(":%d", port))
	Must(t, err)
	t.Cleanup(func() { packets.Close() })
	folder, err := os.MkdirTemp("/tmp", "bailiff-sockets")
	Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	for _, path := range []string{filepath.Join(folder, "socket"), "@bailiff" + marker()} {
		listener, err := net.Listen("unix", path)
		Must(t, err)
		t.Cleanup(func() { listener.Close() })
		paths = append(paths, path)
	}
	return port, append(paths, "/run/docker.sock", "/run/dbus/system_bus_socket")
}

// addresses are all of this machine's but those that need a zone.
func addresses(t *testing.T) (list []string) {
	all, err := net.InterfaceAddrs()
	Must(t, err)
	for _, address := range all {
		if ip := address.(*net.IPNet).IP; !ip.IsLinkLocalUnicast() {
			list = append(list, ip.String())
		}
	}
	return list
}

// apart meets, in one sandbox, what another one offers.
func apart(t *testing.T, b box) {
	other := b.another(t, b.spec)
	name, key, port := marker(), 1+rand.IntN(1<<30), 20000+rand.IntN(10000)
	offer := reaching("kept = offer", port, name, key)
	offer.Stdin = append(offer.Stdin, "import time; time.sleep(1000)\n"...)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var heard strings.Builder
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = other.Run(ctx, offer, func(p []byte) {
			if heard.Write(p); strings.HasSuffix(heard.String(), "ready\n") {
				close(ready)
			}
		})
	}()
	select {
	case <-ready:
	case <-ended:
		t.Fatalf("the other one could not offer: %s", heard.String())
	}
	b.prints("what is met", reaching("meet", port, name, key), "")
	cancel()
	<-ended
	if got := strings.Count(heard.String(), "\n"); got != 7 { // each way leads somewhere
		t.Errorf("the other one met of itself\n%s", heard.String())
	}
}
