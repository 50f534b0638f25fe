package egress

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bailiff-dev/bailiff"
)

// zone answers for names, as a name server of an attacker does: with aliases, and with another
// address each time.
type zone struct {
	mu        sync.Mutex
	aliases   map[string]string
	addresses map[string][]string // the next answer first; the last one stays
	asked     []string
}

// resolver asks the zone by UDP, as the Go library does.
func (z *zone) resolver(t *testing.T) *net.Resolver {
	t.Helper()
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
			if answer, err := z.answer(question[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (z *zone) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil || len(m.Questions) != 1 {
		return nil, errors.Join(err, errors.New("it is no question"))
	}
	q := m.Questions[0]
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
	name := strings.TrimSuffix(q.Name.String(), ".")
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked = append(z.asked, name)
	if alias := z.aliases[name]; alias != "" {
		reply.Answers = append(reply.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(alias + ".")},
		})
		name = alias
	}
	if all := z.addresses[name]; q.Type == dnsmessage.TypeA && len(all) > 0 {
		reply.Answers = append(reply.Answers, dnsmessage.Resource{ // which holds for no time at all
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name + "."), Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: netip.MustParseAddr(all[0]).As4()},
		})
		if len(all) > 1 {
			z.addresses[name] = all[1:]
		}
	}
	return reply.Pack()
}

func (z *zone) questions() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Clone(z.asked)
}

// An alias is judged by the name that the program wrote, and reached by the address that it
// leads to.
func TestAnAliasOpensNothing(t *testing.T) {
	t.Parallel()
	z := &zone{
		aliases: map[string]string{"allowed.test": "metadata.evil.test", "evil.test": "public.test", "own.test": "here.evil.test"},
		addresses: map[string][]string{"metadata.evil.test": {"169.254.169.254"}, "public.test": {"93.184.215.14"},
			"here.evil.test": {"127.0.0.1"}},
	}
	w := &world{allowed: map[string]bool{"https allowed.test": true, "https own.test": true, "https public.test": true}}
	w.resolver = z.resolver(t)
	proxy := proxied(t, w, "127.0.0.1:1")
	for host, rule := range map[string]string{"allowed.test": ruleAddress, "own.test": ruleAddress, "evil.test": "egress.not_in_table"} {
		got := said(t, proxy, "CONNECT "+host+":443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 403 ") || !strings.Contains(got, "X-Bailiff-Rule: "+rule+"\r\n") ||
			strings.Contains(got, "169.254") {
			t.Errorf("%s: got %q", host, got)
		}
	}
	if asked := z.questions(); slices.Contains(asked, "evil.test") || !slices.Contains(asked, "allowed.test") {
		t.Errorf("the name server was asked for %q", asked)
	}
	if slices.ContainsFunc(w.done(), func(step string) bool { return strings.HasPrefix(step, "dial ") }) {
		t.Errorf("it did %q", w.done())
	}
}

// A name server that first tells the truth gets its second answer refused by the next connection,
// and asked for by no request of the first.
func TestANameThatMovesIsFollowedByNoOpenConnection(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	w.at = server.Listener.Addr().String()
	z := &zone{addresses: map[string][]string{"allowed.test": {"93.184.215.14", "127.0.0.1"}}}
	w.resolver = z.resolver(t)
	proxy, address := proxied(t, w, "127.0.0.1:1"), "https://allowed.test/"
	first := program(t, proxy, true)
	for range 3 {
		if status, rule, _ := answered(t, first, asking(t, "GET", address)); status != http.StatusOK {
			t.Fatalf("the first connection: %d %s", status, rule)
		}
	}
	before := len(z.questions())
	if answer, err := program(t, proxy, true).Do(asking(t, "GET", address)); err == nil {
		answer.Body.Close()
		t.Errorf("the second connection: %s", answer.Status)
	}
	if rules := w.refusals(t, 1); !slices.Equal(rules, []string{ruleAddress}) {
		t.Errorf("refused for %q", rules)
	}
	if status, _, _ := answered(t, first, asking(t, "GET", address)); status != http.StatusOK {
		t.Errorf("the first connection afterwards: %d", status)
	}
	if after := len(z.questions()); before > 2 || after > 2*before { // for IPv4 and for IPv6
		t.Errorf("the name server was asked %d times, and then %d", before, after-before)
	}
}

