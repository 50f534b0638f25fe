package docker

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// BenchmarkExec runs the same bash three ways by turns, so that whatever else
// the machine does falls on all: by the runner in a warm sandbox, by the
// "docker exec" command in the same container, and forked on the host.
func BenchmarkExec(b *testing.B) {
	argv := []string{"/bin/bash", "--noprofile", "--norc", "-c", "true"}
	sb := backendtest.Open(b, testBackend(b), testSpec(b))
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

// BenchmarkOpen compares by turns a sandbox from nothing to its first command's
// end, with a new workspace and without a named one, with what "docker run" takes
// for the same command in a container of the same image.
func BenchmarkOpen(b *testing.B) {
	backend := testBackend(b)
	argv := []string{"/bin/true"}
	took := map[string][]time.Duration{}
	measure := func(what string, do func()) {
		began := time.Now()
		do()
		took[what] = append(took[what], time.Since(began))
	}
	cold := func(what, workspace string) {
		spec := testSpec(b)
		spec.Workspace = workspace
		var sb backends.Sandbox
		measure(what, func() {
			sb = backendtest.Open(b, backend, spec)
			run(b, sb, backends.Command{Argv: argv, Timeout: time.Minute})
		})
		measure("close", func() {
			backendtest.Must(b, sb.Close(b.Context()))
		})
	}
	cold("first", "") // what comes once for each runner
	for turn := 0; b.Loop(); turn++ {
		cold("open", "")
		cold("open-workspace", strconv.Itoa(turn))
		measure("docker-run", func() {
			runOnHost(b, append([]string{"docker", "run", "--rm", "--network=none", "--label=" + labelOwner + "=" + owner(b), testImage},
				argv...)...)
		})
	}
	for what, all := range took {
		b.ReportMetric(median(all).Seconds()*1e3, what+"-ms")
	}
	b.ReportMetric(ratio(took["open"], took["docker-run"]), "open/docker-run")
	b.ReportMetric(ratio(took["open-workspace"], took["docker-run"]), "open-workspace/docker-run")
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

func BenchmarkOutlet(b *testing.B) {
	spec := testSpec(b)
	spec.PIDs = 600
	backendtest.BenchmarkOutlet(b, testBackend(b), spec, map[string]func(backends.Sandbox, int) error{
		"docker-exec": func(sandbox backends.Sandbox, bytes int) error {
			return exec.Command("docker", "exec", sandbox.ID(), "head", "-c", strconv.Itoa(bytes), "/dev/zero").Run()
		},
	})
}
