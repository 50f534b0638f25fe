package vercel

import (
	"log/slog"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// account is a backend of the fake's account.
func account(tb testing.TB, f *fake, change ...func(*Config)) *Backend {
	tb.Helper()
	tb.Setenv("VERCEL_TOKEN", fakeToken)
	cfg := Defaults()
	cfg.Team, cfg.Project, cfg.Endpoint = fakeTeam, fakeProject, f.server.URL
	for _, c := range change {
		c(cfg)
	}
	return makeOf(tb, cfg)
}

func makeOf(tb testing.TB, cfg *Config) *Backend {
	tb.Helper()
	b, err := cfg.Make(backends.Host{Runner: backendtest.Runner(tb), Log: slog.New(slog.NewTextHandler(backendtest.Shown(tb), nil))})
	backendtest.Must(tb, err)
	return b.(*Backend)
}

// ofItsSize is why some limits are not tried.
const ofItsSize = "Vercel bounds it by the machine's size, which a stand-in for Vercel cannot show"

// noOutlet is why the network "egress" is refused.
const noOutlet = "all that a sandbox says travels as text, and in files, too slowly for its connections"

func TestConformance(t *testing.T) {
	f := newFake(t)
	backendtest.Run(t, backendtest.Config{
		Name:    "vercel",
		Against: "a stand-in for Vercel that takes no call which Vercel's own client does not make",
		Open:    func(t testing.TB) backends.Backend { return account(t, f) },
		Spec:    backends.Spec{Owner: "conformance", Session: "s", Network: "none", CPUs: 2, PIDs: 800, ReadOnly: true},
		Tries:   backendtest.OnBackend,
		Without: map[string]string{
			"Memory is bounded":                                 ofItsSize,
			"Memory is bounded, however it is used":             ofItsSize,
			"Processors are bounded":                            ofItsSize,
			"No more is written than the bound on the disk":     "its machines have a disk of 32 GB each, which cannot be made smaller",
			"Two sandboxes of one workspace see the same files": "a workspace is a drive, and one machine at a time can have it",
		},
		NoOutlet: noOutlet,
		Break: func(t testing.TB, s backends.Sandbox) {
			f.mu.Lock()
			l := f.sandboxes[s.ID()]
			f.mu.Unlock()
			l.stop()
		},
	})
}
