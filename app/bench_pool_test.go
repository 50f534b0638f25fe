package app

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// BenchmarkNewSession times the first request of a session, "true" through POST
// /v1/execute, where a sandbox stands ready and where none does, against the
// docker run command with the same image. The sides take turns; medians are
// reported, and their ratios.
func BenchmarkNewSession(b *testing.B) {
	warm := startSidecar(b, dockerBackend, "limits: {warm: {sandboxes: 2}}")
	cold := startSidecar(b, dockerBackend, keepNoneReady)
	mustComplete(b, warm.client(b), inChat("first", "true"))
	times := map[string][]time.Duration{}
	sides := map[string]func(session string){
		"handed-over": func(session string) { mustComplete(b, warm.client(b), inChat(session, "true")) },
		"made":        func(session string) { mustComplete(b, cold.client(b), inChat(session, "true")) },
		"docker-run":  func(string) { mustRun(b, "docker", "run", "--rm", "--network", "none", sandboxImage, "true") },
	}
	n := 0
	for b.Loop() {
		for name, side := range sides {
			n++
			session := fmt.Sprint("s", n)
			warm.awaitReady(b, 2)
			start := time.Now()
			side(session)
			times[name] = append(times[name], time.Since(start))
			for _, s := range []*running{warm, cold} {
				if _, err := s.enforcer.EndSession(b.Context(), "test", session); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	run := float64(median(times["docker-run"]))
	for name, all := range times {
		b.ReportMetric(float64(median(all).Microseconds())/1000, name+"-ms")
		b.ReportMetric(float64(median(all))/run, name+"/docker-run")
	}
	b.ReportMetric(0, "ns/op") // a round's, which says nothing
}

var sandboxGauge = regexp.MustCompile(`(?m)^bailiff_sandboxes\{backend="docker"\} (\d+)$`)

// awaitReady returns when as many sandboxes stand ready.
func (r *running) awaitReady(tb testing.TB, want int) {
	tb.Helper()
	awaittest.Until(tb, "sandboxes that stand ready", func() bool {
		found := sandboxGauge.FindStringSubmatch(get(tb, r, "/metrics"))
		if len(found) < 2 {
			return false
		}
		there, err := strconv.Atoi(found[1])
		return err == nil && there-len(r.enforcer.Sandboxes()) == want
	})
}
