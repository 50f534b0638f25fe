package backendtest

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Benchmark compares commands in a warm sandbox with the same on the host, by
// turns: medians, and their ratio.
func Benchmark(b *testing.B, backend backends.Backend, spec backends.Spec) {
	warm := open(b, new(Config), backend, spec)
	inside := func(cmd backends.Command) func() error {
		return func() error {
			_, err := warm.Run(context.Background(), cmd, func([]byte) {})
			return err
		}
	}
	onHost := func(cmd backends.Command) func() error {
		return func() error { return exec.Command(cmd.Argv[0], cmd.Argv[1:]...).Run() }
	}
	short := runner.Shell("true")
	b.Run("true", func(b *testing.B) { compare(b, inside(short), onHost(short)) })
	b.Run("sixteen at a time", func(b *testing.B) { compare(b, sixteen(inside(short)), sixteen(onHost(short))) })
	const gigabyte = "head -c 1000000000 /dev/zero"
	long := runner.Shell(gigabyte)
	long.HeadBytes, long.TailBytes = 40_000, 10_000
	b.Run("a gigabyte", func(b *testing.B) { compare(b, inside(long), onHost(runner.Shell(gigabyte+" | cat >/dev/null"))) })
}

// sixteen does something many times, sixteen at a time.
func sixteen(do func() error) func() error {
	const times = 10
	return func() error {
		var all sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			all.Go(func() {
				for range times {
					errs[i] = errors.Join(errs[i], do())
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	}
}

func compare(b *testing.B, inside, onHost func() error) {
	took := map[string][]time.Duration{}
	for b.Loop() {
		for way, do := range map[string]func() error{"sandbox": inside, "host": onHost} {
			start := time.Now()
			Must(b, do())
			took[way] = append(took[way], time.Since(start))
		}
	}
	for way, all := range took {
		b.ReportMetric(float64(median(all).Microseconds()), way+"-µs")
	}
	b.ReportMetric(float64(median(took["sandbox"]))/float64(median(took["host"])), "sandbox/host")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
