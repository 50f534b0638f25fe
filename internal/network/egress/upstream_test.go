package egress

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// relay is a proxy that takes CONNECT of one user, with what it was asked for.
type relay struct {
	mu    sync.Mutex
	asked []string
}

func (p *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI+" "+r.Host)
	p.mu.Unlock()
	if r.Header.Get("Proxy-Authorization") != "Basic YW5hOmNvcnJlY3QgaG9yc2U=" { // ana:correct horse
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	server, err := net.Dial("tcp", r.RequestURI)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	fmt.Fprint(client, "HTTP/1.1 200 OK\r\n\r\n")
	go io.Copy(server, client) //nolint:errcheck // it ends with the connections
	io.Copy(client, server)    //nolint:errcheck // as that
}

func TestAnUpstreamProxyIsToldCheckedAddressesOnly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served ", r.Host) }))
	defer server.Close()
	address := server.Listener.Addr().String()
	for login, want := range map[string]string{"ana:correct horse": "served allowed.test", "ana:wrong horse": "egress.unreachable"} {
		upstream := &relay{}
		at := httptest.NewServer(upstream)
		defer at.Close()
		u, err := url.Parse(at.URL)
		must(t, err)
		w := &world{allowed: map[string]bool{"http allowed.test GET": true, "http metadata.test GET": true},
			names: map[string][]string{"allowed.test": {"127.0.0.1"}, "metadata.test": {"169.254.169.254"}}}
		w.dialer = ProxyDialer{URL: u, Login: bailiff.NewSecret(login)}
		proxy := proxied(t, w, address)
		for host, want := range map[string]string{"allowed.test": want, "metadata.test": ruleAddress} {
			got := said(t, proxy, "GET http://"+host+":"+port(address)+"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if !strings.Contains(got, want) || strings.Contains(got, login) {
				t.Errorf("%s: got %q", host, got)
			}
		}
		if want := "CONNECT " + address + " " + address; len(upstream.asked) != 1 || upstream.asked[0] != want {
			t.Errorf("it was asked for %q, want %q", upstream.asked, want)
		}
	}
}

func TestAnUpstreamProxyIsNotAskedForWhatTheCheckRefuses(t *testing.T) {
	upstream := &relay{}
	at := httptest.NewServer(upstream)
	defer at.Close()
	u, err := url.Parse(at.URL)
	must(t, err)
	conn, err := ProxyDialer{URL: u}.Dial(t.Context(), netip.MustParseAddrPort("127.0.0.1:1"),
		func(netip.AddrPort) error { return reach.ErrFloor })
	if conn != nil || err != reach.ErrFloor || len(upstream.asked) > 0 {
		t.Errorf("got %v %v, asked for %q", conn, err, upstream.asked)
	}
}

func TestCertificatesAreMadeByAnOrganisationsAuthority(t *testing.T) {
	made, err := newAuthorities([]byte(strings.Repeat("o", KeySize)), nil)
	must(t, err)
	chain, key, err := made.of("organisation")
	must(t, err)
	w, server := secured(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "inside") })
	w.own = &Authority{Chain: chain, Key: key}
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), false)
	there := "https://allowed.test:" + port(address) + "/"
	if answer, err := client.Do(asking(t, "GET", there)); err == nil {
		answer.Body.Close()
		t.Error("the sandbox's own authority is still in use")
	}
	roots := x509.NewCertPool()
	roots.AddCert(chain[0])
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
	if status, _, body := answered(t, client, asking(t, "GET", there)); status != 200 || body != "inside" {
		t.Errorf("got %d %q", status, body)
	}
}

func TestASandboxKeepsTheAuthorityThatItWasGiven(t *testing.T) {
	w := &world{}
	settings := Config{Judge: w, Recorder: w, Resolver: w, Dialer: w, Floor: reach.NewFloor(nil, nil),
		Key: []byte(strings.Repeat("o", KeySize)), Roots: x509.NewCertPool(), Limits: Limits{1, 1, 1, 1}}
	proxy, err := New(settings)
	must(t, err)
	_, others, err := proxy.Trust("s1")
	must(t, err)
	if roots := x509.NewCertPool(); !roots.AppendCertsFromPEM(others) || bytes.Count(others, []byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("a sandbox without certificates gets %.100q", others)
	}
	given := proxy.authoritiesOf("s1")
	chain, key, err := given.of("organisation")
	must(t, err)
	settings.Authority = &Authority{Chain: chain, Key: key}
	must(t, proxy.Change(settings))
	if proxy.authoritiesOf("s1") != given {
		t.Error("a sandbox that trusts its own authority meets another")
	}
	if now := proxy.authoritiesOf("s2"); now.own != settings.Authority {
		t.Error("a new sandbox does not meet the new authority")
	}
	settings.Roots = nil
	if err := proxy.Change(settings); err == nil || proxy.now.Load().config.Roots == nil {
		t.Errorf("a faulty configuration: %v", err)
	}
}
