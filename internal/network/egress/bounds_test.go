package egress

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// endless are so many megabytes whose length is not known beforehand.
func endless(megabytes int) io.Reader {
	return io.MultiReader(bytes.NewReader(make([]byte, megabytes*megabyte)))
}

func TestNoMorePassesThanTheLimitsSay(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/known" {
			w.Header().Set("Content-Length", "3145728")
		}
		if strings.HasPrefix(r.URL.Path, "/known") || r.URL.Path == "/unknown" {
			_, _ = io.Copy(w, endless(3))
		}
	})
	w.bounds = bailiff.ConnectionLimits{UploadMB: 1, DownloadMB: 2}
	w.allowed["https allowed.test HEAD"] = true
	service := server.Listener.Addr().String()
	proxy, base := proxied(t, w, service), "https://allowed.test:"+port(service)
	var refused []string
	for version, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		client := program(t, proxy, http2)
		ask := func(method, path string, body io.Reader) (status int, rule string, length int) {
			r, err := http.NewRequestWithContext(t.Context(), method, base+path, body)
			must(t, err)
			answer, err := client.Do(r)
			if err != nil {
				return 0, "", 0
			}
			defer answer.Body.Close()
			all, err := io.ReadAll(answer.Body)
			if err != nil {
				return 0, "", len(all)
			}
			return answer.StatusCode, answer.Header.Get("X-Bailiff-Rule"), len(all)
		}
		for name, c := range map[string]struct {
			method, path string
			body         io.Reader
			status       int
		}{
			"as much as may":        {"POST", "/", endless(1), http.StatusOK},
			"an upload of a length": {"POST", "/", bytes.NewReader(make([]byte, 2*megabyte)), http.StatusRequestEntityTooLarge},
			"an upload of none":     {"POST", "/", endless(64), http.StatusRequestEntityTooLarge},
			"an answer of a length": {"GET", "/known", nil, http.StatusForbidden},
			"an answer of none":     {"GET", "/unknown", nil, 0},
			"the head of an answer": {"HEAD", "/known", nil, http.StatusOK},
		} {
			status, rule, length := ask(c.method, c.path, c.body)
			if status != c.status && !(c.status == http.StatusRequestEntityTooLarge && status == 0) {
				t.Errorf("%s, %s: status %d %s, want %d", version, name, status, rule, c.status)
			}
			if length > 2*megabyte {
				t.Errorf("%s, %s: %d bytes came", version, name, length)
			}
			if c.status != http.StatusOK {
				refused = append(refused, ruleTooMuch)
			}
			if told := w.refusals(t, len(refused)); !slices.Equal(told, refused) {
				t.Errorf("%s, %s: written down is %q, want %q", version, name, told, refused)
			}
		}
	}
}

func TestATunnelIsCutWhereTooMuchPasses(t *testing.T) {
	sink, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer sink.Close()
	took := make(chan int64, 1)
	go func() {
		conn, err := sink.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		n, _ := io.Copy(io.Discard, conn) // it is cut
		took <- n
	}()
	address := sink.Addr().String()
	w := &world{allowed: map[string]bool{"tcp db.corp": true}, names: map[string][]string{"db.corp": {"127.0.0.1"}},
		bounds: bailiff.ConnectionLimits{UploadMB: 1}}
	number := netip.MustParseAddrPort(address).Port()
	program, err := net.Dial("tcp", proxied(t, w, address))
	must(t, err)
	defer program.Close()
	_, err = io.WriteString(program, "\x05\x01\x00\x05\x01\x00\x03\x07db.corp"+string([]byte{byte(number >> 8), byte(number)}))
	must(t, err)
	_, _ = io.Copy(program, endless(64)) // it is cut
	if n := <-took; n > megabyte {
		t.Errorf("%d bytes passed", n)
	}
	if got := w.refusals(t, 1); !slices.Equal(got, []string{ruleTooMuch}) {
		t.Errorf("written down is %q", got)
	}
}
