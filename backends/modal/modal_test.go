package modal

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestConformance(t *testing.T) {
	newCloud(t)
	backendtest.Run(t, backendtest.Config{
		Name: "modal",
		Open: func(tb testing.TB) backends.Backend { return testBackend(tb) },
		Spec: testSpec(t),
		Without: map[string]string{
			"Killing everybody leaves the sandbox usable":   "the runner is one of the processes that a command can end; the sandbox is then replaced",
			"No more is written than the bound on the disk": "Modal bounds no disk",
		},
	})
}

func testSpec(tb testing.TB) backends.Spec {
	return backends.Spec{Owner: "owner of " + tb.Name(), Session: "a session", Network: "none"}
}

// testBackend uses the cloud that the test has started.
func testBackend(tb testing.TB, change ...func(*Config)) *Backend {
	tb.Helper()
	b, err := New(testConfig(tb, change...))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if b.current != nil {
			b.leave(b.current)
		}
	})
	return b
}

func testConfig(tb testing.TB, change ...func(*Config)) Config {
	tb.Helper()
	cfg := Defaults()
	cfg.Runner, cfg.Log = backendtest.Runner(tb), slog.New(slog.NewTextHandler(tb.Output(), nil))
	cfg.TokenID = backends.Credential{Env: "BAILIFF_TEST_MODAL_ID"}
	tb.Setenv("BAILIFF_TEST_MODAL_ID", tokenID)
	cfg.TokenSecret = backends.Credential{File: filepath.Join(tb.TempDir(), "secret")}
	if err := os.WriteFile(cfg.TokenSecret.File, []byte(tokenSecret+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	for _, c := range change {
		c(cfg)
	}
	return *cfg
}
