package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// from connects to a listener on TCP from an address of this machine.
func from(t *testing.T, d *Listener, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(d.Address(), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAThousandSlowConnectionsHoldNoOtherClientUp(t *testing.T) {
	t.Parallel()
	var crowded atomic.Int32
	d := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("t"), HeaderTimeout: time.Minute,
		Crowded: func() { crowded.Add(1) }}, agentHandler(t, agentOf(&enforcer{})))
	for range 1000 {
		_, _ = io.WriteString(from(t, d, "127.0.0.2"), "P") // and never goes on
	}
	ctx := awaittest.Context(t)
	for range 100 {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+strings.TrimPrefix(d.Address(), "tcp://")+"/v1/decide",
			strings.NewReader(telegramRequest))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer t")
		req.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatalf("beside 1,000 slow connections: %v", err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("beside 1,000 slow connections it is answered %d", answer.StatusCode)
		}
	}
	if n := crowded.Load(); n != 1000-maxPerPeer {
		t.Errorf("%d connections were turned away, want all beyond %d", n, maxPerPeer)
	}
}

func TestAPeerBeyondItsShareIsToldSoAndFindsAPlaceAgain(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]ListenerConfig{"a process on a socket": {},
		"an address on TCP": {Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("t")}} {
		t.Run(name, func(t *testing.T) {
			config.MaxPerPeer = 2
			d := open(t, config, agentHandler(t, agentOf(&enforcer{})))
			held := []net.Conn{knockRaw(t, d, "P"), knockRaw(t, d, "P")}
			refused := knockRaw(t, d, "")
			said, _ := io.ReadAll(refused)
			if head, body, _ := strings.Cut(string(said), "\r\n\r\n"); !strings.HasPrefix(head, "HTTP/1.1 503 ") ||
				!strings.HasSuffix(head, fmt.Sprintf("\nContent-Length: %d", len(body))) || !strings.Contains(body, `"code":"busy"`) {
				t.Errorf("it is told %q", said)
			}
			_ = held[0].Close()
			awaittest.Until(t, "a place to be free", func() bool {
				bounded := d.socket.(*boundedListener)
				bounded.mu.Lock()
				defer bounded.mu.Unlock()
				for _, all := range bounded.held {
					return len(all) == 1
				}
				return false
			})
			c := knockRaw(t, d, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if said, err := io.ReadAll(c); err != nil || strings.Contains(string(said), " 503 ") {
				t.Errorf("once there is a place it is told %q, %v", said, err)
			}
		})
	}
}

func TestAConnectionThatWaitsForANextRequestMakesRoomForANewOne(t *testing.T) {
	t.Parallel()
	const most = 2
	d := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("t"), MaxPerPeer: most,
		Crowded: func() { t.Error("a connection was turned away") }}, agentHandler(t, agentOf(&enforcer{})))
	for n := range 5 * most { // each from a client that keeps its connection
		client := &http.Transport{}
		t.Cleanup(client.CloseIdleConnections)
		url := "http://" + strings.TrimPrefix(d.Address(), "tcp://") + "/healthz"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer t")
		answer, err := client.RoundTrip(req)
		if err != nil {
			t.Fatalf("the request on connection %d: %v", n, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		awaittest.Until(t, "the connection to wait for a next request", func() bool { return waiting(d.socket.(*boundedListener)) > 0 })
	}
}

// waiting counts the connections that wait for a next request.
func waiting(b *boundedListener) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, all := range b.held {
		for _, c := range all {
			if c.idle.Load() {
				n++
			}
		}
	}
	return n
}
