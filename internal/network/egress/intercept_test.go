package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// certified is the certificate of a server for a name, and what trusts it.
func certified(t testing.TB, name string) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	made, err := newAuthorities(bytes.Repeat([]byte{9}, KeySize), nil)
	must(t, err)
	host, err := reach.ParseHost(name)
	must(t, err)
	certificate, err := made.certificate("server", host)
	must(t, err)
	chain, _, err := made.of("server")
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(chain[0])
	return certificate, roots
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secured is a server by TLS for allowed.test, whose TLS a proxy's world ends.
func secured(t testing.TB, handle http.HandlerFunc) (*world, *httptest.Server) {
	t.Helper()
	certificate, roots := certified(t, "allowed.test")
	server := httptest.NewUnstartedServer(handle)
	server.TLS, server.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{*certificate}}, true
	server.StartTLS()
	t.Cleanup(server.Close)
	w := &world{opens: true, roots: roots, denied: map[string]bool{}, names: map[string][]string{"allowed.test": {"127.0.0.1"}},
		allowed: map[string]bool{"https allowed.test": true, "https allowed.test GET": true, "https allowed.test POST": true}}
	return w, server
}

// trusting is what a program in sandbox s1 trusts, by an authority that was made anew.
func trusting(t testing.TB) *x509.CertPool {
	t.Helper()
	made, err := newAuthorities(bytes.Repeat([]byte{7}, KeySize), nil)
	must(t, err)
	authority, err := made.pem("s1")
	must(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatalf("no certificate: %q", authority)
	}
	return roots
}

// program is a client that leaves by a proxy and trusts the sandbox's authority.
func program(t testing.TB, proxy string, http2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		TLSClientConfig: &tls.Config{RootCAs: trusting(t)}, ForceAttemptHTTP2: http2,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// answered is what a program gets: the status, the rule of a refusal and the body.
func answered(t *testing.T, client *http.Client, r *http.Request) (status int, rule, body string) {
	t.Helper()
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, answer.Header.Get("X-Bailiff-Rule"), string(all)
}

func asking(t *testing.T, method, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	must(t, err)
	return r
}

func TestEachRequestInsideTLSIsJudged(t *testing.T) {
	for version, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(version, func(t *testing.T) {
			w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Alt-Svc", `h3=":443"`)
				w.Header().Set("X-Spoken", r.Proto)
				if r.URL.Path == "/moved" {
					http.Redirect(w, r, "/secret", http.StatusFound)
					return
				}
				fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.RequestURI, r.Header.Get("Via"))
			})
			w.denied["POST /push"], w.denied["GET /secret"] = true, true
			host := "allowed.test:" + port(server.Listener.Addr().String())
			client := program(t, proxied(t, w, server.Listener.Addr().String()), http2)
			answer, err := client.Do(asking(t, "GET", "https://"+host+"/a?b=c;d"))
			must(t, err)
			body, err := io.ReadAll(answer.Body)
			must(t, errors.Join(err, answer.Body.Close()))
			if string(body) != "GET "+host+" /a?b=c;d " || answer.Proto != version ||
				answer.Header.Get("X-Spoken") != version || answer.Header.Get("Alt-Svc") != "" {
				t.Errorf("got %s %q %v", answer.Proto, body, answer.Header)
			}
			for _, refused := range []*http.Request{
				asking(t, "POST", "https://"+host+"/push"), asking(t, "GET", "https://"+host+"/moved"),
				asking(t, "DELETE", "https://"+host+"/a"),
			} {
				if status, rule, body := answered(t, client, refused); status != 403 || rule != "egress.not_in_table" ||
					!strings.Contains(body, `"message":"No."`) {
					t.Errorf("%s %s: %d %s %q", refused.Method, refused.URL, status, rule, body)
				}
			}
			steps := w.done()
			if n := len(slices.DeleteFunc(steps, func(s string) bool { return !strings.HasPrefix(s, "resolve ") })); n != 1 {
				t.Errorf("the name was resolved %d times", n)
			}
		})
	}
}

func TestATunnelThatStaysClosedIsJudgedAsOne(t *testing.T) {
	w := &world{narrow: true, allowed: map[string]bool{"https allowed.test": true}}
	got := said(t, proxied(t, w, "127.0.0.1:1"), "CONNECT allowed.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 403 ") || slices.Contains(w.done(), "record opened") {
		t.Errorf("got %q, steps %q", got, w.done())
	}
}

