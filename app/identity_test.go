package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/login/logintest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// certified writes a certificate of localhost and its key, and returns what trusts it.
func certified(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	must(t, err)
	made := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	save(t, filepath.Join(folder, "console.pem"), string(certificate))
	save(t, filepath.Join(folder, "console.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return roots
}

// identified is a sidecar whose console is served by TLS, with a provider by which people log in.
type identified struct {
	*office
	provider *logintest.Server
	roots    *x509.CertPool
	folder   string
}

func startIdentified(t *testing.T, people string, sections ...string) *identified {
	t.Helper()
	i := &identified{provider: logintest.Open(t), folder: openDir(t)}
	i.roots = certified(t, i.folder)
	save(t, filepath.Join(i.folder, "client"), logintest.Secret)
	i.office = startOffice(t, i.folder, fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", platforms: ["*"], uids: [64321, %[2]d]}]}
operator:
  listen: "unix://%[1]s/o.sock"
  console: localhost:0
  allow_same_user: true
  tls: {certificate: console.pem, key: console.key, name: localhost}
  oidc: {issuer: %[3]s, client_id: bailiff, client_secret: {file: client}, session: 1h}
people: %[4]s
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[5]s}
`, openDir(t), os.Getuid(), i.provider.URL, people, backendtest.Runner(t))+onTheHost(t)+"\n"+strings.Join(sections, "\n"))
	return i
}

// surfer is a browser that keeps cookies and follows nothing by itself.
type surfer struct {
	*http.Client
	base  string
	token string
}

func (i *identified) surf(t *testing.T) *surfer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &surfer{base: i.consolePage.URL(), Client: &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: i.roots, MinVersion: tls.VersionTLS12}}}}
}

func (s *surfer) send(t *testing.T, method, path, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, path, strings.NewReader(body))
	if !strings.HasPrefix(path, "http") {
		r, err = http.NewRequest(method, s.base+path, strings.NewReader(body))
	}
	must(t, err)
	r.Header.Set("Origin", s.base)
	r.Header.Set("Bailiff-Token", s.token)
	resp, err := s.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp, string(text)
}

// login logs in by the provider, and returns the answer to what it sends back.
func (s *surfer) login(t *testing.T, provider *logintest.Server, account string) (*http.Response, string) {
	t.Helper()
	begun, text := s.send(t, "GET", "/oidc/login", "")
	if begun.StatusCode != http.StatusSeeOther {
		t.Fatalf("beginning: %d %s", begun.StatusCode, text)
	}
	back := provider.Login(t, begun.Header.Get("Location"), account)
	resp, text := s.send(t, "GET", back.String(), "")
	at, err := url.Parse(resp.Header.Get("Location"))
	must(t, err)
	if resp.StatusCode == http.StatusSeeOther {
		entered, text := s.send(t, "POST", "/login", `{"token": "`+at.Fragment+`"}`)
		for _, cookie := range append(begun.Cookies(), entered.Cookies()...) {
			if !cookie.Secure || !cookie.HttpOnly {
				t.Errorf("cookie %s may go over the wire in the clear, or to a script", cookie)
			}
		}
		var in struct{ Token string }
		must(t, json.Unmarshal([]byte(text), &in))
		s.token = in.Token
	}
	return resp, text
}

func TestAPersonLogsInByTheProviderAndHowStandsInTheEvent(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`)
	asked := send(t.Context(), i.office.agent, atTerminal("s", "rm -r ./build"))
	id := asked.question(t)
	browser := i.surf(t)
	if resp, text := browser.login(t, i.provider, "ana-at-work"); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	resp, text := browser.send(t, "POST", "/v1/approvals/"+id+"/approve", "{}")
	var e api.Entry
	if err := json.Unmarshal([]byte(text), &e); err != nil || len(e.Votes) != 1 || e.Votes[0].Person != "ana" ||
		e.Votes[0].Credential != "oidc:ana-at-work" || e.Votes[0].Login != bailiff.LoginOIDC {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	wants(t, asked.end(t), bailiff.Completed, "")
	lines := ""
	for _, line := range i.decisions.Recent("s", 100) {
		lines += string(line)
	}
	if !strings.Contains(lines, `"via":"oidc:ana-at-work on console by oidc"`) {
		t.Errorf("the log says %s", lines)
	}
	if resp, text := browser.send(t, "POST", "/logout", ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("logging out: %d %s", resp.StatusCode, text)
	}
	if resp, text := browser.send(t, "GET", "/v1/status", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after that: %d %s", resp.StatusCode, text)
	}
}

func TestAnAccountOfNoPersonIsNotLoggedIn(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`)
	browser := i.surf(t)
	if resp, text := browser.login(t, i.provider, "eve"); resp.StatusCode != http.StatusForbidden ||
		!strings.Contains(text, "belongs to no person in people") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	i.provider.Break(true)
	if resp, text := i.surf(t).send(t, "GET", "/oidc/callback?code=x&state=y", ""); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a callback of no login: %d %s", resp.StatusCode, text)
	}
}

func TestTheCertificateIsReadAgainWithTheConfiguration(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`)
	i.roots = certified(t, i.folder)
	_, err := i.reload(t.Context(), i.cfg)
	must(t, err)
	if resp, text := i.surf(t).send(t, "GET", "/ways", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("with the new one: %d %s", resp.StatusCode, text)
	}
	save(t, filepath.Join(i.folder, "console.key"), "no key")
	if _, err := i.reload(t.Context(), i.cfg); err == nil || !strings.Contains(err.Error(), "reading operator.tls") {
		t.Errorf("with a bad one the reload says %v", err)
	}
	if resp, text := i.surf(t).send(t, "GET", "/ways", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("then the one so far serves on: %d %s", resp.StatusCode, text)
	}
}

// console is a client of the console, with the token of a login.
func (i *identified) console(t *testing.T, token string) *client.Client {
	t.Helper()
	c, err := client.NewConsole(i.consolePage.URL(), bailiff.NewSecret(token), i.roots)
	must(t, err)
	return c
}

func TestACommandLineLogsInAndAnswersAsThePerson(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}]`)
	asked := send(t.Context(), i.office.agent, atTerminal("s", "rm -r ./build"))
	id := asked.question(t)
	loggedOut := i.console(t, "")
	begun, err := loggedOut.BeginLogin(t.Context())
	must(t, err)
	i.provider.Confirm(t, begun.Code, "ana-at-work")
	in, err := loggedOut.AwaitLogin(t.Context(), begun.Device)
	must(t, err)
	if in.Person != "ana" || time.Until(in.ExpiresAt) > time.Hour {
		t.Errorf("logged in: %+v", in)
	}
	if again, err := loggedOut.AwaitLogin(t.Context(), begun.Device); err == nil {
		t.Errorf("a second one is logged in by the same code: %+v", again)
	}
	ana := i.console(t, in.Token)
	e, err := ana.Approve(t.Context(), id, "")
	must(t, err)
	if v := e.Votes[0]; v.Person != "ana" || v.Credential != "oidc:ana-at-work" || v.Login != bailiff.LoginDevice {
		t.Errorf("the vote is %+v", v)
	}
	wants(t, asked.end(t), bailiff.Completed, "")
	must(t, ana.Logout(t.Context()))
	for name, c := range map[string]*client.Client{"after the end": ana, "with no token": loggedOut, "with another": i.console(t, "x")} {
		if _, err := c.Status(t.Context()); err == nil {
			t.Errorf("%s the console answers", name)
		}
	}
}

func TestARemovedPersonIsLoggedOutWithTheReload(t *testing.T) {
	t.Parallel()
	i := startIdentified(t, `[{name: ana, oidc: [ana-at-work]}, {name: ben, oidc: [ben-at-work]}]`)
	ana, ben := i.surf(t), i.surf(t)
	ana.login(t, i.provider, "ana-at-work")
	ben.login(t, i.provider, "ben-at-work")
	patience := awaittest.Context(t)
	events, err := http.NewRequestWithContext(patience, http.MethodGet, ana.base+"/v1/events", nil)
	must(t, err)
	events.Header.Set("Bailiff-Token", ana.token)
	stream, err := ana.Do(events)
	must(t, err)
	defer func() { _ = stream.Body.Close() }()
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream is answered %d", stream.StatusCode)
	}
	next := *i.cfg
	next.People = next.People[1:]
	_, err = i.reload(t.Context(), &next)
	must(t, err)
	if _, _ = io.ReadAll(stream.Body); patience.Err() != nil {
		t.Error("the stream of who is removed goes on")
	}
	if resp, text := ana.send(t, "GET", "/v1/approvals", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("who is removed is answered %d %s", resp.StatusCode, text)
	}
	if resp, text := ben.send(t, "GET", "/v1/approvals", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("who is not is answered %d %s", resp.StatusCode, text)
	}
	link, _ := i.consolePage.Link(bailiff.Approver{Person: "ana", Credential: "uid:64000", Channel: bailiff.ChannelOperator})
	at, err := url.Parse(link)
	must(t, err)
	if resp, text := i.surf(t).send(t, "POST", "/login", `{"token": "`+at.Fragment+`"}`); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a link that is older than the removal: %d %s", resp.StatusCode, text)
	}
}
