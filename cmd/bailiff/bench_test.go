package main

import (
	"context"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// BenchmarkExecute times "true" through POST /v1/execute in a warm sandbox
// against the docker exec command with the same bash, and against the same bash
// forked on the host. The three take turns, so that a noisy machine is noisy for
// all; medians are reported, and their ratios.
func BenchmarkExecute(b *testing.B) {
	for _, backend := range []string{"docker", "bubblewrap"} {
		b.Run(backend, func(b *testing.B) {
			s := startSidecar(b, "backends: {"+backend+": {"+imageOf(backend)+"}}")
			door := s.client(b)
			req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"},
				Session: bailiff.Session{ID: "bench", Platform: "telegram", ChatType: "dm", UserID: "1"}}
			through := func() string { return mustComplete(b, door, req).SandboxID }
			sandbox := through()
			sides := map[string]func(){
				"execute": func() { through() },
				"host":    func() { mustRun(b, "bash", "--noprofile", "--norc", "-c", "true") },
			}
			if backend == "docker" {
				sides["docker-exec"] = func() { mustRun(b, "docker", "exec", sandbox, "bash", "--noprofile", "--norc", "-c", "true") }
			}
			report(b, takeTurns(b, sides))
		})
	}
}

// takeTurns runs every side once in each round and returns their times.
func takeTurns(b *testing.B, sides map[string]func()) map[string][]time.Duration {
	times := map[string][]time.Duration{}
	for b.Loop() {
		for name, side := range sides {
			start := time.Now()
			side()
			times[name] = append(times[name], time.Since(start))
		}
	}
	return times
}

func report(b *testing.B, times map[string][]time.Duration) {
	own := median(times["execute"])
	for name, all := range times {
		b.ReportMetric(float64(median(all).Microseconds()), name+"-µs")
		if name != "execute" {
			b.ReportMetric(float64(own)/float64(median(all)), "execute/"+name)
		}
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func mustComplete(tb testing.TB, door *client.Client, req bailiff.Request) gateway.Answer {
	a, err := door.Execute(context.Background(), req, client.News{})
	if err != nil || a.Status != bailiff.Completed {
		tb.Fatalf("answer is %s %s %v", a.Status, a.Message, err)
	}
	return a
}

func mustRun(tb testing.TB, name string, args ...string) {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
}

func imageOf(backend string) string {
	if backend == "docker" {
		return `image: "` + demoImage + `"`
	}
	return ""
}