func TestABigUploadThatIsRefusedIsTold(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
		w.denied["POST /push"] = true
		address := server.Listener.Addr().String()
		r, err := http.NewRequestWithContext(t.Context(), "POST", "https://allowed.test:"+port(address)+"/push",
			bytes.NewReader(make([]byte, 8<<20)))
		must(t, err)
		if status, rule, _ := answered(t, program(t, proxied(t, w, address), http2), r); status != 403 || rule != "egress.not_in_table" {
			t.Errorf("got %d %s", status, rule)
		}
	}
}

func TestTheNewPoliciesJudgeTheNextRequestOfAConnection(t *testing.T) {
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	address := "https://allowed.test:" + port(server.Listener.Addr().String()) + "/a"
	client := program(t, proxied(t, w, server.Listener.Addr().String()), true)
	if status, _, _ := answered(t, client, asking(t, "GET", address)); status != 200 {
		t.Fatalf("before: %d", status)
	}
	w.mu.Lock()
	w.denied["GET /a"] = true
	w.mu.Unlock()
	if status, rule, _ := answered(t, client, asking(t, "GET", address)); status != 403 || rule != "egress.not_in_table" {
		t.Errorf("after: %d %s", status, rule)
	}
	connects := 0
	for _, step := range w.done() {
		if step == "judge https allowed.test" {
			connects++
		}
	}
	if connects != 1 {
		t.Errorf("there were %d connections, want one kept", connects)
	}
}

func TestALogThatCannotBeWrittenLetsNoRequestOut(t *testing.T) {
	var served atomic.Int32
	w, server := secured(t, func(http.ResponseWriter, *http.Request) { served.Add(1) })
	address := "https://allowed.test:" + port(server.Listener.Addr().String()) + "/a"
	client := program(t, proxied(t, w, server.Listener.Addr().String()), true)
	if status, _, _ := answered(t, client, asking(t, "GET", address)); status != 200 {
		t.Fatalf("before: %d", status)
	}
	w.mu.Lock()
	w.logFails = true
	w.mu.Unlock()
	if status, rule, _ := answered(t, client, asking(t, "GET", address)); status != 403 || rule != "log.unwritable" || served.Load() != 1 {
		t.Errorf("after: %d %s, served %d", status, rule, served.Load())
	}
}

func TestAnAddressThatIsClosedAgainIsNotReachedByAnOpenConnection(t *testing.T) {
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	w.names["allowed.test"], w.private, w.at = []string{"10.0.0.5"}, true, server.Listener.Addr().String()
	address := "https://allowed.test:" + port(w.at) + "/a"
	client := program(t, proxied(t, w, w.at), true)
	if status, _, _ := answered(t, client, asking(t, "GET", address)); status != 200 {
		t.Fatalf("before: %d", status)
	}
	w.mu.Lock()
	w.private = false
	w.mu.Unlock()
	if status, rule, _ := answered(t, client, asking(t, "GET", address)); status != 403 || rule != "floor.address" {
		t.Errorf("after: %d %s", status, rule)
	}
}

func TestTLSForAnAddressNamesNoHost(t *testing.T) {
	certificate, roots := certified(t, "127.0.0.1")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}}
	server.StartTLS()
	defer server.Close()
	address := server.Listener.Addr().String()
	w := &world{opens: true, roots: roots, allowed: map[string]bool{"https 127.0.0.1": true, "https 127.0.0.1 GET": true}}
	proxy := proxied(t, w, address)
	if status, _, body := answered(t, program(t, proxy, true), asking(t, "GET", "https://"+address+"/")); status != 200 || body != address {
		t.Errorf("got %d %q", status, body)
	}
	if got, err := tunnelled(t, proxy, address, "allowed.test"); err == nil || got != "" {
		t.Errorf("with a name: %q %v", got, err)
	}
}

