package egress

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// echoing is the address of a server that says what it hears, and after 101 if it is asked for a WebSocket.
func echoing(t *testing.T) string {
	t.Helper()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { echo.Close() })
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}
	}()
	return echo.Addr().String()
}

// tunnelTo opens a tunnel by SOCKS, in which plain TCP is carried.
func tunnelTo(t *testing.T, proxy, service string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(awaittest.End(t)))
	number := netip.MustParseAddrPort(service).Port()
	_, err = io.WriteString(conn, "\x05\x01\x00\x05\x01\x00\x03\x07db.corp"+string([]byte{byte(number >> 8), byte(number)}))
	must(t, err)
	var answer [12]byte
	_, err = io.ReadFull(conn, answer[:])
	must(t, err)
	return conn
}

// speaks says whether a word comes back.
func speaks(conn net.Conn) bool {
	said := make([]byte, 5)
	_, err := io.WriteString(conn, "hello")
	if err == nil {
		_, err = io.ReadFull(conn, said)
	}
	return err == nil && string(said) == "hello"
}

func TestATunnelThatThePoliciesNoLongerLetThroughIsCut(t *testing.T) {
	const way = "tcp db.corp"
	for name, c := range map[string]struct {
		before, after func(*world)
		stays         bool
		rule          string
	}{
		"policies that still allow it": {stays: true, after: func(*world) {}},
		"policies that deny it":        {after: func(w *world) { w.allowed = nil }, rule: "egress.not_in_table"},
		"policies that ask about it": {rule: "egress.new_host", after: func(w *world) {
			w.allowed, w.asks = nil, map[string]string{way: "db.corp"}
		}},
		"policies that open its private address no longer": {rule: "floor.address",
			before: func(w *world) { w.private, w.names = true, map[string][]string{"db.corp": {"10.1.2.3"}} },
			after:  func(w *world) { w.private = false }},
		"policies that ask what was approved": {stays: true,
			before: func(w *world) { w.allowed, w.asks, w.people = nil, map[string]string{way: "db.corp"}, approved },
			after:  func(*world) {}},
		"policies that ask another thing than was approved": {rule: "egress.new_host",
			before: func(w *world) { w.allowed, w.asks, w.people = nil, map[string]string{way: "db.corp"}, approved },
			after:  func(w *world) { w.asks = map[string]string{way: "another"} }},
	} {
		t.Run(name, func(t *testing.T) {
			service := echoing(t)
			w := &world{allowed: map[string]bool{way: true}, names: map[string][]string{"db.corp": {"127.0.0.1"}}, at: service}
			if c.before != nil {
				c.before(w)
			}
			conn := tunnelTo(t, proxied(t, w, service), service)
			if !speaks(conn) {
				t.Fatal("the tunnel is not open")
			}
			w.mu.Lock()
			c.after(w)
			w.mu.Unlock()
			w.proxy.Rejudge(t.Context())
			if speaks(conn) != c.stays {
				t.Errorf("the tunnel stayed open: %v", !c.stays)
			}
			if rules := rulesOf(w); c.stays && len(rules) > 0 || !c.stays && !slices.Equal(rules, []string{c.rule + " db.corp"}) {
				t.Errorf("written down was %q, want %q", rules, c.rule)
			}
		})
	}
}

// What comes into force between the judgement of a tunnel and its first byte counts too.
func TestPoliciesThatChangeWhileATunnelOpensCutIt(t *testing.T) {
	service := echoing(t)
	w := &world{allowed: map[string]bool{"tcp db.corp": true}, names: map[string][]string{"db.corp": {"127.0.0.1"}}}
	w.recorded = func(e Event) {
		if e.What == Opened {
			w.allowed = nil
			w.proxy.Rejudge(t.Context())
		}
	}
	if speaks(tunnelTo(t, proxied(t, w, service), service)) {
		t.Error("the tunnel is open")
	}
	if rules := rulesOf(w); !slices.Equal(rules, []string{"egress.not_in_table db.corp"}) {
		t.Errorf("written down was %q", rules)
	}
}

// A tunnel whose TLS is left closed ends where the policies want its requests judged.
func TestATunnelWhoseRequestsAreToBeJudgedNowIsCut(t *testing.T) {
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	w.opens = false
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	conn, err := net.Dial("tcp", proxied(t, w, address))
	must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	_, err = http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	must(t, err)
	inside := tls.Client(conn, &tls.Config{ServerName: "allowed.test", RootCAs: w.roots})
	must(t, inside.Handshake())
	w.mu.Lock()
	w.opens = true
	w.mu.Unlock()
	w.proxy.Rejudge(t.Context())
	must(t, conn.SetDeadline(awaittest.End(t)))
	if _, err := inside.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the tunnel did not end: %v", err)
	}
	if rules := rulesOf(w); !slices.Equal(rules, []string{ruleRequest + " allowed.test"}) {
		t.Errorf("written down was %q", rules)
	}
}

func TestAWebSocketThatThePoliciesNoLongerLetThroughIsCut(t *testing.T) {
	heard := make(chan error, 1)
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		conn, said, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, err = said.ReadByte()
		heard <- err
	})
	server.TLS.NextProtos = nil
	w.webSocket = true
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	r := asking(t, "GET", "https://"+host+"/live")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	answer, err := program(t, proxied(t, w, address), false).Do(r)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %s", answer.Status)
	}
	w.proxy.Rejudge(t.Context())
	if len(heard) > 0 || len(rulesOf(w)) > 0 {
		t.Errorf("it was cut by policies that allow it: %q", rulesOf(w))
	}
	w.mu.Lock()
	w.webSocket = false
	w.mu.Unlock()
	w.proxy.Rejudge(t.Context())
	if err := <-heard; err == nil {
		t.Error("the server heard something")
	}
	if rules := rulesOf(w); !slices.Equal(rules, []string{ruleRequest + " allowed.test"}) {
		t.Errorf("written down was %q", rules)
	}
	backendtest.Await(t, "the end is written down", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.events, func(e Event) bool { return e.What == Closed })
	})
	if left := w.proxy.standing.next(); len(left) > 0 {
		t.Errorf("%d are judged on after their end", len(left))
	}
}
