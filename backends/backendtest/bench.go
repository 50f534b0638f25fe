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
// loopback and with one by other ways into the sandbox, by turns; a command beside such traffic
// with one that is alone; and a sandbox that has an outlet with one that has none. Others are
// given the sandbox and the number of bytes.
func BenchmarkOutlet(b *testing.B, backend backends.Backend, spec backends.Spec,
	others map[string]func(sandbox backends.Sandbox, bytes int) error) {
	b.Run("made", func(b *testing.B) { compareMade(b, backend, spec) })
	spec.Network = backends.Egress
	warm := open(b, new(Config), backend, spec)
	facts, err := warm.openOutlet(backends.OutletTerms{MostConnections: 128}, func(c backends.OutletConn) { pour(c) })
	Must(b, err)
	source := pouring(b)
	outlet := backends.OutletHost(1).String()
	b.Run("a gigabyte", func(b *testing.B) {
		direct := fetch("127.0.0.1", source, 1e9)
		ways := map[string]func() error{"sandbox": func() error { return warm.succeed(fetch(outlet, facts.Port, 1e9)) },
			"host": func() error { return exec.Command(direct.Argv[0], direct.Argv[1:]...).Run() }}
		for name, do := range others {
			ways[name] = func() error { return do(warm.Sandbox, 1e9) }
		}
		took := ByTurns(b, ways)
		for name, all := range took {
			if name != "sandbox" {
				b.ReportMetric(float64(Median(all))/float64(Median(took["sandbox"])), "rate/"+name)
			}
		}
	})
	for _, downloads := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("true beside %d downloads", downloads), func(b *testing.B) {
			benchmarkBeside(b, warm, downloads, fetch(outlet, facts.Port, 1e12).Argv[4])
		})
	}
}

// pouring is the port of a server on the host's loopback that sends as many bytes as it is asked for.
func pouring(b *testing.B) (port int) {
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
	return listener.Addr().(*net.TCPAddr).Port
}

// fetch asks such a server for bytes.
func fetch(host string, port, bytes int) backends.Command {
	return runner.Shell(fmt.Sprintf("exec 3<>/dev/tcp/%s/%d && echo %d >&3 && exec cat <&3 >/dev/null", host, port, bytes))
}

// succeed runs a command, which has to end with 0.
func (b box) succeed(cmd backends.Command) error {
	exit, err := b.Run(context.Background(), cmd, func([]byte) {})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("it ended with %d", exit.Code)
	}
	return err
}

// benchmarkBeside times a command while as many downloads go on.
func benchmarkBeside(b *testing.B, warm box, downloads int, download string) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	if downloads > 0 {
		busy := shell(fmt.Sprintf("for i in {1..%d}; do (%s) & done; wait", downloads, download))
		all.Go(func() { _, _ = warm.Run(ctx, busy, func([]byte) {}) })
		time.Sleep(time.Second) // until all of them are under way
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		Must(b, warm.succeed(runner.Shell("true")))
		took = append(took, time.Since(start))
	}
	peak, err := output(warm.Sandbox, runnersMemory)
	Must(b, err)
	cancel()
	all.Wait()
	var kilobytes float64
	_, err = fmt.Sscan(peak, &kilobytes)
	Must(b, err)
	b.ReportMetric(kilobytes/1000, "runner-MB")
	b.ReportMetric(float64(Median(took).Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// runnersMemory prints the kilobytes that the processes of the runner have had at most.
const runnersMemory = `all=0
for p in /proc/[0-9]*; do
	[[ $(<$p/comm) == $(</proc/$PPID/comm) ]] && while read -r what size _; do
		[[ $what == VmHWM: ]] && all=$((all + size))
	done <$p/status
done 2>/dev/null
echo $all`

// compareMade makes sandboxes with an outlet and ones without, each with a first command and one more.
func compareMade(b *testing.B, backend backends.Backend, spec backends.Spec) {
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, network := range []string{backends.Egress, "none"} {
			spec.Network = network
			start := time.Now()
			sandbox, err := backend.Open(b.Context(), spec)
			Must(b, err)
			if outlet, ok := sandbox.(backends.Outlet); ok && network == backends.Egress {
				_, err = outlet.OpenOutlet(b.Context(), backends.OutletTerms{MostConnections: 128},
					func(c backends.OutletConn) { c.Close() })
				Must(b, err)
			}
			_, err = output(sandbox, "true")
			Must(b, err)
			took[network] = append(took[network], time.Since(start))
			start = time.Now()
			_, err = output(sandbox, "true")
			Must(b, err)
			took["true in "+network] = append(took["true in "+network], time.Since(start))
			Must(b, sandbox.Close(context.Background()))
		}
	}
	b.ReportMetric(float64(Median(took[backends.Egress]).Microseconds()), "egress-µs")
	b.ReportMetric(float64(Median(took["none"]).Microseconds()), "none-µs")
	b.ReportMetric(float64(Median(took[backends.Egress]))/float64(Median(took["none"])), "egress/none")
	b.ReportMetric(float64(Median(took["true in "+backends.Egress]))/float64(Median(took["true in none"])), "true-egress/none")
}

// output is what a line of bash prints in a sandbox.
func output(sandbox backends.Sandbox, line string) (string, error) {
	cmd := runner.Shell(line)
	cmd.HeadBytes = 1000
	var said []byte
	exit, err := sandbox.Run(context.Background(), cmd, func(piece []byte) { said = append(said, piece...) })
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("it ended with %d", exit.Code)
	}
	return string(said), err
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
