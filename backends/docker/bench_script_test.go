package docker

import (
	"context"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/kernel"
)

// BenchmarkScript compares by turns a script in a live interpreter with a python3
// that "docker exec" starts for it in the same container.
func BenchmarkScript(b *testing.B) {
	sb := backendtest.Open(b, testBackend(b), testSpec(b))
	k, err := kernel.Start(b.Context(), sb, nil)
	backendtest.Must(b, err)
	defer func() { _ = k.End(context.Background()) }()
	script := kernel.Script{Code: "1+1", Timeout: time.Minute, HeadBytes: 1 << 16}
	took := map[string][]time.Duration{}
	measure := func(way string, do func()) {
		began := time.Now()
		do()
		took[way] = append(took[way], time.Since(began))
	}
	for b.Loop() {
		measure("interpreter", func() {
			if exit, err := k.Run(b.Context(), script, func([]byte) {}, nil); err != nil || exit.Code != 0 {
				b.Fatalf("it ended as %+v, %v", exit, err)
			}
		})
		measure("docker-exec", func() { runOnHost(b, "docker", "exec", sb.ID(), "python3", "-c", "1+1") })
	}
	for way, all := range took {
		b.ReportMetric(median(all).Seconds()*1e3, way+"-ms")
	}
	b.ReportMetric(ratio(took["docker-exec"], took["interpreter"]), "docker-exec/interpreter")
}
