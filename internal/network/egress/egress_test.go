package egress

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// world is what a proxy meets in a test: hosts that are allowed, names that resolve, and
// what was done in which order.
type world struct {
	mu        sync.Mutex
	allowed   map[string]bool // "protocol host:port", and a method after it where one is known
	names     map[string][]string
	asks      map[string]string // what "protocol host:port method" is asked about
	people    func() (bailiff.Approval, error)
	denied    map[string]bool // "method path" that is refused although the host is allowed
	opens     bool            // TLS is to be ended here
	narrow    bool            // requests inside TLS must be judged
	private   bool            // private addresses are opened
	webSocket bool            // a request may become one
	bounds    bailiff.ConnectionLimits
	at        string // where dialling leads, if not to what was resolved
	swapped   []bailiff.Swapped
	roots     *x509.CertPool
	most      Limits
	own       *Authority
	dialer    Dialer // the world itself, if nil
	resolver  Resolver
	ports     Ports // of programs that know no proxy; nil without any
	logFails  bool
	recorded  func(Event) // is told of what is written down
	proxy     *Proxy
	steps     []string
	events    []Event
}

func (w *world) step(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *world) Connection(_ context.Context, c bailiff.Connection) bailiff.ConnectionJudgement {
	asked := strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Protocol, c.Host, c.Method))
	w.step("judge %s", asked)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.allowed[asked] && !w.denied[c.Method+" "+c.Path] && (c.Intercepted || !w.narrow) {
		return bailiff.ConnectionJudgement{Outcome: bailiff.Allow, Intercept: w.opens, Private: w.private, WebSocket: w.webSocket,
			Limits: w.bounds}
	}
	if match, ok := w.asks[asked]; ok {
		return bailiff.ConnectionJudgement{Outcome: bailiff.Ask, Intercept: w.opens, Private: w.private,
			Approval: &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "egress.new_host", Message: "Is it new?", Match: match}}}}
	}
	return bailiff.ConnectionJudgement{Denials: []bailiff.Reason{{Rule: "egress.not_in_table", Message: "No.", Instead: "Another."}}}
}

func (w *world) trusted() *x509.CertPool {
	if w.roots != nil {
		return w.roots
	}
	return x509.NewCertPool()
}

func (w *world) Record(_ context.Context, e Event) error {
	w.step("record %s", e.What)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.logFails {
		return errors.New("the disk is full")
	}
	w.events = append(w.events, e)
	if w.recorded != nil {
		w.recorded(e)
	}
	return nil
}

func (w *world) LookupNetIP(_ context.Context, _, host string) (found []netip.Addr, err error) {
	w.step("resolve %s", host)
	for _, one := range w.names[strings.TrimSuffix(host, ".")] {
		found = append(found, netip.MustParseAddr(one))
	}
	return found, nil
}

func (w *world) Dial(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error) {
	w.step("dial %s", to)
	if w.at != "" {
		if err := check(to); err != nil {
			return nil, err
		}
		return net.Dial("tcp", w.at)
	}
	return NetDialer{}.Dial(ctx, to, check)
}

func (w *world) done() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.steps)
}

// proxied is an address at which the proxy serves; the service is the one of this machine
// that may be reached.
func proxied(t testing.TB, w *world, service string) string {
	t.Helper()
	floor := reach.NewFloor([]netip.AddrPort{netip.MustParseAddrPort(service)}, func() ([]netip.Addr,
		error) {
		return []netip.Addr{}, nil
	})
	proxy, err := New(Config{Judge: w, Recorder: w, Floor: floor,
		Resolver: cmp.Or[Resolver](w.resolver, w), Dialer: cmp.Or[Dialer](w.dialer, w),
		Key: bytes.Repeat([]byte{7}, KeySize), Roots: w.trusted(), Authority: w.own, Ports: w.ports,
		Limits: cmp.Or(w.most, Limits{256, 4096, 10_000, 32})})
	if err != nil {
		t.Fatal(err)
	}
	w.proxy = proxy
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				w.mu.Lock()
				swapped := slices.Clone(w.swapped)
				w.mu.Unlock()
				proxy.Serve(ctx, conn, bailiff.Connection{Backend: "docker", Sandbox: "s1"}, swapped, request{w})
			})
		}
	})
	t.Cleanup(func() { listener.Close(); cancel(); serving.Wait() })
	return listener.Addr().String()
}

