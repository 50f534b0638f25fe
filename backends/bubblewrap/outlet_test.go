package bubblewrap_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// withOutlet is a sandbox whose connections serve gets, once before has run in it.
func withOutlet(t *testing.T, serve func(backends.OutletConn), before func(backends.Sandbox)) (backends.Sandbox, backends.OutletFacts) {
	t.Helper()
	wanted := spec
	wanted.Network = backends.Egress
	sandbox := backendtest.Open(t, backend(t), wanted)
	before(sandbox)
	facts, err := sandbox.(backends.Outlet).OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 16}, serve)
	backendtest.Must(t, err)
	return sandbox, facts
}

func nothing(backends.Sandbox) {}

func says(t *testing.T, sandbox backends.Sandbox, script, want string) {
	t.Helper()
	cmd := runner.Shell(script)
	cmd.Timeout, cmd.HeadBytes = time.Minute, 1<<20
	var out strings.Builder
	if exit, err := sandbox.Run(t.Context(), cmd, func(p []byte) { out.Write(p) }); err != nil || out.String() != want {
		t.Errorf("%s\nsaid %q and ended as %+v, %v, want %q", script, out.String(), exit, err, want)
	}
}

// connections are a listener that an HTTP server takes those of an outlet from.
type connections struct {
	conns chan net.Conn
	over  context.Context
}

func (e connections) Accept() (net.Conn, error) {
	select {
	case c := <-e.conns:
		return c, nil
	case <-e.over.Done():
		return nil, net.ErrClosed
	}
}

func (connections) Close() error   { return nil }
func (connections) Addr() net.Addr { return &net.TCPAddr{} }

func TestOrdinaryProgramsSpeakToAProxyOfTheSidecars(t *testing.T) {
	in := connections{make(chan net.Conn), t.Context()}
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d by %s", r.Method, r.URL, len(body), r.Context().Value(http.LocalAddrContextKey))
	})}
	go func() { _ = proxy.Serve(in) }()
	t.Cleanup(func() { proxy.Close() })
	sandbox, facts := withOutlet(t, func(c backends.OutletConn) { in.conns <- c }, nothing)
	at := fmt.Sprintf("http://%s:%d", backends.OutletHost(12345), facts.Port)
	says(t, sandbox, `http_proxy=`+at+` python3 -c 'import urllib.request as u
print(u.urlopen("http://name.test/path", b"x" * 300000).read().decode())'`,
		"POST http://name.test/path 300000 by "+backends.OutletHost(12345).String()+"\n")
	says(t, sandbox, `http_proxy=`+at+` curl -s http://a.test/ http://b.test/ -w '\n'`,
		"GET http://a.test/ 0 by 127.64.48.57\nGET http://b.test/ 0 by 127.64.48.57\n")
}

// listening is a program that has a port.
const listening = `python3 -c 'import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 3128))
s.listen()
print("listens", flush=True)
time.sleep(1000)'`

func TestAnOutletTakesAnotherPortWhereItsUsualOneIsTaken(t *testing.T) {
	sandbox, facts := withOutlet(t, func(c backends.OutletConn) {
		_, _ = io.WriteString(c, "the sidecar\n")
		c.Close()
	}, func(sandbox backends.Sandbox) {
		p, err := sandbox.Start(t.Context(), runner.Shell(listening), "squatter")
		backendtest.Must(t, err)
		backendtest.Await(t, "it listens", func() bool {
			piece, err := p.Log(t.Context(), 0, 100)
			return err == nil && len(piece.Data) > 0
		})
	})
	if facts.Port == 3128 || facts.Port == 0 {
		t.Errorf("the outlet is at port %d", facts.Port)
	}
	says(t, sandbox, fmt.Sprintf("cat </dev/tcp/127.0.0.1/%d", facts.Port), "the sidecar\n")
}

func TestProgramsTrustTheWayOutWithoutVariables(t *testing.T) {
	wanted := spec
	wanted.Network = backends.Egress
	before := digest(t)
	backendtest.TrustsWithoutVariables(t, backendtest.Open(t, backend(t), wanted))
	if after := digest(t); after != before {
		t.Error("the certificates of this machine were changed")
	}
}

func TestProgramsTrustByVariablesAloneWhereTheDiskIsBoundedAndMemoryIsNot(t *testing.T) {
	wanted := spec
	wanted.Network, wanted.MemoryMB = backends.Egress, 0
	says(t, backendtest.Open(t, backend(t), wanted), "test -w /etc/ssl/certs/ca-certificates.crt || echo not writable", "not writable\n")
}

func digest(t *testing.T) string {
	text, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	backendtest.Must(t, err)
	return backends.Digest(string(text))
}

func TestProgramsThatKnowNoProxyFindNames(t *testing.T) {
	wanted := spec
	wanted.Network = backends.Egress
	b := backend(t)
	backendtest.FindsNames(t, backendtest.Open(t, b, wanted), backendtest.Open(t, b, wanted))
}

func TestAnUnprivilegedUsersSandboxFindsNamesToo(t *testing.T) {
	if !backendtest.Unprivileged(t) {
		return
	}
	b := backend(t, func(c *bubblewrap.Config) { c.AcceptMissing = []string{"cpus", "memory_mb", "pids"} })
	wanted := backends.Spec{Owner: "test", Session: "s", Network: backends.Egress, ReadOnly: true}
	backendtest.FindsNames(t, backendtest.Open(t, b, wanted), backendtest.Open(t, b, wanted))
}

// Where something has the resolver's port, programs have the proxy alone, and the reason is told.
func TestWhereTheResolversPortIsTakenTheProxyServesAlone(t *testing.T) {
	wanted := spec
	wanted.Network = backends.Egress
	sandbox := backendtest.Open(t, backend(t), wanted)
	p, err := sandbox.Start(t.Context(), runner.Shell(strings.NewReplacer("127.0.0.1", "127.128.0.53", "3128", "53").Replace(listening)),
		"squatter")
	backendtest.Must(t, err)
	backendtest.Await(t, "it listens", func() bool {
		piece, err := p.Log(t.Context(), 0, 100)
		return err == nil && len(piece.Data) > 0
	})
	backendtest.FindsNoNames(t, sandbox, "listening at port 53: address already in use")
}
