package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// rowPorts are those that rows of any host name.
type rowPorts []uint16

func (p rowPorts) Ports(string) []uint16 { return p }

// lookUp has a program in a sandbox look a name up, and says what it reads.
func (w *world) lookUp(t *testing.T, sandbox, name string, kind dnsmessage.Type) (code string, answer backends.Name) {
	t.Helper()
	query, err := (&dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind,
		Class: dnsmessage.ClassINET}}}).Pack()
	must(t, err)
	answer = w.proxy.LookUp(t.Context(), query, bailiff.Connection{Backend: "docker", Sandbox: sandbox}, request{w})
	var m dnsmessage.Message
	must(t, m.Unpack(answer.Answer))
	code = strings.TrimPrefix(m.RCode.String(), "RCode")
	for _, a := range m.Answers {
		code += " " + netip.AddrFrom4(a.Body.(*dnsmessage.AResource).A).String()
	}
	return code, answer
}

// dialled is a connection of a program that dialled an address itself.
type dialled struct {
	net.Conn
	at netip.AddrPort
}

func (d dialled) Direct() netip.AddrPort { return d.at }
func (d dialled) Reset(string)           { d.Conn.Close() }

// directly dials an address in sandbox s1.
func (w *world) directly(t *testing.T, at netip.AddrPort) net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	program, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	conn, err := listener.Accept()
	must(t, err)
	must(t, program.SetDeadline(awaittest.End(t)))
	served, ctx := make(chan struct{}), t.Context()
	go func() {
		defer close(served)
		w.proxy.Serve(ctx, dialled{conn, at}, bailiff.Connection{Backend: "docker", Sandbox: "s1"}, w.swapped, request{w})
	}()
	t.Cleanup(func() { program.Close(); <-served })
	return program
}

// standing is the address of a name in sandbox s1.
func (w *world) standsFor(t *testing.T, name string) netip.Addr {
	t.Helper()
	code, answer := w.lookUp(t, "s1", name, dnsmessage.TypeA)
	if !answer.Address.IsValid() {
		t.Fatalf("%s: %s", name, code)
	}
	return answer.Address
}

func TestANameIsAnsweredIfThePoliciesLetItBeReached(t *testing.T) {
	w := &world{ports: rowPorts{5432, 443}, allowed: map[string]bool{"https allowed.test": true, "tcp db": true},
		asks: map[string]string{"https new.test": "new.test"}}
	proxied(t, w, "127.0.0.1:1")
	address := w.standsFor(t, "allowed.test.")
	for _, c := range []struct {
		name string
		kind dnsmessage.Type
		want string
	}{
		{"allowed.test.", dnsmessage.TypeA, "Success " + address.String()},
		{"ALLOWED.Test.", dnsmessage.TypeA, "Success " + address.String()},
		{"allowed.test.", dnsmessage.TypeAAAA, "Success"},
		{"allowed.test.", dnsmessage.TypeTXT, "Success"},
		{"new.test.", dnsmessage.TypeAAAA, "Success"},
		{"db.", dnsmessage.TypeAAAA, "Success"},
		{"other.test.", dnsmessage.TypeA, "NameError"},
		{"other.test.", dnsmessage.TypeAAAA, "NameError"},
		{"long-data-in-a-name.other.test.", dnsmessage.TypeTXT, "NameError"},
		{"x.allowed.test.", dnsmessage.TypeA, "NameError"},
		{"sandbox.", dnsmessage.TypeA, "NameError"},
		{"1.2.128.127.in-addr.arpa.", dnsmessage.TypePTR, "NameError"},
		{"_http._tcp.allowed.test.", dnsmessage.TypeSRV, "NameError"},
		{"10.0.0.1.", dnsmessage.TypeA, "NameError"},
		{".", dnsmessage.TypeNS, "NameError"},
	} {
		if code, _ := w.lookUp(t, "s1", c.name, c.kind); code != c.want {
			t.Errorf("to %s %s it says %s, want %s", c.kind, c.name, code, c.want)
		}
	}
	_, answer := w.lookUp(t, "s1", "allowed.test.", dnsmessage.TypeA)
	if !slices.Equal(answer.Ports, []uint16{443, 80, 22, 5432}) || !backends.Direct.Contains(address) || len(answer.Failure) == 0 {
		t.Errorf("the answer is %+v", answer)
	}
	if got, want := rulesOf(w), []string{"egress.not_in_table other.test", "egress.not_in_table long-data-in-a-name.other.test",
		"egress.not_in_table x.allowed.test"}; !slices.Equal(got, want) {
		t.Errorf("refused are %q, want %q", got, want)
	}
	for _, step := range w.done() {
		if strings.HasPrefix(step, "resolve") || strings.HasPrefix(step, "ask") || strings.HasPrefix(step, "dial") {
			t.Errorf("a look-up has the proxy %s", step)
		}
	}
	for _, e := range w.events {
		if e.Connection.Port != 0 || !e.Connection.Direct || e.Judged != nil {
			t.Errorf("an event is %+v", e)
		}
	}
}

