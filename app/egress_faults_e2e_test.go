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

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// faultyPolicies judge some hosts in ways that no sidecar can use, and mask some events in
// one that no log can.
const faultyPolicies = `package bailiff

deny_connection contains {"rule": "house.odd"} if input.connection.host == "odd.test"

_broken := 1 if input.connection.host == "broken.test"

_broken := 2 if input.connection.host == "broken.test"

deny_connection contains {"rule": "house.broken", "message": "No."} if _broken == 3
`

// What goes wrong between a program and a host refuses its connection alone, and the agent reads
// why. No server hears of it.
func TestAFaultOnTheWayOutRefusesTheConnectionAndIsTold(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	served := func(w http.ResponseWriter, _ *http.Request) { heard.Add(1); fmt.Fprint(w, "served") }
	plain, secured := httptest.NewServer(http.HandlerFunc(served)), httptest.NewTLSServer(http.HandlerFunc(served))
	t.Cleanup(plain.Close)
	t.Cleanup(secured.Close)
	at, sealed := plain.Listener.Addr().String(), secured.Listener.Addr().String()
	_, port, _ := strings.Cut(at, ":")
	_, sealedPort, _ := strings.Cut(sealed, ":")
	hosts := []string{"odd.test", "broken.test", "masked.test", "unfound.test", "unverified.test", "plain.test"}
	var rows strings.Builder
	for _, host := range hosts {
		fmt.Fprintf(&rows, "      %s: [{ports: [%s], protocol: http}, {ports: [%s]}]\n", host, port, sealedPort)
	}
	folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: ["+strings.Join(hosts, ", ")+"]}}\n")
	addRows(t, folder, rows.String())
	save(t, filepath.Join(folder, "house.rego"), faultyPolicies)
	save(t, filepath.Join(folder, "mask.rego"), maskOf(`concat("/", ["", "custom", "message"]) if {
	input.custom.connection.host == "masked.test"
}`))
	const found = "{odd.test: 127.0.0.1, broken.test: 127.0.0.1, masked.test: 127.0.0.1, unverified.test: 127.0.0.1, plain.test: 127.0.0.1}"
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], policies, "egress: {resolver: [\"127.0.0.1:1\"], hosts: "+found+
		", own: [\""+at+"\", \""+sealed+"\"]}"))
	for name, c := range map[string]struct{ address, rule, why string }{
		"an answer of the policies that cannot be read": {"http://odd.test:" + port, "policy.invalid",
			"The policies gave no valid answer about a connection"},
		"policies that fail":      {"http://broken.test:" + port, "policy.error", "eval_conflict_error"},
		"a mask that fails":       {"http://masked.test:" + port, "log.unwritable", "The decision log cannot be written"},
		"a resolver that is down": {"http://unfound.test:" + port, "egress.unreachable", "The host cannot be reached."},
		"a certificate of no one": {"https://unverified.test:" + sealedPort, "egress.unverified", "no certificate that is trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, s.agent, withInput(name, `import sys, urllib.request, urllib.error
try:
    urllib.request.urlopen(sys.stdin.read(), timeout=60)
except urllib.error.HTTPError as refused:
    print(refused.headers["X-Bailiff-Rule"])
except OSError as refused:
    print(refused)
`, c.address))
			wants(t, a, bailiff.Completed, c.why)
			if !strings.Contains(a.Output, c.rule) || a.Egress == nil || len(a.Egress.Blocked) != 1 || a.Egress.Blocked[0].Rule != c.rule {
				t.Errorf("it printed %q, told is %+v, %q", a.Output, a.Egress, a.Message)
			}
		})
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("servers heard of %d requests", n)
	}
	a := ask(t, s.agent, inPython("after", fetch("http://plain.test:"+port+"/")))
	if wants(t, a, bailiff.Completed, ""); a.Output != "served\n" {
		t.Errorf("after the faults it printed %q", a.Output)
	}
}

// speaking opens a tunnel of plain TCP, says a line each time it is told to, and prints what it hears.
const speaking = `import os, socket, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
to = sys.stdin.readline().strip()
s = socket.create_connection((proxy.hostname, proxy.port), timeout=60)
s.sendall(("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (to, to)).encode())
s.recv(4096)
s.sendall(b"hello\n")
print("heard", s.recv(100), flush=True)
s.sendall(b"heard\n")
print("then", s.recv(100), flush=True)
`

// A tunnel that the policies let through no longer ends while its command runs on, and its agent
// reads why.
func TestPoliciesThatChangeCutATunnelInMidTransfer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	begun := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		from := bufio.NewReader(conn)
		line, _ := from.ReadString('\n')
		_, _ = io.WriteString(conn, "welcome\n")
		heard, _ := from.ReadString('\n')
		begun <- line + heard // after which the tunnel may be cut
		_, _ = io.Copy(conn, from)
	}()
	service := listener.Addr().String()
	_, port, _ := strings.Cut(service, ":")
	folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [\"db.test:"+port+"\"]}}\n")
	addRows(t, folder, "      db.test: [{ports: ["+port+"], protocol: tcp}]\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], policies,
		"egress: {hosts: {db.test: 127.0.0.1}, own: [\""+service+"\"]}"))
	asking := send(t.Context(), s.agent, withInput("s", speaking, "db.test:"+port))
	if line := <-begun; line != "hello\nheard\n" {
		t.Fatalf("the server heard %q", line)
	}
	save(t, filepath.Join(folder, "house.rego"), `package bailiff

deny_connection contains {"rule": "house.closed", "message": "It is closed now."} if input.connection.host == "db.test"
`)
	a := asking.end(t)
	wants(t, a, bailiff.Completed, "Refused on the way out: db.test:"+port+" (house.closed, once). It is closed now.")
	if a.Output != "heard b'welcome\\n'\nthen b''\n" {
		t.Errorf("it printed %q", a.Output)
	}
	wantLogged(t, s.folder, a.DecisionID, "opened db.test:"+port, "refused db.test:"+port, "closed db.test:"+port)
}

// addRows puts destinations into a copy of the shipped policies.
func addRows(t *testing.T, folder, rows string) {
	t.Helper()
	path := filepath.Join(folder, "data.yaml")
	tables, err := os.ReadFile(path)
	must(t, err)
	save(t, path, strings.Replace(string(tables), "    destinations:\n", "    destinations:\n"+rows, 1))
}

// What the log has no room for does not leave, though its command runs since there was room.
func TestAFullDiskOfTheLogLetsNothingOut(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	service, port := serving(t, func(*http.Request) string { heard.Add(1); return "served" })
	folder := openDir(t)
	log := filepath.Join(folder, "state", "decisions")
	backendtest.SmallDisk(t, log, "256k")
	must(t, os.Chmod(filepath.Dir(log), 0o711))
	s := startOffice(t, folder, onePerson(t, isolated["bubblewrap"], "egress: {hosts: {plain.test: 127.0.0.1}, own: [\""+service+"\"]}",
		wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
	command := atTerminal("s", "read address; while curl -sS --fail-with-body $address; do :; done; echo; echo ended")
	command.Backend, command.Args.Background = "", true
	started := ask(t, s.agent, command)
	wants(t, started, bailiff.Completed, "Started in the background")
	process := atTerminal("s", "")
	process.Tool, process.Backend = bailiff.Process, ""
	process.Args = bailiff.Args{Action: "submit", ProcessID: started.ProcessID, Data: "http://plain.test:" + port + "/"}
	wants(t, ask(t, s.agent, process), bailiff.Completed, "")
	awaittest.Until(t, "the first request", func() bool { return heard.Load() > 0 })
	mustRun(t, "sh", "-c", "cat /dev/zero >'"+log+"/other' || true")
	awaittest.Until(t, "a connection that is not written down", func() bool {
		page := get(t, s.running, "/metrics")
		return strings.Contains(page, `bailiff_egress_connections_total{backend="bubblewrap",outcome="unavailable"} 1`)
	})
	unheard := heard.Load()
	must(t, os.Remove(filepath.Join(log, "other")))
	process.Args = bailiff.Args{Action: "wait", ProcessID: started.ProcessID}
	wants(t, ask(t, s.agent, process), bailiff.Completed, "")
	if now := heard.Load(); now != unheard {
		t.Errorf("the server heard of %d requests that are in no log", now-unheard)
	}
	process.Args = bailiff.Args{Action: "log", ProcessID: started.ProcessID}
	a := ask(t, s.agent, process)
	wants(t, a, bailiff.Completed, "plain.test:"+port+" (log.unwritable, ")
	if !strings.Contains(a.Output, `"rule":"log.unwritable"`) || !strings.HasSuffix(a.Output, "ended\n") {
		t.Errorf("it printed %q", a.Output)
	}
}

// A program whose sidecar is killed in the middle of a transfer is told at once that it ends, and
// the opening of the transfer is in the log.
func TestATransferEndsWithItsSidecar(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	}))
	t.Cleanup(server.Close)
	service := server.Listener.Addr().String()
	_, port, _ := strings.Cut(service, ":")
	folder := openDir(t)
	text := onePerson(t, dockerBackend, keepNoneReady, "egress: {hosts: {plain.test: 127.0.0.1}, own: [\""+service+"\"]}",
		wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n"))
	before := launch(t, folder, text)
	before.awaitServing(t)
	command := atTerminal("s", "curl -sS http://plain.test:"+port+"/a >/dev/null; echo it ended with $? > ended")
	command.Backend, command.Args.Background = "", true
	started := mustComplete(t, before.agent, command)
	<-begun
	before.kill()
	after := launch(t, folder, text)
	after.awaitServing(t)
	reading := atTerminal("s", "cat ended || true")
	reading.Backend = ""
	awaittest.Until(t, "the end of the transfer", func() bool {
		said := mustComplete(t, after.agent, reading).Output
		return strings.HasPrefix(said, "it ended with ") && said != "it ended with 0\n"
	})
	wantLogged(t, folder, started.DecisionID, "opened plain.test:"+port)
	after.stop(t)
	wantNothingOf(t, folder, text)
}
