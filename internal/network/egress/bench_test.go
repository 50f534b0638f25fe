package egress

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkProxy compares requests by the proxy with the same ones directly, by turns:
// medians, and their ratio. Judging and the log cost nothing here.
func BenchmarkProxy(b *testing.B) {
	body := strings.Repeat("x", 64<<20)
	w, server := secured(b, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = io.WriteString(w, body)
		}
	})
	address := server.Listener.Addr().String()
	at := "https://allowed.test:" + port(address)
	proxy := proxied(b, w, address)
	proxied := program(b, proxy, false)
	direct := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}}}
	b.Run("a request of a kept connection", func(b *testing.B) {
		compare(b, getting(b, proxied, at+"/"), getting(b, direct, at+"/"))
	})
	b.Run("a new connection", func(b *testing.B) {
		compare(b, anew(b, proxied, at+"/"), anew(b, direct, at+"/"))
	})
	b.Run("64 MiB", func(b *testing.B) { compare(b, getting(b, proxied, at+"/large"), getting(b, direct, at+"/large")) })
	b.Run("64 MiB by HTTP/2", func(b *testing.B) {
		second := program(b, proxy, true)
		transport := direct.Transport.(*http.Transport).Clone()
		transport.ForceAttemptHTTP2 = true
		compare(b, getting(b, second, at+"/large"), getting(b, &http.Client{Transport: transport}, at+"/large"))
	})
	b.Run("a hundred at a time, twenty requests each", func(b *testing.B) {
		compare(b, hundred(getting(b, proxied, at+"/")), hundred(getting(b, direct, at+"/")))
	})
}

func getting(b *testing.B, client *http.Client, address string) func() {
	return func() {
		answer, err := client.Get(address)
		if err != nil {
			b.Error(err)
			return
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			b.Errorf("got %s, %v", answer.Status, err)
		}
	}
}

// anew makes a connection for each request.
func anew(b *testing.B, client *http.Client, address string) func() {
	get := getting(b, client, address)
	return func() {
		get()
		client.CloseIdleConnections()
	}
}

func hundred(get func()) func() {
	return func() {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				for range 20 {
					get()
				}
			})
		}
		all.Wait()
	}
}

// compare reports how long both take.
func compare(b *testing.B, proxied, direct func()) {
	proxied() // the first makes connections
	direct()
	var by, without []time.Duration
	for b.Loop() {
		by, without = append(by, timed(proxied)), append(without, timed(direct))
	}
	slices.Sort(by)
	slices.Sort(without)
	one, other := by[len(by)/2], without[len(without)/2]
	b.ReportMetric(float64(one.Microseconds())/1000, "proxied-ms")
	b.ReportMetric(float64(other.Microseconds())/1000, "direct-ms")
	b.ReportMetric(float64(one)/float64(other), "ratio")
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}