func TestARequestInsideTLSIsForTheHostOfItsConnection(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") })
	address := "https://allowed.test:" + port(server.Listener.Addr().String()) + "/"
	proxy := proxied(t, w, server.Listener.Addr().String())
	for _, http2 := range []bool{false, true} {
		for _, host := range []string{"evil.test", "allowed.test", "allowed.test:1", "allowed.test.evil.test"} {
			r := asking(t, "GET", address)
			r.Host = host
			if status, rule, body := answered(t, program(t, proxy, http2), r); status != 421 && status != 400 || body == "inside" ||
				status == 421 && rule != "egress.host_mismatch" {
				t.Errorf("Host %s: %d %s %q", host, status, rule, body)
			}
		}
	}
	for _, step := range w.done() {
		if strings.HasPrefix(step, "dial ") {
			t.Errorf("it did %q", step)
		}
	}
}

// spoken opens a tunnel and TLS in it, says a text and reads the answer to the end.
func spoken(t *testing.T, proxy, host, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(awaittest.End(t)))
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	must(t, err)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT: %s", answer.Status)
	}
	inside := tls.Client(&buffered{conn, from}, &tls.Config{ServerName: "allowed.test", RootCAs: trusting(t)})
	_, err = io.WriteString(inside, text)
	must(t, err)
	must(t, inside.CloseWrite())
	all, err := io.ReadAll(inside)
	must(t, err)
	return string(all)
}

func TestPipelinedRequestsAreJudgedEach(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "served %s;", r.URL.Path) })
	w.denied["GET /secret"] = true
	host := "allowed.test:" + port(server.Listener.Addr().String())
	line := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n" }
	got := spoken(t, proxied(t, w, server.Listener.Addr().String()), host, line("/a")+line("/secret")+line("/b"))
	if !strings.Contains(got, "served /a;") || !strings.Contains(got, "served /b;") || strings.Contains(got, "served /secret") ||
		strings.Count(got, " 403 ") != 1 {
		t.Errorf("got %q", got)
	}
}

func TestRequestsOfTwoMeaningsStayInside(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") })
	host := "allowed.test:" + port(server.Listener.Addr().String())
	proxy := proxied(t, w, server.Listener.Addr().String())
	for name, head := range map[string]string{
		"TRACE":           "TRACE / HTTP/1.1\r\nHost: " + host,
		"CONNECT":         "CONNECT " + host + " HTTP/1.1\r\nHost: " + host,
		"upgrade":         "GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket",
		"another's URL":   "GET https://evil.test/ HTTP/1.1\r\nHost: " + host,
		"a way up":        "GET /a/../b HTTP/1.1\r\nHost: " + host,
		"two hosts":       "GET / HTTP/1.1\r\nHost: " + host + "\r\nHost: evil.test",
		"two lengths":     "GET / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\nContent-Length: 4",
		"another method":  "GET / HTTP/1.1\r\nHost: " + host + "\r\nX-HTTP-Method-Override: DELETE",
		"an odd encoding": "GET / HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: xchunked",
	} {
		got := spoken(t, proxy, host, head+"\r\nConnection: close\r\n\r\n")
		if strings.Contains(got, "inside") || !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 501") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, step := range w.done() {
		if strings.HasPrefix(step, "dial ") {
			t.Errorf("it did %q", step)
		}
	}
}

func TestAnEscapedSlashIsJudgedInBothReadings(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RequestURI) })
	address := "https://allowed.test:" + port(server.Listener.Addr().String())
	client := program(t, proxied(t, w, server.Listener.Addr().String()), false)
	if status, _, body := answered(t, client, asking(t, "GET", address+"/@scope%2fname")); status != 200 || body != "/@scope%2fname" {
		t.Errorf("allowed in both: %d %q", status, body)
	}
	if status, _, body := answered(t, client, asking(t, "GET", address+"/apt/./Packages")); status != 200 || body != "/apt/./Packages" {
		t.Errorf("with a segment that leads nowhere: %d %q", status, body)
	}
	w.mu.Lock()
	w.denied["GET /one%2fname"], w.denied["GET /two/name"] = true, true
	w.denied["GET /closed"], w.denied["GET /odd/./"] = true, true
	w.mu.Unlock()
	for _, path := range []string{"/one%2fname", "/one%2Fname", "/on%65%2fname", "/two%2fname", "/./closed", "/././closed", "/odd/./"} {
		if status, _, body := answered(t, client, asking(t, "GET", address+path)); status != 403 {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
}

func TestInterceptedTLSIsForTheHostThatWasJudged(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "inside") })
	proxy, host := proxied(t, w, server.Listener.Addr().String()), "allowed.test:"+port(server.Listener.Addr().String())
	for _, name := range []string{"evil.test", ""} {
		if got, err := tunnelled(t, proxy, host, name); err == nil || got != "" {
			t.Errorf("the name %q: %q %v", name, got, err)
		}
	}
	got := said(t, proxy, "CONNECT "+host+" HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n")
	if strings.Contains(got, "inside") || strings.Contains(got, "403") {
		t.Errorf("plain bytes in a tunnel: %q", got)
	}
	rules := w.refusals(t, 3)
	if slices.Sort(rules); !slices.Equal(rules, []string{"egress.host_mismatch", "egress.host_mismatch", "egress.opaque"}) {
		t.Errorf("refused for %q", rules)
	}
}