// request hears of its connections.
type request struct{ *world }

func (l request) Ask(_ context.Context, terms bailiff.ApprovalTerms) (bailiff.Approval, error) {
	l.step("ask %s", terms.Reasons[0].Match)
	return l.people()
}
func (request) Refused(bailiff.Blocked)     {}
func (request) Closed(_ string, _, _ int64) {}

// said is what the proxy answers to a text, up to the end or the deadline.
func said(t *testing.T, proxy, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(awaittest.End(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := closeWrite(conn); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("the proxy neither answered nor closed; so far %.500q", all)
	}
	return string(all)
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

func TestARefusedHostIsNeverResolved(t *testing.T) {
	for name, text := range map[string]string{
		"CONNECT":        "CONNECT data.evil.test:443 HTTP/1.1\r\nHost: data.evil.test:443\r\n\r\n",
		"forward":        "GET http://data.evil.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"SOCKS":          "\x05\x01\x00\x05\x01\x00\x03\x0edata.evil.test\x01\xbb",
		"a number":       "CONNECT 8.8.8.8:443 HTTP/1.1\r\nHost: 8.8.8.8:443\r\n\r\n",
		"data in labels": "CONNECT c2VjcmV0.0001.data.evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"DNS over TLS":   "CONNECT 1.1.1.1:853 HTTP/1.1\r\nHost: 1.1.1.1:853\r\n\r\n",
		"DNS over HTTPS": "CONNECT dns.evil.test:443 HTTP/1.1\r\nHost: dns.evil.test:443\r\n\r\n",
		"DNS by TCP":     "CONNECT 8.8.8.8:53 HTTP/1.1\r\nHost: 8.8.8.8:53\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{allowed: map[string]bool{"http allowed.test GET": true}}
			got := said(t, proxied(t, w, "127.0.0.1:1"), text)
			if name == "SOCKS" && got != "\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00" {
				t.Errorf("got %q", got)
			}
			if name != "SOCKS" && (!strings.HasPrefix(got, "HTTP/1.1 403 ") || !strings.Contains(got,
				"X-Bailiff-Rule: egress.not_in_table\r\n") ||
				!strings.Contains(got, `"message":"No.","instead":"Another."`)) {
				t.Errorf("got %q", got)
			}
			for _, step := range w.done() {
				if !strings.HasPrefix(step, "judge ") && step != "record refused" {
					t.Errorf("it did %q", step)
				}
			}
		})
	}
}

