package carry

import (
	"fmt"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// cpu is the processor time of this process and of those that it started, in milliseconds. None of these may run: those for which
// bubblewrap did not wait are left to this process as their reaper.
func cpu(b *testing.B) (ms float64) {
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			break
		} else if err != nil && err != syscall.EINTR {
			b.Fatal(err)
		}
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		_ = syscall.Getrusage(who, &used)
		ms += float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
	}
	return ms
}

// BenchmarkCarry tells the processor time that bringing in and out costs, without what the sandbox itself does.
func BenchmarkCarry(b *testing.B) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		b.Fatal(err)
	}
	for _, files := range []int{2400, 15_000, 100_000} {
		w := start(b, fmt.Sprintf("git init -q; for d in $(seq 1 %d); do mkdir d$d; (cd d$d; touch $(seq 1 100)); done; git add .; "+
			"git commit -qm first",
			files/100))
		for _, c := range []struct{ name, script string }{
			{"nothing", "true"}, {"add", "date +%N >d1/1; git add d1/1"}, {"commit", "date +%N >d1/1; git commit -qam x"},
			{"switch", "git switch -q other 2>/dev/null || git switch -qc other; git switch -q main 2>/dev/null"}, {"stash", "date " +
				"+%N >d1/2; git stash -q"},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, files), func(b *testing.B) {
				w.TB = b
				w.run(c.script)
				var used float64
				for b.Loop() {
					began := cpu(b)
					if _, err := w.link.In(b.Context(), nil); err != nil {
						b.Fatal(err)
					}
					used += cpu(b) - began
					w.inside(c.script)
					began = cpu(b)
					if _, err := w.link.Out(b.Context(), "r", nil); err != nil {
						b.Fatal(err)
					}
					used += cpu(b) - began
				}
				b.ReportMetric(used/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