// refusals are the rules of what was refused, once there are so many.
func (w *world) refusals(t *testing.T, n int) (rules []string) {
	t.Helper()
	awaittest.UntilOr(t, func() string { return fmt.Sprintf("%d refusals; those noted are %q", n, rules) }, func() bool {
		rules = nil
		w.mu.Lock()
		for _, e := range w.events {
			if e.What == Refused {
				rules = append(rules, e.Rule)
			}
		}
		w.mu.Unlock()
		return len(rules) >= n
	})
	return rules
}

func TestAProgramThatDoesNotTrustTheSandboxIsTold(t *testing.T) {
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), true)
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
	if _, err := client.Do(asking(t, "GET", "https://allowed.test:"+port(address)+"/")); err == nil {
		t.Error("a program that trusts nothing was answered")
	}
	if rules := w.refusals(t, 1); !slices.Equal(rules, []string{"egress.untrusted"}) {
		t.Errorf("refused for %q", rules)
	}
}

func TestAServerIsVerified(t *testing.T) {
	good, roots := certified(t, "allowed.test")
	another, _ := certified(t, "other.test")
	for name, of := range map[string]struct {
		roots       *x509.CertPool
		certificate *tls.Certificate
		most        uint16
		rule        string
	}{
		"an authority that is not trusted": {x509.NewCertPool(), good, 0, "egress.unverified"},
		"a certificate of another name":    {roots, another, 0, "egress.unverified"},
		"TLS 1.1":                          {roots, good, tls.VersionTLS11, "egress.unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			reached := false
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			server.TLS = &tls.Config{Certificates: []tls.Certificate{*of.certificate}, MaxVersion: of.most, MinVersion: tls.VersionTLS10}
			server.StartTLS()
			defer server.Close()
			w := &world{opens: true, roots: of.roots, names: map[string][]string{"allowed.test": {"127.0.0.1"}},
				allowed: map[string]bool{"https allowed.test": true, "https allowed.test GET": true}}
			address := server.Listener.Addr().String()
			client := program(t, proxied(t, w, address), true)
			status, rule, _ := answered(t, client, asking(t, "GET", "https://allowed.test:"+port(address)+"/"))
			if status != 502 || rule != of.rule || reached || !slices.Equal(w.refusals(t, 1), []string{of.rule}) {
				t.Errorf("got %d %s, reached %v, refused for %q", status, rule, reached, w.refusals(t, 1))
			}
		})
	}
}

func TestTrailersAndStreamsPass(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		w.WriteHeader(http.StatusOK)
		flush := http.NewResponseController(w)
		lines := bufio.NewScanner(r.Body)
		for must(t, flush.Flush()); lines.Scan(); must(t, flush.Flush()) {
			fmt.Fprintf(w, "%s %s\n", r.Proto, lines.Text())
		}
		w.Header().Set("Grpc-Status", "0")
	})
	address := "https://allowed.test:" + port(server.Listener.Addr().String()) + "/service/Method"
	body, say := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), "POST", address, body)
	must(t, err)
	r.Header.Set("Te", "trailers")
	answer, err := program(t, proxied(t, w, server.Listener.Addr().String()), true).Do(r)
	must(t, err)
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for _, word := range []string{"one", "two"} { // each is answered before the next is said
		_, err := io.WriteString(say, word+"\n")
		must(t, err)
		if line, err := lines.ReadString('\n'); err != nil || line != "HTTP/2.0 "+word+"\n" {
			t.Fatalf("got %q %v", line, err)
		}
	}
	must(t, say.Close())
	_, err = io.Copy(io.Discard, lines)
	must(t, err)
	if answer.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("trailers %v", answer.Trailer)
	}
}

