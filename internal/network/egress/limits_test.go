package egress

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// rulesOf are those of the refusals so far.
func rulesOf(w *world) (rules []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.What == Refused {
			rules = append(rules, strings.TrimSpace(e.Rule+" "+e.Connection.Host))
		}
	}
	return rules
}

const wanted = "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n"

func TestMoreConnectionsThanTheLimitAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		most Limits
		want string
	}{
		"of a sandbox": {Limits{1, 100, 1000, 32}, tooManyOpen},
		"of all":       {Limits{100, 1, 1000, 32}, tooManyInAll},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{most: c.most}
			proxy := proxied(t, w, "127.0.0.1:1")
			open, err := net.Dial("tcp", proxy)
			must(t, err)
			defer open.Close()
			_, err = io.WriteString(open, "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
			must(t, err)
			_, err = http.ReadResponse(bufio.NewReader(open), nil) // it is counted in now
			must(t, err)
			got := said(t, proxy, wanted)
			if !strings.HasPrefix(got, "HTTP/1.1 429 ") || !strings.Contains(got, c.want) {
				t.Errorf("got %q", got)
			}
			if rules := rulesOf(w); len(rules) != 2 || rules[1] != ruleTooMany+" allowed.test" {
				t.Errorf("written down was %q", rules)
			}
		})
	}
}

func TestASandboxOpensSoManyConnectionsASecond(t *testing.T) {
	w := &world{most: Limits{100, 100, 1, 32}}
	proxy := proxied(t, w, "127.0.0.1:1")
	answers := make(chan string, 50)
	for range cap(answers) {
		go func() { answers <- said(t, proxy, wanted) }()
	}
	let, refused := 0, 0
	for range cap(answers) {
		switch got := <-answers; {
		case strings.Contains(got, "egress.not_in_table"):
			let++
		case strings.HasPrefix(got, "HTTP/1.1 429 ") && strings.Contains(got, tooManyBegun):
			refused++
		default:
			t.Errorf("got %q", got)
		}
	}
	if let < burst || refused == 0 {
		t.Errorf("%d were judged, %d were refused", let, refused)
	}
}

func TestAConnectionThatEndedMakesRoom(t *testing.T) {
	w := &world{most: Limits{1, 1, 1000, 32}}
	proxy := proxied(t, w, "127.0.0.1:1")
	for range 5 {
		if got := said(t, proxy, wanted); !strings.Contains(got, "egress.not_in_table") {
			// The end of the one before is seen by the program before it is counted out.
			if !strings.Contains(got, tooManyOpen) {
				t.Errorf("got %q", got)
			}
		}
	}
	awaittest.Until(t, "there is room", func() bool { return strings.Contains(said(t, proxy, wanted), "egress.not_in_table") })
}

func TestAHostTakesSoManyRequestsAtOnce(t *testing.T) {
	entered, answer := make(chan bool, 4), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { entered <- true; <-answer }))
	defer server.Close()
	address := server.Listener.Addr().String()
	w := &world{allowed: map[string]bool{"http allowed.test GET": true}, most: Limits{100, 100, 1000, 2},
		names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
	proxy := proxied(t, w, address)
	text := "GET http://allowed.test:" + port(address) + "/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	answers := make(chan string, 3)
	for range 3 {
		go func() { answers <- said(t, proxy, text) }()
	}
	<-entered
	<-entered
	select {
	case <-entered:
		t.Error("three requests came at once")
	case <-time.After(100 * time.Millisecond): // a third would have had time enough
	}
	close(answer)
	<-entered
	for range 3 {
		if got := <-answers; !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Errorf("got %q", got)
		}
	}
}

func TestARequestThatWaitsForItsHostInVainIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter()
		end, excess := m.begin(t.Context(), "s1", Limits{1, 1, 1, 1})
		defer end()
		leave, ok := m.enter(t.Context(), "s1", "a.test", 1)
		if excess != "" || !ok {
			t.Fatalf("the first: %q %v", excess, ok)
		}
		if _, ok := m.enter(t.Context(), "s1", "a.test", 1); ok {
			t.Error("the second had room")
		}
		if _, ok := m.enter(t.Context(), "s1", "b.test", 1); !ok {
			t.Error("another host had none")
		}
		leave()
		leave()
		if _, ok := m.enter(t.Context(), "s1", "a.test", 1); !ok {
			t.Error("no room was made")
		}
	})
}

