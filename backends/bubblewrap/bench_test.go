package bubblewrap

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// BenchmarkOpen makes a sandbox and runs a first command, and lets bwrap alone run
// the same command with the same options, by turns.
func BenchmarkOpen(b *testing.B) {
	backend, err := New(Config{Runner: backendtest.Runner(b), StateDir: b.TempDir()})
	backendtest.Must(b, err)
	spec := backends.Spec{Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}
	var opened, ran, closed, bare []time.Duration
	for b.Loop() {
		began := time.Now()
		sandbox, err := backend.Open(b.Context(), spec)
		backendtest.Must(b, err)
		opened = append(opened, time.Since(began))
		if _, err := sandbox.Run(b.Context(), runner.Shell("true"), func([]byte) {}); err != nil {
			b.Fatal(err)
		}
		ran = append(ran, time.Since(began))
		began = time.Now()
		backendtest.Must(b, sandbox.Close(context.Background()))
		closed = append(closed, time.Since(began))
		bare = append(bare, alone(b, backend, spec))
	}
	for name, took := range map[string][]time.Duration{"open": opened, "first-command": ran, "close": closed, "bwrap": bare} {
		b.ReportMetric(float64(backendtest.Median(took).Microseconds()), name+"-µs")
	}
	b.ReportMetric(float64(backendtest.Median(opened))/float64(backendtest.Median(bare)), "open/bwrap")
	b.ReportMetric(float64(backendtest.Median(ran))/float64(backendtest.Median(bare)), "first-command/bwrap")
}

// alone is how long bwrap takes with the options of a spec.
func alone(b *testing.B, backend *Backend, spec backends.Spec) time.Duration {
	handed := new(descriptors)
	defer handed.close()
	arguments, err := backend.arguments(spec, "", "", handed)
	backendtest.Must(b, err)
	cmd := exec.Command(backend.bwrap, append(append(arguments, "--"), runner.Shell("true").Argv...)...)
	cmd.ExtraFiles, cmd.Dir = handed.theirs, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(backend.UID), Gid: uint32(backend.GID)}
	}
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(began)
}

func BenchmarkOutlet(b *testing.B) {
	backend, err := New(Config{Runner: backendtest.Runner(b), StateDir: b.TempDir()})
	backendtest.Must(b, err)
	backendtest.BenchmarkOutlet(b, backend, backends.Spec{CPUs: 2, MemoryMB: 512, PIDs: 600, ReadOnly: true}, nil)
}

// BenchmarkBound compares a command beside the files of a workspace that has a bound with one where it has none, by turns.
func BenchmarkBound(b *testing.B) {
	for _, files := range []int{10, 1000, 10000} {
		free := backends.Spec{Network: "none", CPUs: 2, MemoryMB: 512, PIDs: 600, ReadOnly: true}
		bounded := free
		bounded.WorkspaceMB, bounded.WorkspaceFiles = 10240, 1_000_000
		b.Run(fmt.Sprintf("true beside %d files", files), func(b *testing.B) {
			ways := map[string]func() error{}
			for name, spec := range map[string]backends.Spec{"free": free, "bounded": bounded} {
				backend, err := New(Config{Runner: backendtest.Runner(b), StateDir: b.TempDir()})
				backendtest.Must(b, err)
				sandbox := backendtest.Open(b, backend, spec)
				run := func(script string) error {
					_, err := sandbox.Run(b.Context(), runner.Shell(script), func([]byte) {})
					return err
				}
				backendtest.Must(b, run(fmt.Sprintf("touch {1..%d}", files)))
				ways[name] = func() error { return run("true") }
			}
			for name, all := range backendtest.ByTurns(b, ways) {
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-µs")
			}
		})
	}
}