// Programs print the line of status of a tunnel's refusal, and never its body.
func TestTheLineOfStatusOfARefusedTunnelSaysWhy(t *testing.T) {
	for name, text := range map[string]string{
		"a host":    "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
		"read late": "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n" + strings.Repeat("more", 1<<16),
	} {
		got := said(t, proxied(t, &world{}, "127.0.0.1:1"), text)
		if want := "HTTP/1.1 403 Refused by bailiff (egress.not_in_table): No. Another.\r\n"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"No.\r\nX-Evil: 1": "No.  X-Evil: 1", "Größe\x00": "Gr  e", strings.Repeat("a", 400): strings.Repeat("a", longestPhrase),
	} {
		if got := phrase(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A thousand names that are refused are a thousand refusals, and no look-up.
func TestManyRefusedNamesAreNotResolvedEither(t *testing.T) {
	w := &world{}
	proxy := proxied(t, w, "127.0.0.1:1")
	for i := range 1000 {
		text := fmt.Sprintf("CONNECT n%d.evil.test:443 HTTP/1.1\r\nHost: x\r\n\r\n", i)
		if got := said(t, proxy, text); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
			t.Fatalf("name %d: %q", i, got)
		}
	}
	if slices.ContainsFunc(w.done(), func(step string) bool { return strings.HasPrefix(step, "resolve") }) {
		t.Error("a name was resolved")
	}
}

func TestAnAmbiguousDestinationIsNotEvenJudged(t *testing.T) {
	for name, text := range map[string]string{
		"NUL in a SOCKS name": "\x05\x01\x00\x05\x01\x00\x03\x0ea.test\x00.b.test\x01\xbb",
		"port 0 by SOCKS":     "\x05\x01\x00\x05\x01\x00\x03\x06a.test\x00\x00",
		"UDP by SOCKS":        "\x05\x01\x00\x05\x03\x00\x03\x06a.test\x01\xbb",
		"hex":                 "CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"user":                "CONNECT user@a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"two ports":           "CONNECT a.test:443:80 HTTP/1.1\r\nHost: x\r\n\r\n",
		"user in a URL":       "GET http://a.test@b.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"https by GET":        "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"origin form":         "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"dots":                "GET http://a.test/a/../admin HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"encoded dots":        "GET http://a.test/%2e%2e/admin HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"an encoded way up":   "GET http://a.test/a%2f..%2fadmin HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"another method":      "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-HTTP-Method-Override: DELETE\r\n\r\n",
		"another path":        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Original-URL: /admin\r\n\r\n",
		"a dot of two bytes":  "GET http://a.test/%c0%ae%c0%ae/admin HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"two slashes":         "GET http://a.test//admin HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"semicolon":           "GET http://a.test/a;b HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"backslash":           "GET http://a.test/a%5cb HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"twice encoded":       "GET http://a.test/a%252fb HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"TRACE":               "TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"upgrade":             "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
		"two lengths":         "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"odd encoding":        "POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n",
		"SOCKS4":              "\x04\x01\x01\xbb\x00\x00\x00\x01\x00a.test\x00",
		"SOCKS by password":   "\x05\x01\x02",
		"no HTTP":             "hello\r\n\r\n",
		"a long URL":          "GET http://a.test/" + strings.Repeat("x", 17<<10) + " HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"many headers":        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + strings.Repeat("A: b\r\n", 201) + "\r\n",
		"endless headers":     "GET http://a.test/ HTTP/1.1\r\nA: " + strings.Repeat("x", 80<<10) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			got := said(t, proxied(t, w, "127.0.0.1:1"), text)
			if strings.HasPrefix(got, "HTTP/1.1 200 ") || strings.HasPrefix(got, "\x05\x00\x05\x00") || got == "" {
				t.Errorf("got %q", got)
			}
			if steps := w.done(); !slices.Equal(steps, []string{"record refused"}) {
				t.Errorf("it did %q", steps)
			}
		})
	}
}

