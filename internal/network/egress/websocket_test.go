package egress

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestAWebSocketNeedsTheWordOfARow(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			t.Errorf("the server got %v", r.Header)
		}
		conn, said, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		line, err := bufio.NewReader(said).ReadString('\n')
		fmt.Fprintf(conn, "heard %s%v", line, err)
	})
	server.TLS.NextProtos = nil
	address := server.Listener.Addr().String()
	host := "allowed.test:" + port(address)
	asking := func(upgrade string) string {
		conn, err := net.Dial("tcp", proxied(t, w, address))
		must(t, err)
		defer conn.Close()
		must(t, conn.SetDeadline(awaittest.End(t)))
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
		_, err = http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		must(t, err)
		inside := tls.Client(conn, &tls.Config{ServerName: "allowed.test", RootCAs: trusting(t)})
		fmt.Fprintf(inside, "GET /live HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", host, upgrade)
		from := bufio.NewReader(inside)
		answer, err := http.ReadResponse(from, nil)
		must(t, err)
		if answer.StatusCode != http.StatusSwitchingProtocols {
			all, err := io.ReadAll(answer.Body)
			must(t, err)
			return answer.Status + " " + string(all)
		}
		fmt.Fprint(inside, "hello\n")
		all, err := io.ReadAll(from)
		must(t, err)
		return answer.Status + " " + string(all)
	}
	if got := asking("websocket"); !strings.HasPrefix(got, "403 ") || !strings.Contains(got, "websocket: true") {
		t.Errorf("without the word: %q", got)
	}
	w.mu.Lock()
	w.webSocket = true
	w.mu.Unlock()
	if got := asking("websocket"); !strings.HasPrefix(got, "101 ") || !strings.HasSuffix(got, " heard hello\n<nil>") {
		t.Errorf("with the word: %q", got)
	}
	for _, other := range []string{"h2c", "websocket, h2c"} {
		if got := asking(other); !strings.HasPrefix(got, "403 ") {
			t.Errorf("%s: %q", other, got)
		}
	}
	backendtest.Await(t, "the end is written down with its bytes", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.events, func(e Event) bool { return e.What == Closed && e.Sent > 0 && e.Received > 0 })
	})
}
