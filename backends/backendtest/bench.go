package backendtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
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

// BenchmarkOutlet compares a gigabyte through a sandbox's outlet with one over the host's
// loopback, by turns, and a command beside such traffic with one that is alone.
func BenchmarkOutlet(b *testing.B, backend backends.Backend, spec backends.Spec) {
	spec.Network = backends.Egress
	warm := open(b, new(Config), backend, spec)
	facts, err := warm.openOutlet(backends.OutletTerms{MostConnections: 128}, func(c backends.OutletConn) { pour(c) })
	Must(b, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(b, err)
	b.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go pour(c)
		}
	}()
	fetch := func(host string, port, bytes int) backends.Command {
		return runner.Shell(fmt.Sprintf("exec 3<>/dev/tcp/%s/%d && echo %d >&3 && exec cat <&3 >/dev/null", host, port, bytes))
	}
	inside := func(cmd backends.Command) func() error {
		return func() error {
			exit, err := warm.Run(context.Background(), cmd, func([]byte) {})
			if err == nil && exit.Code != 0 {
				err = fmt.Errorf("it ended with %d", exit.Code)
			}
			return err
		}
	}
	host := backends.OutletHost(1).String()
	b.Run("a gigabyte", func(b *testing.B) {
		direct := fetch("127.0.0.1", listener.Addr().(*net.TCPAddr).Port, 1e9)
		compare(b, inside(fetch(host, facts.Port, 1e9)), func() error { return exec.Command(direct.Argv[0], direct.Argv[1:]...).Run() })
	})
	for _, downloads := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("true beside %d downloads", downloads), func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			var all sync.WaitGroup
			if downloads > 0 {
				busy := shell(fmt.Sprintf("for i in {1..%d}; do (%s) & done; wait", downloads, fetch(host, facts.Port, 1e12).Argv[4]))
				all.Go(func() { _, _ = warm.Run(ctx, busy, func([]byte) {}) })
				time.Sleep(time.Second) // until all of them are under way
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				Must(b, inside(runner.Shell("true"))())
				took = append(took, time.Since(start))
			}
			cancel()
			all.Wait()
			b.ReportMetric(float64(Median(took).Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// pour sends as many bytes as a line asks for.
func pour(c net.Conn) {
	defer c.Close()
	word, _ := bufio.NewReader(c).ReadString('\n')
	var left int
	if _, err := fmt.Sscan(word, &left); err != nil {
		return
	}
	for piece := make([]byte, 256<<10); left > 0; left -= len(piece) {
		if _, err := c.Write(piece[:min(left, len(piece))]); err != nil {
			return
		}
	}
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
	took := ByTurns(b, map[string]func() error{"sandbox": inside, "host": onHost})
	b.ReportMetric(float64(Median(took["sandbox"]))/float64(Median(took["host"])), "sandbox/host")
}

// ByTurns does the same in several ways, by turns, so that a busy machine is busy for all of them, and reports the
// median of each in µs.
func ByTurns(b *testing.B, ways map[string]func() error) (took map[string][]time.Duration) {
	took = map[string][]time.Duration{}
	for b.Loop() {
		for way, do := range ways {
			start := time.Now()
			Must(b, do())
			took[way] = append(took[way], time.Since(start))
		}
	}
	for way, all := range took {
		b.ReportMetric(float64(Median(all).Microseconds()), way+"-µs")
	}
	return took
}

// Median sorts times, and is the one in the middle.
func Median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
