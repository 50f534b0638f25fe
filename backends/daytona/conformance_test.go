package daytona

import (
	"context"
	"crypto/rand"
	"os"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

const oneAtATime = "a workspace is in a machine, which one sandbox has at a time"

func bounded() backends.Spec {
	spec := testSpec()
	spec.CPUs, spec.MemoryMB = 2, 4096
	return spec
}

// noOutlet is why the network "egress" is refused.
const noOutlet = "all that a sandbox says travels as text, and in files, too slowly for its connections"

func TestConformance(t *testing.T) {
	c := newCloud(t)
	backendtest.Run(t, backendtest.Config{
		Name:    "daytona",
		Against: "a stand-in for Daytona that is checked against its own description",
		Open:    func(t testing.TB) backends.Backend { return testBackend(t, c) },
		Spec:    bounded(),
		Tries:   backendtest.OnBackend,
		Without: map[string]string{
			"Memory is bounded":                                 "Daytona bounds whole GiB, which the stand-in does not",
			"Memory is bounded, however it is used":             "Daytona bounds whole GiB, which the stand-in does not",
			"No more is written than the bound on the disk":     "Daytona bounds whole GiB, which the stand-in does not",
			"Processors are bounded":                            "Daytona bounds whole processors, which the stand-in does not",
			"Two sandboxes of one workspace see the same files": oneAtATime,
		},
		NoOutlet: noOutlet,
		Break:    func(_ testing.TB, in backends.Sandbox) { c.find(in.ID()).lines.cut() },
	})
}

// liveKey is the variable that holds a key of Daytona's, liveImage the one that
// names a snapshot with bash, coreutils and python3 in at most 2 CPUs and 4 GiB.
const (
	liveKey   = "DAYTONA_API_KEY"
	liveImage = "DAYTONA_TEST_IMAGE"
)

func TestLiveConformance(t *testing.T) {
	if os.Getenv(liveKey) == "" || os.Getenv(liveImage) == "" {
		t.Skipf("SKIPPED WITHOUT DAYTONA: set %s and %s", liveKey, liveImage)
	}
	cfg := Defaults()
	cfg.APIKey, cfg.Image = settings.Credential{Env: liveKey}, os.Getenv(liveImage)
	if address := os.Getenv("DAYTONA_API_URL"); address != "" {
		cfg.URL = address
	}
	b, err := New(*cfg, backends.Host{Runner: backendtest.Runner(t)})
	backendtest.Must(t, err)
	spec := bounded()
	spec.Owner = "bailiff's tests " + rand.Text()
	t.Cleanup(func() {
		if _, err := b.Sweep(context.Background(), spec.Owner, func(string) bool { return false }); err != nil {
			t.Error(err)
		}
	})
	backendtest.Run(t, backendtest.Config{
		Open: func(testing.TB) backends.Backend { return b },
		Spec: spec,
		Without: map[string]string{
			"Memory is bounded, however it is used":             "Daytona bounds whole GiB",
			"No more is written than the bound on the disk":     "Daytona bounds whole GiB",
			"Processors are bounded":                            "Daytona bounds whole processors",
			"Two sandboxes of one workspace see the same files": oneAtATime,
		},
		NoOutlet: noOutlet,
		Break: func(t testing.TB, in backends.Sandbox) {
			backendtest.NoError(t, b.api.stop(t.Context(), in.ID()))
		},
		Remote: true,
	})
}
