package backendtest

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Benchmark compares a trivial command in a warm sandbox with the same bash
// forked on the host: medians, and their ratio.
func Benchmark(b *testing.B, backend backends.Backend, spec backends.Spec) {
	warm := open(b, backend, spec)
	cmd := runner.Shell("true")
	var inside, forked []time.Duration
	for b.Loop() {
		inside = append(inside, took(b, func() error {
			_, err := warm.Run(context.Background(), cmd, func([]byte) {})
			return err
		}))
		forked = append(forked, took(b, exec.Command(cmd.Argv[0], cmd.Argv[1:]...).Run))
	}
	b.ReportMetric(float64(median(inside).Microseconds()), "sandbox-µs")
	b.ReportMetric(float64(median(forked).Microseconds()), "fork-µs")
	b.ReportMetric(float64(median(inside))/float64(median(forked)), "ratio")
}

func took(b *testing.B, do func() error) time.Duration {
	start := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