// What a program dials itself is the tunnel that it would ask a proxy for: TLS is ended, requests are
// judged and given values, and the names must be one.
func TestADirectConnectionIsJudgedAsATunnelToItsName(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+tokenOutside {
			t.Errorf("the server is given %q", r.Header.Get("Authorization"))
		}
		fmt.Fprint(w, r.Method, " ", r.Header.Get("Authorization"))
	})
	service := server.Listener.Addr().String()
	to := netip.MustParseAddrPort(service).Port()
	w.ports, w.denied["POST /"] = rowPorts{to}, true
	w.swapped = []bailiff.Swapped{{StandIn: tokenInside, Value: bailiff.NewSecret(tokenOutside),
		Swap: bailiff.Swap{Name: "TOKEN", Hosts: []string{fmt.Sprintf("allowed.test:%d", to)}, In: []string{"authorization"}}}}
	proxied(t, w, service)
	at := netip.AddrPortFrom(w.standsFor(t, "allowed.test."), to)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext:     func(context.Context, string, string) (net.Conn, error) { return w.directly(t, at), nil },
		TLSClientConfig: &tls.Config{RootCAs: trusting(t)}}}
	address := fmt.Sprintf("https://allowed.test:%d/", to)
	if status, rule, _ := answered(t, client, asking(t, "POST", address)); status != http.StatusForbidden || rule != "egress.not_in_table" {
		t.Errorf("a request that is denied gets %d, %s", status, rule)
	}
	get := asking(t, "GET", address)
	get.Header.Set("Authorization", "Bearer "+tokenInside)
	if _, _, body := answered(t, client, get); body != "GET Bearer [TOKEN redacted]" { // scrubbed on its way back
		t.Errorf("an allowed one gets %q", body)
	}
	program := w.directly(t, at)
	if err := tls.Client(program, &tls.Config{ServerName: "other.test", InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("TLS for another name is ended")
	}
	awaittest.Until(t, "the refusal of the other name", func() bool { return len(rulesOf(w)) == 2 })
	plain := w.directly(t, at)
	_, err := io.WriteString(plain, "SSH-2.0-x\r\n")
	must(t, err)
	_, _ = io.ReadAll(plain)
	awaittest.Until(t, "the refusals", func() bool { return len(rulesOf(w)) == 3 })
	if got, want := rulesOf(w), []string{"egress.not_in_table allowed.test", "egress.host_mismatch allowed.test",
		"egress.opaque allowed.test"}; !slices.Equal(got, want) {
		t.Errorf("refused are %q, want %q", got, want)
	}
}

// A name that stands for an address which no sandbox may reach is answered, and leads nowhere.
func TestADirectConnectionIsHeldToTheFloor(t *testing.T) {
	w := &world{ports: rowPorts{}, allowed: map[string]bool{"tcp allowed.test": true}, names: map[string][]string{
		"allowed.test": {"127.0.0.1"}}}
	proxied(t, w, "127.0.0.1:1")
	program := w.directly(t, netip.AddrPortFrom(w.standsFor(t, "allowed.test."), 22))
	_, _ = io.ReadAll(program)
	if got := rulesOf(w); !slices.Equal(got, []string{"floor.address allowed.test"}) {
		t.Errorf("refused are %q", got)
	}
}

func TestAnAddressThatStandsForNoNameLeadsNowhere(t *testing.T) {
	w := &world{ports: rowPorts{}, allowed: map[string]bool{"tcp allowed.test": true}}
	proxied(t, w, "127.0.0.1:1")
	_, ofOther := w.lookUp(t, "s2", "allowed.test.", dnsmessage.TypeA)
	own := w.standsFor(t, "allowed.test.")
	dial := func(address netip.Addr) {
		_, _ = io.ReadAll(w.directly(t, netip.AddrPortFrom(address, 443)))
	}
	for _, address := range []netip.Addr{netip.MustParseAddr("127.128.99.99"), netip.MustParseAddr("127.128.0.53"), ofOther.Address} {
		dial(address)
	}
	c := w.proxy.now.Load().config
	c.Ports = nil
	must(t, w.proxy.Change(c))
	dial(own)
	if code, _ := w.lookUp(t, "s1", "allowed.test.", dnsmessage.TypeA); code != "Refused" || w.proxy.Names() {
		t.Errorf("where it is switched off, a name gets %s", code)
	}
	want := []string{"egress.unreachable 127.128.99.99", "egress.unreachable 127.128.0.53",
		"egress.unreachable " + ofOther.Address.String(), "egress.unreachable " + own.String()}
	if got := rulesOf(w); !slices.Equal(got, want) {
		t.Errorf("refused are %q, want %q", got, want)
	}
}

// A program that looks a name up and gives a proxy the address means the name.
func TestAProxyIsToldTheAddressOfAName(t *testing.T) {
	w := &world{ports: rowPorts{}, allowed: map[string]bool{"tcp allowed.test": true}, names: map[string][]string{
		"allowed.test": {"127.0.0.1"}}}
	proxy := proxied(t, w, "127.0.0.1:1")
	at := w.standsFor(t, "allowed.test.").String() + ":22"
	if got := said(t, proxy, "CONNECT "+at+" HTTP/1.1\r\nHost: "+at+"\r\n\r\n"); !strings.Contains(got, "floor.address") {
		t.Errorf("it says %q", got)
	}
	const never = "127.128.99.99:22"
	if got := said(t, proxy, "CONNECT "+never+" HTTP/1.1\r\nHost: "+never+"\r\n\r\n"); !strings.Contains(got, "egress.not_in_table") {
		t.Errorf("of an address that stands for no name it says %q", got)
	}
}

func TestASandboxLooksSoManyNamesUpASecond(t *testing.T) {
	w := &world{ports: rowPorts{}, most: Limits{256, 4096, 1, 32}}
	proxied(t, w, "127.0.0.1:1")
	codes := map[string]int{}
	for i := range burst*requestsEach + 40 {
		code, _ := w.lookUp(t, "s1", fmt.Sprintf("n%d.other.test.", i), dnsmessage.TypeTXT)
		codes[code]++
	}
	if codes["NameError"] < burst*requestsEach || codes["ServerFailure"] == 0 || len(codes) != 2 {
		t.Errorf("the answers are %v", codes)
	}
	if rules := rulesOf(w); !strings.HasPrefix(rules[len(rules)-1], ruleTooMany) {
		t.Errorf("the last refusal is %s", rules[len(rules)-1])
	}
}
