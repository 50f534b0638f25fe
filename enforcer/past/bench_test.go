package past

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// ofUser is a session of a user of its own.
func ofUser(n int) bailiff.Request {
	req := of(fmt.Sprintf("s%d", n))
	req.Session.UserID = fmt.Sprint(n % 500)
	return req
}

// What live sessions of thirty facts take in memory, whose facts were all asked for.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		s := InMemory()
		before := heap()
		const sessions = 10_000
		for n := range sessions {
			req := ofUser(n)
			for f := range 30 {
				s.Add(req, brought(fmt.Sprintf("/workspace/%d/brought-%d.sh", n, f), fmt.Sprintf("%064d", 30*n+f)))
			}
			s.Of(req)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB/10000sessions")
		runtime.KeepAlive(s)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a restart takes longer for a thousand sessions of thirty facts.
func BenchmarkRestart(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		for f := range 30 {
			s.Add(ofUser(n), brought(fmt.Sprintf("/workspace/brought-%d.sh", f), fmt.Sprintf("%064d", 30*n+f)))
		}
	}
	for b.Loop() {
		if _, err := Open(Config{Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}
