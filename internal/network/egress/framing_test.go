package egress

import (
	"bufio"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// What two programs could cut into requests differently reaches no server as it was written: each
// request is written anew, and what follows it is judged.
func TestNoRequestHidesInTheBodyOfAnother(t *testing.T) {
	const hidden = "GET /secret HTTP/1.1\r\nHost: HOST\r\n\r\n"
	for name, text := range map[string]string{
		"two kinds of length": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"0\r\n\r\n" + hidden,
		"a folded header":    "POST / HTTP/1.1\r\nHost: HOST\r\nA: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + hidden,
		"a bare end of line": "POST / HTTP/1.1\r\nHost: HOST\r\nA: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"a space before the colon": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" +
			hidden,
		"a chunk that says too little": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n" + hidden,
		"an extension of a chunk": "POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n1;\n" + hidden +
			"\r\na\r\n0\r\n\r\n",
		"a method in small letters": "post /secret HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen = append(seen, r.Method+" "+r.URL.Path)
				mu.Unlock()
				_, _ = io.Copy(io.Discard, r.Body)
			})
			w.denied["GET /secret"] = true
			address := server.Listener.Addr().String()
			host := "allowed.test:" + port(address)
			conn, err := connected(proxied(t, w, address), host)
			must(t, err)
			defer conn.Close()
			must(t, conn.SetDeadline(awaittest.End(t)))
			inside := tls.Client(conn, &tls.Config{ServerName: "allowed.test", RootCAs: trusting(t)})
			_, err = io.WriteString(inside, strings.ReplaceAll(text, "HOST", host))
			must(t, err)
			must(t, inside.CloseWrite())
			answers, err := io.ReadAll(inside)
			if err != nil || len(answers) == 0 {
				t.Errorf("it was answered %q, %v", answers, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if slices.ContainsFunc(seen, func(s string) bool { return s != "POST /" }) || len(seen) > 1 {
				t.Errorf("the server saw %q", seen)
			}
		})
	}
}

// A server that answers before it has read the request, or that is asked whether it wants it, holds
// nothing up.
func TestAnswersThatComeEarlyPass(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/early" {
			http.Error(w, "too much", http.StatusRequestEntityTooLarge)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	})
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), false)
	client.Transport.(*http.Transport).ExpectContinueTimeout = 20 * time.Second
	const length = 1 << 16 // of more a server that answers early reads nothing, and the client may be told that it was cut off
	for path, want := range map[string]int{"/early": http.StatusRequestEntityTooLarge, "/wanted": http.StatusOK} {
		r := asking(t, "POST", "https://allowed.test:"+port(address)+path)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", length))), length
		r.Header.Set("Expect", "100-continue")
		if status, _, body := answered(t, client, r); status != want || want == http.StatusOK && body != fmt.Sprint(length) {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
}

// hiding is the configuration of a host whose name in TLS stands for others that are hidden.
func hiding(t *testing.T, name string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	must(t, err)
	inner := append([]byte{1, 0, 0x20, 0, 32}, key.PublicKey().Bytes()...)
	inner = append(inner, 0, 4, 0, 1, 0, 1, 64, byte(len(name)))
	inner = append(append(inner, name...), 0, 0)
	one := binary.BigEndian.AppendUint16([]byte{0xfe, 0x0d}, uint16(len(inner)))
	one = append(one, inner...)
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(one))), one...)
}

func TestATunnelWhoseNameInTLSIsHiddenIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	heard := make(chan []byte, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		all, _ := bufio.NewReader(conn).Peek(1)
		heard <- all
	}()
	address := listener.Addr().String()
	w := &world{allowed: map[string]bool{"https allowed.test": true}, names: map[string][]string{"allowed.test": {"127.0.0.1"}}}
	conn, err := connected(proxied(t, w, address), "allowed.test:"+port(address))
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(awaittest.End(t)))
	inside := tls.Client(conn, &tls.Config{ServerName: "evil.test", EncryptedClientHelloConfigList: hiding(t, "allowed.test")})
	if err := inside.Handshake(); err == nil {
		t.Error("the tunnel is open")
	}
	if all := <-heard; len(all) > 0 {
		t.Errorf("the server heard %q", all)
	}
	if rules := rulesOf(w); !slices.Equal(rules, []string{ruleMismatch + " allowed.test"}) {
		t.Errorf("written down was %q", rules)
	}
}

// A program whose own body is faulty is not told to check the name of its host.
func TestAFaultyBodyIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	w.mu.Lock()
	w.allowed["https allowed.test POST"] = true
	w.mu.Unlock()
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	proxy := proxied(t, w, address)
	head := "POST / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct{ body, status, rule string }{
		"a faulty chunk": {"zz\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 400 ", ruleMalformed},
		"a plain one":    {"3\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 200 ", ""},
	} {
		got := spoken(t, proxy, host, head+c.body)
		if !strings.HasPrefix(got, c.status) || !strings.Contains(got, c.rule) || strings.Contains(got, ruleUnreachable) {
			t.Errorf("%s: %.300q", name, got)
		}
	}
	server.CloseClientConnections()
	server.Close()
	if got := spoken(t, proxy, host, head+"3\r\nabc\r\n0\r\n\r\n"); !strings.Contains(got, ruleUnreachable) {
		t.Errorf("a server that is gone: %.300q", got)
	}
}