func TestAnAnswerThatIsCutOffIsNotTakenForWhole(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		must(t, http.NewResponseController(w).Flush())
		panic(http.ErrAbortHandler)
	})
	client := program(t, proxied(t, w, server.Listener.Addr().String()), false)
	answer, err := client.Do(asking(t, "GET", "https://allowed.test:"+port(server.Listener.Addr().String())+"/"))
	must(t, err)
	defer answer.Body.Close()
	if all, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("got %q as a whole answer", all)
	}
}

func TestAServerDoesNotLeaveHTTP(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		must(t, err)
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\nbytes that no one judges")
	})
	server.TLS.NextProtos = []string{"http/1.1"}
	host := "allowed.test:" + port(server.Listener.Addr().String())
	got := spoken(t, proxied(t, w, server.Listener.Addr().String()), host, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 502 ") || strings.Contains(got, "judges") {
		t.Errorf("got %q", got)
	}
}

func TestPlainHTTPInATunnelIsJudgedByRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "served %s;", r.URL) }))
	defer server.Close()
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	number := server.Listener.Addr().(*net.TCPAddr).Port
	requests := "GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n" + "GET /secret HTTP/1.1\r\nHost: " + host + "\r\n\r\n" +
		"GET /b HTTP/1.1\r\nHost: evil.test\r\n\r\n"
	for name, opening := range map[string]string{
		"CONNECT": "CONNECT " + host + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"SOCKS":   "\x05\x01\x00\x05\x01\x00\x03\x0callowed.test" + string([]byte{byte(number >> 8), byte(number)}),
	} {
		w := &world{allowed: map[string]bool{"http allowed.test": true, "http allowed.test GET": true},
			denied: map[string]bool{"GET /secret": true}, names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
		got := said(t, proxied(t, w, address), opening+requests)
		if !strings.Contains(got, "served /a;") || strings.Count(got, "served") != 1 || !strings.Contains(got, " 403 ") ||
			!strings.Contains(got, " 421 ") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAtPort80PlainHTTPIsAskedAboutFirst(t *testing.T) {
	w := &world{}
	said(t, proxied(t, w, "127.0.0.1:1"), "CONNECT allowed.test:80 HTTP/1.1\r\nHost: x\r\n\r\n")
	want := []string{"judge http allowed.test", "judge https allowed.test", "judge tcp allowed.test", "record refused"}
	if steps := w.done(); !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
}

func TestEachSandboxHasAnAuthorityOfItsOwn(t *testing.T) {
	made, err := newAuthorities(bytes.Repeat([]byte{7}, KeySize), nil)
	must(t, err)
	again, err := newAuthorities(bytes.Repeat([]byte{7}, KeySize), nil)
	must(t, err)
	first, err := made.pem("s1")
	must(t, err)
	second, err := again.pem("s1")
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Error("after a restart the authority is another")
	}
	host, err := reach.ParseHost("allowed.test")
	must(t, err)
	leaf, err := made.certificate("s1", host)
	must(t, err)
	if _, err := leaf.Leaf.Verify(x509.VerifyOptions{Roots: trusting(t), DNSName: "allowed.test"}); err != nil {
		t.Errorf("its own sandbox: %v", err)
	}
	other, err := made.certificate("s2", host)
	must(t, err)
	if _, err := other.Leaf.Verify(x509.VerifyOptions{Roots: trusting(t), DNSName: "allowed.test"}); err == nil {
		t.Error("a sandbox trusts the authority of another")
	}
	if holds := leaf.Leaf.NotAfter.Sub(leaf.Leaf.NotBefore); holds != leafFor || len(leaf.Leaf.DNSNames) != 1 || leaf.Leaf.IsCA {
		t.Errorf("the certificate holds %s for %q", holds, leaf.Leaf.DNSNames)
	}
	if known, err := made.certificate("s1", host); err != nil || known != leaf {
		t.Errorf("the certificate was made anew: %v", err)
	}
	if _, err := made.pem(""); err == nil {
		t.Error("a connection of no sandbox has an authority")
	}
	if _, err := newAuthorities([]byte("short"), nil); err == nil {
		t.Error("a short key was taken")
	}
}
