package modal

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// What workspaces on Modal are not.
const (
	onceMade = "Two sandboxes of one workspace see the same files"
	whenMade = "a machine sees what others wrote to a workspace until it was made"
)

func TestConformance(t *testing.T) {
	c := newCloud(t)
	spec := testSpec(t)
	spec.CPUs, spec.MemoryMB, spec.PIDs, spec.ReadOnly = 1, 512, 600, true
	const untried = "Modal bounds it, which a stand-in for Modal cannot show"
	backendtest.Run(t, backendtest.Config{
		Name:    "modal",
		Against: "a stand-in for Modal on the machine of the tests, made from the stubs of Modal's own client; not Modal itself",
		Open:    func(tb testing.TB) backends.Backend { return testBackend(tb, inVM) },
		Spec:    spec,
		Tries:   backendtest.OnBackend | backendtest.OnKernel,
		Without: map[string]string{
			"Processors are bounded":                        untried,
			"Memory is bounded":                             untried,
			"Memory is bounded, however it is used":         untried,
			"No more is written than the bound on the disk": "Modal bounds no disk",
			onceMade: whenMade,
		},
		Break: func(tb testing.TB, sb backends.Sandbox) {
			s, err := c.sandbox(sb.ID())
			backendtest.Must(tb, err)
			c.finish(s, pb.GenericResult_GENERIC_STATUS_TERMINATED)
		},
	})
}

// TestLiveConformance runs in Modal's cloud, where the usual variables of Modal's
// name a token, and costs some cents.
func TestLiveConformance(t *testing.T) {
	for _, name := range []string{"MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"} {
		if os.Getenv(name) == "" {
			t.Skipf("SKIPPED WITHOUT AN ACCOUNT OF MODAL: %s is not set", name)
		}
	}
	for _, runtime := range []string{gvisor, vm} {
		t.Run(runtime, func(t *testing.T) {
			spec, noOutlet := testSpec(t), ""
			spec.CPUs, spec.MemoryMB, spec.Expires = 1, 512, time.Now().Add(time.Hour)
			without := map[string]string{"No more is written than the bound on the disk": "Modal bounds no disk", onceMade: whenMade}
			if runtime == vm {
				spec.PIDs, spec.ReadOnly = 600, true
			} else {
				noOutlet = "in gvisor the runner has no network namespace of its own"
				without["Killing everybody leaves the sandbox usable"] = "the runner is one of the processes that a command can end"
			}
			backendtest.Run(t, backendtest.Config{
				Open: func(tb testing.TB) backends.Backend {
					return testBackend(tb, func(c *Config) {
						c.App, c.Runtime = "bailiff-test", runtime
						c.TokenID, c.TokenSecret = settings.Credential{Env: "MODAL_TOKEN_ID"},
							settings.Credential{Env: "MODAL_TOKEN_SECRET"}
					})
				},
				Spec: spec, Remote: true, Without: without, NoOutlet: noOutlet,
				Break: func(tb testing.TB, sb backends.Sandbox) {
					backendtest.NoError(tb, sb.(*sandbox).end(tb.Context()))
				},
			})
		})
	}
}

func testSpec(tb testing.TB) backends.Spec {
	return backends.Spec{Owner: "owner of " + tb.Name(), Session: "a session", Network: "none"}
}

// testBackend uses the cloud that the test has started.
func testBackend(tb testing.TB, change ...func(*Config)) *Backend {
	tb.Helper()
	b, err := New(testConfig(tb, change...))
	backendtest.Must(tb, err)
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
	cfg.Runner, cfg.Log = backendtest.Runner(tb), slog.New(slog.NewTextHandler(backendtest.Shown(tb), nil))
	cfg.TokenID = settings.Credential{Env: "BAILIFF_TEST_MODAL_ID"}
	tb.Setenv("BAILIFF_TEST_MODAL_ID", tokenID)
	cfg.TokenSecret = settings.Credential{File: filepath.Join(tb.TempDir(), "secret")}
	backendtest.Must(tb, os.WriteFile(cfg.TokenSecret.File, []byte(tokenSecret+"\n"), 0o600))
	for _, c := range change {
		c(cfg)
	}
	return *cfg
}
