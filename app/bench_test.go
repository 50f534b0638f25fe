package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// BenchmarkExecute times "true" through POST /v1/execute in a warm sandbox
// against the docker exec command with the same bash, and against the same bash
// forked on the host. It is timed twice: as a request that was judged before,
// and with a text that is new each time. The sides take turns, a few runs each,
// so that a noisy machine is noisy for all; medians are reported, and their
// ratios.
func BenchmarkExecute(b *testing.B) {
	for _, backend := range []string{"docker", "bubblewrap"} {
		b.Run(backend, func(b *testing.B) {
			s := startSidecar(b, "backends: {"+backend+": {"+imageOf(backend)+"}}")
			req := inChat("bench", "true")
			sandbox := mustComplete(b, s.client(b), req).SandboxID
			send := s.poster()
			sides := map[string]func(){
				"new":      newTexts(b, send),
				"repeated": func() { send(b, req) },
				"host":     func() { mustRun(b, "bash", "--noprofile", "--norc", "-c", "true") },
			}
			if backend == "docker" {
				sides["docker-exec"] = func() { mustRun(b, "docker", "exec", sandbox, "bash", "--noprofile", "--norc", "-c", "true") }
			}
			report(b, takeTurns(b, sides))
		})
	}
}

// newTexts sends "true" with another comment each time.
func newTexts(b *testing.B, send func(*testing.B, bailiff.Request)) func() {
	n := 0
	return func() {
		n++
		send(b, inChat("bench", fmt.Sprintf("true # %d", n)))
	}
}

// poster sends requests to /v1/execute and wants them completed.
func (r *running) poster() func(*testing.B, bailiff.Request) {
	socket := r.cfg.Agent.Listeners[0].Listen.Address
	agent := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	return func(b *testing.B, req bailiff.Request) {
		body, err := json.Marshal(req)
		must(b, err)
		resp, err := agent.Post("http://x/v1/execute", "application/json", bytes.NewReader(body))
		must(b, err)
		defer func() { _ = resp.Body.Close() }()
		if text, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(text, []byte(`"status":"completed"`)) {
			b.Fatalf("answered %s %v", text, err)
		}
	}
}

// inARow is how often each side runs when it is its turn; the first run, which
// pays for what the side before has left to the machine, does not count.
const inARow = 6

// takeTurns runs every side a few times in each round and returns their times.
func takeTurns(b *testing.B, sides map[string]func()) map[string][]time.Duration {
	times := map[string][]time.Duration{}
	for b.Loop() {
		for name, side := range sides {
			for n := range inARow {
				start := time.Now()
				side()
				if n > 0 {
					times[name] = append(times[name], time.Since(start))
				}
			}
		}
	}
	return times
}

func report(b *testing.B, times map[string][]time.Duration) {
	for name, all := range times {
		b.ReportMetric(float64(median(all).Microseconds()), name+"-µs")
	}
	for _, own := range []string{"new", "repeated"} {
		for _, other := range []string{"docker-exec", "host"} {
			if times[other] != nil {
				b.ReportMetric(float64(median(times[own]))/float64(median(times[other])), own+"/"+other)
			}
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func mustComplete(tb testing.TB, agent *client.Client, req bailiff.Request) api.Answer {
	a, err := agent.Execute(context.Background(), req, client.News{})
	if err != nil || a.Status != bailiff.Completed {
		tb.Fatalf("answer is %s %s %v", a.Status, a.Message, err)
	}
	return a
}

func mustRun(tb testing.TB, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
}

func imageOf(backend string) string {
	if backend == "docker" {
		return `image: "` + sandboxImage + `"`
	}
	return ""
}
