package daytona

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

const testImage = "docker.io/library/python@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// testBackend works with the stand-in.
func testBackend(t testing.TB, c *cloud, change ...func(*Config)) *Backend {
	t.Helper()
	t.Setenv("TEST_DAYTONA_KEY", testKey)
	cfg := Defaults()
	cfg.URL, cfg.APIKey, cfg.Image = c.address+"/api", settings.Credential{Env: "TEST_DAYTONA_KEY"}, testImage
	for _, f := range change {
		f(cfg)
	}
	b, err := New(*cfg, backends.Host{Runner: backendtest.Runner(t), StateDir: t.TempDir()})
	backendtest.Must(t, err)
	return b
}

func testSpec() backends.Spec {
	return backends.Spec{Owner: "owner of the test", Session: "agent:main:telegram:dm:42", Network: "none", PIDs: 600, ReadOnly: true,
		Expires: time.Now().Add(time.Hour)}
}

// says runs a script and wants what it says.
func says(t testing.TB, in backends.Sandbox, script, want string) {
	t.Helper()
	cmd := runner.Shell(script)
	cmd.Timeout, cmd.HeadBytes = time.Minute, 1<<20
	var out strings.Builder
	exit, err := in.Run(t.Context(), cmd, func(p []byte) { out.Write(p) })
	if err != nil || exit.Code != 0 || out.String() != want {
		t.Errorf("%s\nsaid %q and ended as %+v, %v; want %q", script, out.String(), exit, err, want)
	}
}

func TestACommandRunsInASandboxOfDaytona(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	in := backendtest.Open(t, b, testSpec())
	says(t, in, "id -u; pwd; env | grep -c DAYTONA; tty; true", "10000\n/workspace\n0\nnot a tty\n")
}
