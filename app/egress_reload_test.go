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
		if a := ask(t, s.agent, inPython("s", fetch("http://plain.test:"+port+"/a"))); a.Status != bailiff.Completed || a.Output != want {
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
	if _, err := s.reload(t.Context(), &broken); err == nil ||
		!strings.Contains(err.Error(), "section egress, of which nothing is changed") {
		t.Errorf("of a file that is not there it says %v", err)
	}
	run("served /a\n")
	next.Egress.Own = nil
	_, err = s.reload(t.Context(), &next)
	must(t, err)
	run("403 floor.address\n")
}
