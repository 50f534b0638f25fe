package replay

import (
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// BenchmarkReplay judges 100,000 logged decisions anew, of requests as agents send
// them and of as many different ones: the time it takes, and that of the processors,
// which tells the same on a machine that is busy.
func BenchmarkReplay(b *testing.B) {
	for name, requests := range map[string]func(testing.TB, int) []bailiff.Request{"usual": usual, "new": mixture} {
		b.Run(name, func(b *testing.B) { replayed(b, requests) })
	}
}

func replayed(b *testing.B, requests func(testing.TB, int) []bailiff.Request) {
	const decisions = 100_000
	folder := logged(b, shipped(b, nil), requests(b, decisions)...)
	tried := shipped(b, map[string]string{"house.rego": stern})
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does, which ends soon
	b.ResetTimer()
	for b.Loop() {
		began, used := time.Now(), processor(b)
		report, err := Trial{Policies: tried, Floor: bare}.Run(b.Context(), []string{folder})
		if must(b, err); report.Judged != decisions {
			b.Fatalf("judged %d", report.Judged)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s")
		b.ReportMetric((processor(b) - used).Seconds(), "s-processor")
	}
}

// processor is the time that this process has used.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