// A program that checks nothing still gets nothing but the certificate of the host it named, which
// vouches for no other.
func TestAProgramThatTrustsEverythingGetsNoCertificateForAnotherName(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "inside "+r.Host) })
	address := server.Listener.Addr().String()
	proxy, host := proxied(t, w, address), "allowed.test:"+port(address)
	client := program(t, proxy, false)
	var shown []*x509.Certificate
	client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true, // it is the attacker's program
		VerifyConnection: func(s tls.ConnectionState) error { shown = s.PeerCertificates; return nil }}
	if status, _, body := answered(t, client, asking(t, "GET", "https://"+host+"/")); status != 200 || body != "inside "+host {
		t.Fatalf("got %d %q", status, body)
	}
	between := x509.NewCertPool()
	for _, one := range shown[1:] {
		between.AddCert(one)
	}
	for name, wanted := range map[string]bool{"allowed.test": true, "evil.test": false, "sub.allowed.test": false} {
		_, err := shown[0].Verify(x509.VerifyOptions{Roots: trusting(t), Intermediates: between, DNSName: name})
		if (err == nil) != wanted {
			t.Errorf("%s: %v", name, err)
		}
	}
	if shown[0].IsCA || shown[0].KeyUsage&x509.KeyUsageCertSign != 0 {
		t.Error("the certificate of a host makes others")
	}
	fronted := asking(t, "GET", "https://"+host+"/")
	fronted.Host = "evil.test"
	if status, rule, body := answered(t, client, fronted); status != http.StatusMisdirectedRequest || rule != ruleMismatch {
		t.Errorf("another host in the same TLS: %d %s %q", status, rule, body)
	}
}

func TestPathsOfTwoMeaningsStayInsideTLS(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") })
	host := "allowed.test:" + port(server.Listener.Addr().String())
	proxy := proxied(t, w, server.Listener.Addr().String())
	for name, path := range map[string]string{
		"a way up": "/a/../admin", "a way up behind one that leads nowhere": "/a/./../admin", "one at the end": "/a/.",
		"an encoded way up": "/a/%2e%2e/admin", "a half encoded one": "/a/.%2E/admin", "two slashes": "//admin",
		"a semicolon": "/a;/../admin", "a backslash": `/a\..\admin`, "an encoded backslash": "/a%5c..%5cadmin", "NUL": "/a%00/admin",
		"an encoded hash": "/a%23/admin", "twice encoded": "/a%252f..%252fadmin", "a line's end": "/a%0d%0aX:%20y", "a long path": "/" +
			strings.Repeat("a", 32<<10), "an encoded slash upwards": "/a%2f..%2fadmin", "bytes that are no text": "/%ff",
	} {
		if got := spoken(t, proxy, host, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); strings.Contains(got,
			"inside") || !strings.HasPrefix(got, "HTTP/1.1 4") {
			t.Errorf("%s by HTTP/1.1: %.200q", name, got)
		}
		r := asking(t, "GET", "https://"+host+"/")
		r.URL = &url.URL{Scheme: "https", Host: host, Opaque: path}
		answer, err := program(t, proxy, true).Do(r)
		if err != nil {
			continue // the client itself sends no such path
		}
		answer.Body.Close()
		if answer.StatusCode/100 != 4 {
			t.Errorf("%s by HTTP/2: %s", name, answer.Status)
		}
	}
	if slices.ContainsFunc(w.done(), func(step string) bool { return strings.HasPrefix(step, "dial ") }) {
		t.Errorf("it did %q", w.done())
	}
}

// What is packed passes as it is: the sidecar unpacks nothing.
func TestAnAnswerThatIsABombWhenUnpackedPassesPacked(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 64 {
		_, err := z.Write(make([]byte, 1<<20))
		must(t, err)
	}
	must(t, z.Close())
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	})
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), true)
	client.Transport.(*http.Transport).DisableCompression = true
	if status, _, body := answered(t, client, asking(t, "GET", "https://allowed.test:"+port(address)+"/")); status != http.StatusOK ||
		body != packed.String() {
		t.Errorf("got %d and %d bytes, want %d", status, len(body), packed.Len())
	}
}

// talker is a server in plain HTTP that says what it likes.
func talker(t *testing.T, say func(net.Conn)) (w *world, proxy, host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					say(conn)
				}
			}()
		}
	}()
	service := listener.Addr().String()
	w = &world{allowed: map[string]bool{"http allowed.test GET": true}, names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
	return w, proxied(t, w, service), "allowed.test:" + port(service)
}

func TestAServerThatSaysNoPlainHTTPIsCutOff(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(net.Conn){
		"headers without an end": func(c net.Conn) {
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for err == nil {
				_, err = io.WriteString(c, "A: "+strings.Repeat("x", 1000)+"\r\n")
			}
		},
		"a header without an end": func(c net.Conn) {
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nA: ")
			for err == nil {
				_, err = io.WriteString(c, strings.Repeat("x", 1000))
			}
		},
		"two lengths": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nabcde")
		},
		"an odd encoding": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\nabcde") },
		"no HTTP":         func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-evil\r\n\r\n") },
		"nothing":         func(net.Conn) {},
		"early hints for ever": func(c net.Conn) {
			var err error
			for err == nil {
				_, err = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, proxy, host := talker(t, say)
			got := said(t, proxy, "GET http://"+host+"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if final := got[max(0, strings.LastIndex(got, "HTTP/1.1 ")):]; !strings.HasPrefix(final, "HTTP/1.1 502 ") ||
				!strings.Contains(final, ruleUnreachable) || len(got) > 8*mostHead {
				t.Errorf("got %d bytes that end in %.200q", len(got), final)
			}
			if rules := w.refusals(t, 1); !slices.Equal(rules, []string{ruleUnreachable}) {
				t.Errorf("refused for %q", rules)
			}
		})
	}
}

