package docker

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// BenchmarkExec runs the same bash three ways by turns, so that whatever else
// the machine does falls on all: by the runner in a warm sandbox, by the
// "docker exec" command in the same container, and forked on the host.
func BenchmarkExec(b *testing.B) {
	argv := []string{"/bin/bash", "--noprofile", "--norc", "-c", "true"}
	sb := open(b, testBackend(b), testSpec(b))
	ways := map[string]func(){
		"runner": func() {
			run(b, sb, backends.Command{Argv: argv, Timeout: time.Minute, HeadBytes: 1 << 16})
		},
		"host": func() { runOnHost(b, argv...) },
	}
	const cli = "/usr/bin/docker"
	if _, err := os.Stat(cli); err == nil {
		ways["docker-exec"] = func() { runOnHost(b, append([]string{cli, "exec", sb.ID()}, argv...)...) }
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for way, do := range ways {
			began := time.Now()
			do()
			took[way] = append(took[way], time.Since(began))
		}
	}
	for way := range ways {
		b.ReportMetric(median(took[way]).Seconds()*1e3, way+"-ms")
	}
	b.ReportMetric(ratio(took["runner"], took["host"]), "runner/host")
	b.ReportMetric(ratio(took["docker-exec"], took["runner"]), "docker-exec/runner")
}

// BenchmarkOpen measures a sandbox from nothing to its first command's end, and
// its removal.
func BenchmarkOpen(b *testing.B) {
	backend := testBackend(b)
	var opened, closed []time.Duration
	for b.Loop() {
		began := time.Now()
		sb, err := backend.Open(b.Context(), testSpec(b))
		if err != nil {
			b.Fatal(err)
		}
		opened = append(opened, time.Since(began))
		began = time.Now()
		if err := sb.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		closed = append(closed, time.Since(began))
	}
	b.ReportMetric(median(opened).Seconds()*1e3, "open-ms")
	b.ReportMetric(median(closed).Seconds()*1e3, "close-ms")
}

func runOnHost(b *testing.B, argv ...string) {
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v: %s", argv, err, out)
	}
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(max(1, median(b))) }
