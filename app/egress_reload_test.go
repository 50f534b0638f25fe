package app

import (
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// nameServer is a DNS server by which each name stands for 127.0.0.1.
func nameServer(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		var question [1 << 10]byte
		for {
			n, from, err := conn.ReadFrom(question[:])
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(question[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

func TestTheSectionEgressChangesWithoutARestart(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	const section = "backends: {bubblewrap: {}}"
	s := startOffice(t, openDir(t), onePerson(t, section, "egress: {resolver: [\"127.0.0.1:1\"], own: [\""+service+"\"]}",
		wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
	run := func(want string) {
		t.Helper()
		a := ask(t, s.client(t), inPython("s", fetch("http://plain.test:"+port+"/a"))) // a reload opens the socket anew
		if a.Status != bailiff.Completed || a.Output != want {
			t.Errorf("%s, it printed %q, want %q", a.Status, a.Output, want)
		}
	}
	run("403 egress.unreachable\n") // no server of names is there
	next := *s.cfg
	next.Egress.Resolver = []netip.AddrPort{nameServer(t)}
	waiting, err := s.reload(t.Context(), &next)
	if err != nil || len(waiting) > 0 {
		t.Fatalf("waiting are %q, %v", waiting, err)
	}
	run("served /a\n")
	broken := next
	broken.Egress.Resolver, broken.Egress.Trust = nil, []string{filepath.Join(openDir(t), "gone.pem")}
	broken.Limits.Sandboxes.Total, broken.People = 7, nil
	if _, err := s.reload(t.Context(), &broken); err == nil ||
		!strings.Contains(err.Error(), "nothing but rights is changed: taking over the section egress") {
		t.Errorf("of a file that is not there it says %v", err)
	}
	if s.cfg.Limits.Sandboxes.Total == 7 || len(s.cfg.People) > 0 {
		t.Errorf("of a refused configuration %d sandboxes and the people %v are in force", s.cfg.Limits.Sandboxes.Total, s.cfg.People)
	}
	run("served /a\n")
	for _, direct := range []struct {
		on   bool
		want string
	}{{true, "served /a"}, {false, "gaierror"}, {true, "served /a"}} {
		next.Egress.Direct = direct.on
		_, err = s.reload(t.Context(), &next)
		must(t, err)
		a := ask(t, s.client(t), withInput("s", directly, "plain.test:"+port))
		if a.Output != "plain.test "+direct.want+"\n" {
			t.Errorf("%s, without a proxy it printed %q, want %s", a.Message, a.Output, direct.want)
		}
		status, err := s.operator.Status(t.Context())
		must(t, err)
		if status.Egress.Direct != direct.on {
			t.Errorf("the status says %t", status.Egress.Direct)
		}
	}
	next.Egress.Own = nil
	_, err = s.reload(t.Context(), &next)
	must(t, err)
	run("403 floor.address\n")
}

func TestAConnectionWaitsForPeopleAsLongAsTheSectionSays(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [repo.example.com]}}\n      ask_new_hosts: {cli: true}\n")
	s := startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {}}", "egress: {limits: {hold_seconds: 1}}", policies))
	a := ask(t, s.agent, reading("s", "http://one.test/"))
	wants(t, a, bailiff.Completed, "one.test:80 (egress.new_host, once).")
	if a.Egress == nil || len(a.Egress.Blocked) != 1 || a.Egress.Blocked[0].Approval == "" {
		t.Errorf("told is %+v", a.Egress)
	}
}

func TestWhatTheProxyRefusesUnreadIsToldAndCounted(t *testing.T) {
	t.Parallel()
	s := startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {}}", "egress: {limits: {connections: 1}}",
		wayOut(t, "      plain.test: [{ports: [80], protocol: http}]\n")))
	a := ask(t, s.agent, inPython("s", `import os, socket, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
def say(text):
    s = socket.create_connection((proxy.hostname, proxy.port), timeout=20)
    s.sendall(text)
    print(s.recv(12), flush=True)
    return s
first = say(b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")
second = say(b"CONNECT many.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
third = say(b"nonsense\r\n\r\n")
`))
	wants(t, a, bailiff.Completed, "many.test:443 (egress.too_many, once), a connection that names no host (egress.malformed, once).")
	if want := "b'HTTP/1.1 403'\nb'HTTP/1.1 429'\nb'HTTP/1.1 400'\n"; a.Output != want || a.Egress == nil || len(a.Egress.Blocked) != 3 {
		t.Errorf("it printed %q, told is %+v", a.Output, a.Egress)
	}
	backendtest.Await(t, "the refusals are counted", func() bool {
		page := get(t, s.running, "/metrics")
		return strings.Contains(page, `bailiff_egress_refusals_total{rule="egress.too_many"} 1`) &&
			strings.Contains(page, `bailiff_egress_refusals_total{rule="egress.malformed"} 1`)
	})
}
