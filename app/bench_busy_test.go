package app

import (
	"strconv"
	"testing"
)

const (
	busyProcesses = 16
	busyTotal     = 20_000
)

// BenchmarkBusy has eight clients ask POST /v1/decide about new texts while sixteen processes keep every processor busy, with
// the default configuration. A judgement that is no permission, as where its time ran out, counts as a failure.
func BenchmarkBusy(b *testing.B) {
	request, _, _ := benchCase(b)
	s := startBailiff(b, b.TempDir(), request)
	s.name = func(n int64) string { return strconv.FormatInt(n, 10) }
	s.mayFail = true
	s.reset()
	busy(b, busyProcesses)
	for b.Loop() {
		for range busyTotal / benchClients / benchRequests {
			s.round(b)
		}
	}
	b.ReportMetric(float64(len(s.failures)), "failures")
	b.ReportMetric(s.rate(), "req/s")
	b.ReportMetric(float64(s.percentile(99).Microseconds())/1000, "p99-ms")
	for _, err := range s.failures[:min(3, len(s.failures))] {
		b.Log(err)
	}
}
