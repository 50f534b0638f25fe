package docker

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestConformance(t *testing.T) {
	testEngine(t)
	spec := testSpec(t)
	spec.PIDs, spec.MemoryMB = 512, 512 // fifty commands at once, each with a supervisor's threads
	t.Cleanup(func() { removeAll(t, spec.Owner) })
	backendtest.Run(t, backendtest.Config{
		Name:    "docker",
		Against: "a Docker engine on the machine of the tests",
		Open: func(t testing.TB) backends.Backend {
			return testBackend(t, func(c *Config) { c.StateDir = t.TempDir() })
		},
		Spec:  spec,
		Tries: backendtest.OnBackend | backendtest.OnKernel,
	})
}

func BenchmarkCommands(b *testing.B) {
	spec := testSpec(b)
	spec.CPUs, spec.PIDs, spec.MemoryMB = 0, 512, 512 // whatever the host has
	backendtest.Benchmark(b, testBackend(b), spec)
}
