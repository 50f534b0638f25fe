package egress

import (
	"bytes"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// scripted is a connection on which a program has said all that it will say.
type scripted struct {
	*bytes.Reader
	said bytes.Buffer
}

func (s *scripted) Write(b []byte) (int, error)      { return s.said.Write(b) }
func (*scripted) Close() error                       { return nil }
func (*scripted) CloseWrite() error                  { return nil }
func (*scripted) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (*scripted) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
func (*scripted) SetDeadline(time.Time) error        { return nil }
func (*scripted) SetReadDeadline(time.Time) error    { return nil }
func (*scripted) SetWriteDeadline(t time.Time) error { return nil }

// reader is a judge that lets nothing through, and complains of what has two meanings.
type reader struct {
	*world
	t *testing.T
}

func (r reader) Connection(ctx context.Context, c bailiff.Connection) bailiff.ConnectionJudgement {
	host, address := c.Host, netip.Addr{}
	if c.IsAddress {
		address, _ = netip.ParseAddr(host)
	}
	if address.Is6() {
		host = "[" + host + "]"
	}
	if read, err := reach.ParseHost(host); err != nil || read.String() != c.Host || c.Port < 1 || c.Port > 65535 {
		r.t.Errorf("judged is %q at %d: %v", c.Host, c.Port, err)
	}
	clean, plain := path.Clean(c.Path), withoutDots(c.Path)
	if plain != "" && clean != plain && clean+"/" != plain || strings.ContainsAny(plain, "\\;#?\r\n\x00") {
		r.t.Errorf("judged is the path %q", c.Path)
	}
	return r.world.Connection(ctx, c)
}

// heard has a proxy serve what a program says to its end, and returns what it did.
func heard(t *testing.T, said []byte) (w *world, answer string) {
	t.Helper()
	w = &world{}
	proxy, err := New(Config{Judge: reader{w, t}, Recorder: w, Resolver: w, Dialer: w, Roots: x509.NewCertPool(),
		Floor: reach.NewFloor(nil, func() ([]netip.Addr, error) { return nil, nil }), Key: bytes.Repeat([]byte{7}, KeySize),
		Limits: Limits{1, 1, 1, 1}})
	must(t, err)
	conn := &scripted{Reader: bytes.NewReader(said)}
	proxy.Serve(t.Context(), conn, bailiff.Connection{Sandbox: "s1"}, nil, request{w})
	return w, conn.said.String()
}

func wantNothingOut(t *testing.T, w *world) {
	t.Helper()
	for _, step := range w.done() {
		if !strings.HasPrefix(step, "judge ") && step != "record refused" {
			t.Errorf("it did %q", step)
		}
	}
}

func FuzzSOCKS(f *testing.F) {
	for _, seed := range []string{"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x01\xbb",
		"\x05\x02\x00\x02\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50",
		"\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x03\x0ea.test\x00.b.test\x01\xbb",
		"\x05\x00", "\x05\x01\x00\x05\x03\x00\x03\x00\x00\x00", "\x04\x01\x01\xbb\x00\x00\x00\x01\x00a.test\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) == 0 || said[0] != socksVersion {
			return
		}
		w, answer := heard(t, said)
		wantNothingOut(t, w)
		if strings.HasPrefix(answer, "\x05\x00\x05\x00") {
			t.Errorf("%q is answered as open: %q", said, answer)
		}
	})
}

func FuzzHTTPHeads(f *testing.F) {
	for _, seed := range []string{
		"GET http://a.test/b?c HTTP/1.1\r\nHost: a.test\r\n\r\n", "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
		"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET http://a.test/a%2fb/..%2f HTTP/1.1\r\nHost: b.test\r\n\r\nGET http://[::1]:80/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://user@a.test:0x50/;x HTTP/1.0\n\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) == 0 || said[0] == socksVersion || said[0] == socks4Version {
			return
		}
		w, answer := heard(t, said)
		wantNothingOut(t, w)
		if strings.HasPrefix(answer, "HTTP/1.1 2") {
			t.Errorf("%q is answered as open: %q", said, answer)
		}
	})
}