func TestSandboxesThatOnlyLookNamesUpAreHeldToTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, most := newMeter(), Limits{1, 1, 1, 1}
		allowed := 0
		for range 100 * burst * requestsEach {
			for _, sandbox := range []string{"s1", "s2"} {
				if m.admitQuery(sandbox, most) {
					allowed++
				}
			}
		}
		if allowed != 2*burst*requestsEach {
			t.Errorf("%d look-ups of two sandboxes at once, want %d", allowed, 2*burst*requestsEach)
		}
	})
}

// inMemory is the program's end of a connection to a proxy, by the clock of a test.
func inMemory(t *testing.T, w *world) net.Conn {
	t.Helper()
	floor := reach.NewFloor(nil, func() ([]netip.Addr, error) { return nil, nil })
	proxy, err := New(Config{Judge: w, Recorder: w, Floor: floor,
		Resolver: cmp.Or[Resolver](w.resolver, w), Dialer: cmp.Or[Dialer](w.dialer, w),
		Key: bytes.Repeat([]byte{7}, KeySize), Roots: x509.NewCertPool(), Limits: Limits{1, 1, 1, 1}})
	must(t, err)
	program, conn := net.Pipe()
	go proxy.Serve(t.Context(), conn, bailiff.Connection{Sandbox: "s1"}, nil, request{w})
	return program
}

func TestAHeadThatComesSlowlyIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ before, again string }{
		"HTTP":           {"GET http://a.test/ HTTP/1.1\r\n", "A: b\r\n"},
		"SOCKS":          {"\x05", "\x09"},
		"SOCKS's target": {"\x05\x01\x00", "\x05"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				program := inMemory(t, w)
				defer program.Close()
				go io.Copy(io.Discard, program) //nolint:errcheck // it ends with the connection
				_, err := io.WriteString(program, c.before)
				began := time.Now()
				for err == nil {
					time.Sleep(time.Second) // of the test's own clock
					_, err = fmt.Fprint(program, c.again[:1])
				}
				if took := time.Since(began); took > stepTime+2*time.Second {
					t.Errorf("it took %s", took)
				}
				synctest.Wait()
				if rules := rulesOf(w); len(rules) != 1 || rules[0] != ruleMalformed {
					t.Errorf("written down was %q", rules)
				}
			})
		})
	}
}

// silent is a name server, and the network, of which no answer ever comes.
type silent struct{}

func (silent) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) Dial(ctx context.Context, _ netip.AddrPort, _ func(netip.AddrPort) error) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAConnectionDoesNotWaitForEverForItsHost(t *testing.T) {
	for name, w := range map[string]*world{
		"a resolver that is silent": {resolver: silent{}, allowed: map[string]bool{"tcp a.test": true, "http a.test GET": true}},
		"a host that is silent": {dialer: silent{}, names: map[string][]string{"a.test": {"8.8.8.8"}},
			allowed: map[string]bool{"tcp a.test": true, "http a.test GET": true}},
	} {
		for way, said := range map[string]string{
			"a tunnel":  "CONNECT a.test:5432 HTTP/1.1\r\nHost: a.test\r\n\r\n",
			"a request": "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{resolver: w.resolver, dialer: w.dialer, names: w.names, allowed: w.allowed}
					program := inMemory(t, w)
					defer program.Close()
					began := time.Now()
					_, err := io.WriteString(program, said)
					must(t, err)
					answer, err := http.ReadResponse(bufio.NewReader(program), nil)
					must(t, err)
					defer answer.Body.Close()
					if took := time.Since(began); answer.Header.Get("X-Bailiff-Rule") != ruleUnreachable || took != stepTime {
						t.Errorf("after %s it got %s %v", took, answer.Status, answer.Header)
					}
					program.Close()
					synctest.Wait()
					if rules := rulesOf(w); !slices.Equal(rules, []string{ruleUnreachable + " a.test"}) {
						t.Errorf("written down was %q", rules)
					}
				})
			})
		}
	}
}

func TestATunnelOverWhichNothingPassesIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		p := &Proxy{config: Config{Recorder: w}, standing: &standing{all: map[*stood]bool{}}}
		program, client := net.Pipe()
		server, host := net.Pipe()
		defer program.Close()
		defer host.Close()
		began := time.Now()
		ended := make(chan bool)
		go func() {
			p.tunnel(t.Context(), client, &way{&destination{c: bailiff.Connection{Protocol: "tcp"}}, server, terms{}})
			close(ended)
		}()
		for range 3 {
			time.Sleep(tunnelIdle - time.Second) // of the test's own clock
			_, err := io.WriteString(program, "x")
			must(t, err)
			_, err = host.Read(make([]byte, 1))
			must(t, err)
		}
		<-ended
		if took := time.Since(began); took != 3*(tunnelIdle-time.Second)+tunnelIdle {
			t.Errorf("it ended after %s", took)
		}
	})
}