// A head that comes byte by byte ends the exchange, whichever side says it.
func TestAServersHeadThatComesSlowlyEndsTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{allowed: map[string]bool{"http allowed.test GET": true}, names: map[string][]string{"allowed.test": {"93.184.215.14"}}}
		over := make(chan bool)
		w.dialer = dialing(func() net.Conn {
			server, host := net.Pipe()
			go func() {
				defer close(over)
				defer host.Close()
				_, err := http.ReadRequest(bufio.NewReader(host))
				for i := 0; err == nil; i++ {
					time.Sleep(time.Second) // of the test's own clock
					_, err = io.WriteString(host, "HTTP/1.1 200 OK\r\nA: "[:min(i+1, 1)])
				}
			}()
			return server
		})
		program := inMemory(t, w)
		defer program.Close()
		began := time.Now()
		go fmt.Fprint(program, "GET http://allowed.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got, err := io.ReadAll(program)
		if took := time.Since(began); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 502 ") || took > answerTime+time.Second {
			t.Errorf("after %s it said %q, %v", took, got, err)
		}
		<-over
	})
}

// dialing is a dialer that makes connections itself.
type dialing func() net.Conn

func (d dialing) Dial(_ context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	return d(), nil
}

// The value is bound to the host and port of its row, by TLS.
func TestAStandInIsWorthNothingAtAnotherDoorOfItsHost(t *testing.T) {
	t.Parallel()
	var served sync.Map
	w, server := secured(t, func(_ http.ResponseWriter, r *http.Request) { served.Store(r.Host, r.Header.Get("Authorization")) })
	address := server.Listener.Addr().String()
	for _, key := range []string{"https 127.0.0.1", "https 127.0.0.1 GET", "http allowed.test", "http allowed.test GET"} {
		w.allowed[key] = true
	}
	w.swapped = []bailiff.Swapped{{StandIn: tokenInside, Value: bailiff.NewSecret(tokenOutside),
		Swap: bailiff.Swap{Name: "TOKEN", Hosts: []string{"allowed.test", "allowed.test:8443"}, In: []string{"authorization"}}}}
	proxy := proxied(t, w, address)
	insecure := program(t, proxy, false)
	insecure.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true // for an address
	for name, at := range map[string]string{
		"another port": "https://allowed.test:" + port(address) + "/", "its address": "https://" + address + "/",
		"without TLS": "http://allowed.test:" + port(address) + "/",
	} {
		if status, rule, body := answered(t, insecure, bearing(t, at)); status != http.StatusForbidden || rule != ruleStray ||
			strings.Contains(body, tokenInside) {
			t.Errorf("%s: %d %s %q", name, status, rule, body)
		}
	}
	w.mu.Lock()
	delete(w.allowed, "https allowed.test")
	w.mu.Unlock()
	host := "allowed.test:" + port(address)
	got := said(t, proxy, "CONNECT "+host+" HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+
		tokenInside+"\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "HTTP/1.1 403 ") || !strings.Contains(got, ruleStray) {
		t.Errorf("without TLS in a tunnel: %q", got)
	}
	served.Range(func(host, given any) bool { t.Errorf("%s was told %s", host, given); return true })
}

// A server that was given the value sends the program elsewhere, with what it was given.
func TestARedirectTakesNoValueElsewhere(t *testing.T) {
	t.Parallel()
	w, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Location", "https://other.test/?t="+url.QueryEscape(given))
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	w.mu.Lock()
	w.allowed["https other.test"], w.allowed["https other.test GET"] = true, true
	w.mu.Unlock()
	client := program(t, proxy, false)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(bearing(t, "https://"+host+"/"))
	must(t, err)
	answer.Body.Close()
	if to := answer.Header.Get("Location"); to != "https://other.test/?t=[TOKEN redacted]" {
		t.Errorf("the program is sent to %q", to)
	}
	w.names["other.test"] = []string{"127.0.0.1"}
	follow := bearing(t, "https://other.test:"+port(host)+"/")
	if status, rule, _ := answered(t, client, follow); status != http.StatusForbidden || rule != ruleStray {
		t.Errorf("with the header it follows to %d %s", status, rule)
	}
	if slices.Contains(w.done(), "judge https other.test GET") {
		t.Errorf("it did %q", w.done())
	}
}