func TestAPlainRequestIsJudgedAndWrittenAnew(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":443"`)
		fmt.Fprintf(w, "%s %s %s|%s|%s", r.Method, r.Host, r.URL, r.Header.Get("Proxy-Authorization"), r.Header.Get("Via"))
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	w := &world{allowed: map[string]bool{"http allowed.test GET": true}, names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
	host := "allowed.test:" + port(address)
	text := "GET http://" + host + "/a?b=c HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: secret\r\n\r\n" +
		"POST http://" + host + "/push HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n\r\n"
	got := said(t, proxied(t, w, address), text)
	if !strings.Contains(got, "GET "+host+" /a?b=c||") || strings.Contains(got, "Alt-Svc") || strings.Contains(got, "POST "+host) ||
		!strings.Contains(got, " 403 ") {
		t.Errorf("got %q", got)
	}
	want := []string{"judge http allowed.test GET", "record opened", "resolve allowed.test.", "dial " + address,
		"record closed", "judge http allowed.test POST",
		"record refused"}
	if steps := w.done(); !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
}

func TestForbiddenAddressesAreNotDialled(t *testing.T) {
	for name, addresses := range map[string][]string{
		"metadata": {"169.254.169.254"}, "mixed": {"8.8.8.8", "127.0.0.1"}, "mapped": {"::ffff:127.0.0.1"},
		"private": {"10.0.0.1"}, "none": {},
	} {
		w := &world{allowed: map[string]bool{"https allowed.test": true}, names: map[string][]string{"allowed.test": addresses}}
		got := said(t, proxied(t, w, "127.0.0.1:1"), "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n")
		steps := w.done()
		if !strings.HasPrefix(got, "HTTP/1.1 403 ") || slices.ContainsFunc(steps,
			func(s string) bool { return strings.HasPrefix(s, "dial") }) {
			t.Errorf("%s: %q, steps %q", name, got, steps)
		}
		for _, address := range addresses {
			if strings.Contains(got, address) {
				t.Errorf("%s: the sandbox is told of %s", name, address)
			}
		}
	}
}

func TestALogThatCannotBeWrittenLetsNothingOut(t *testing.T) {
	w := &world{allowed: map[string]bool{"https allowed.test": true}, logFails: true}
	got := said(t, proxied(t, w, "127.0.0.1:1"), "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n")
	want := []string{"judge https allowed.test", "judge https allowed.test", "record opened"} // once for each way of TLS
	if !strings.Contains(got, "log.unwritable") || !slices.Equal(w.done(), want) {
		t.Errorf("got %q, steps %q", got, w.done())
	}
}

// tunnelled opens a tunnel by CONNECT, and has TLS in it ask for a name.
func tunnelled(t *testing.T, proxy, host, name string) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT: %v %v", answer, err)
	}
	inside := tls.Client(&buffered{conn, from}, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // whom the test asks is its own
	if _, err := io.WriteString(inside, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return "", err
	}
	all, err := io.ReadAll(inside)
	return string(all), err
}

func TestATunnelIsTLSForTheHostThatWasJudged(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") }))
	defer server.Close()
	address := server.Listener.Addr().String()
	w := &world{allowed: map[string]bool{"https allowed.test": true}, names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
	proxy, host := proxied(t, w, address), "allowed.test:"+port(address)
	if got, err := tunnelled(t, proxy, host, "allowed.test"); err != nil || !strings.HasSuffix(got, "inside") {
		t.Errorf("its own name: %q %v", got, err)
	}
	for _, name := range []string{"evil.test", ""} {
		if got, err := tunnelled(t, proxy, host, name); err == nil || got != "" {
			t.Errorf("the name %q: %q %v", name, got, err)
		}
	}
	got := said(t, proxy, "CONNECT "+host+" HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n")
	if strings.Contains(got, "inside") || strings.Contains(got, "400") {
		t.Errorf("plain bytes in a tunnel: %q", got)
	}
}

func TestSOCKSCarriesPlainTCPWhereARowSaysSo(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); io.Copy(conn, conn) }()
		}
	}()
	address := echo.Addr().String()
	w := &world{allowed: map[string]bool{"tcp db.corp": true}, names: map[string][]string{"db.corp": {"127.0.0.1"}}}
	number := netip.MustParseAddrPort(address).Port()
	text := "\x05\x01\x00\x05\x01\x00\x03\x07db.corp" + string([]byte{byte(number >> 8), byte(number)}) + "hello"
	if got := said(t, proxied(t, w, address), text); !strings.HasSuffix(got, "hello") || !strings.HasPrefix(got, "\x05\x00\x05\x00") {
		t.Errorf("got %q", got)
	}
}

func TestNewNamesAllThatIsMissing(t *testing.T) {
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "Judge") || !strings.Contains(err.Error(), "Roots") {
		t.Errorf("got %v", err)
	}
}

func TestTheKernelIsToldNoAddressThatTheCheckRefuses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	to, no := netip.MustParseAddrPort(listener.Addr().String()), errors.New("no")
	asked := netip.AddrPort{}
	conn, err := NetDialer{}.Dial(t.Context(), to, func(told netip.AddrPort) error { asked = told; return no })
	if conn != nil || !errors.Is(err, no) || asked != to {
		t.Errorf("dialled %v: %v, asked about %s", conn, err, asked)
	}
}
