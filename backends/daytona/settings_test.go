package daytona

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

func TestAnAddressTellsTheKeyToNobodyElse(t *testing.T) {
	keys := Defaults().Settings()
	url := keys[slices.IndexFunc(keys, func(s settings.Setting) bool { return s.Key == "url" })]
	for address, right := range map[string]bool{"https://app.daytona.io/api": true, "http://localhost:3000/api": true,
		"http://app.daytona.io/api": false} {
		if err := url.Check(address); (err == nil) != right {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAnImageIsASnapshotOrHasADigest(t *testing.T) {
	for image, right := range map[string]bool{
		"ordinary": true, "daytonaio/sandbox:0.4.3": true, testImage: true,
		"": false, "-x": false, "a\nRUN b": false, testImage + "\nRUN x": false, "python@sha256:abc": false, "a b": false,
	} {
		if err := isImage(image); (err == nil) != right {
			t.Errorf("%q: %v", image, err)
		}
	}
}

func TestWhatIsMissingOfASectionIsSaid(t *testing.T) {
	if err := Defaults().Check(); err == nil || !strings.Contains(err.Error(), "api_key") {
		t.Errorf("a section without a key: %v", err)
	}
	if _, err := New(Config{APIKey: settings.Credential{Env: "X"}}, backends.Host{}); err == nil ||
		!strings.Contains(err.Error(), "bailiff-runner") {
		t.Errorf("without a runner: %v", err)
	}
	if _, err := New(*Defaults(), backends.Host{Runner: "x"}); err == nil {
		t.Error("a backend was made without a key")
	}
}

func TestWhatDaytonaCannotDoIsRefusedByName(t *testing.T) {
	c := newCloud(t)
	with := func(change func(*backends.Spec)) backends.Spec {
		spec := testSpec()
		change(&spec)
		return spec
	}
	for words, spec := range map[string]backends.Spec{
		`network is "egress", want none or full`: with(func(s *backends.Spec) { s.Network = "egress" }),
		"accept_missing_limits: [toolbox]":       with(func(s *backends.Spec) { s.Network = "full" }),
		"mounts: ": with(func(s *backends.Spec) {
			s.Mounts = []bailiff.Mount{{Source: "/srv",
				Target: "/srv"}}
		}),
		"cpus: Daytona gives whole CPUs":         with(func(s *backends.Spec) { s.CPUs = 0.5 }),
		"memory_mb: Daytona gives whole GiB":     with(func(s *backends.Spec) { s.MemoryMB = 512 }),
		"disk_mb: Daytona gives whole GiB":       with(func(s *backends.Spec) { s.DiskMB = 1023 }),
		`image: Daytona has no snapshot "other"`: with(func(s *backends.Spec) { s.Image = "other" }),
	} {
		refused(t, c, testBackend(t, c), spec, backends.ErrUnsupported, words)
	}
	if n := c.count("createSandbox"); n != 0 {
		t.Errorf("%d sandboxes were made in vain", n)
	}
}

func TestWhatDaytonaDidNotDoIsNotTakenForDone(t *testing.T) {
	spec := testSpec()
	spec.CPUs, spec.MemoryMB, spec.DiskMB = 2, 2048, 4096
	for words, c := range map[string]struct {
		as    error
		twist func(map[string]any)
	}{
		"network: Daytona did not set it":        {backends.ErrUnsupported, func(dto map[string]any) { dto["networkBlockAll"] = false }},
		"the user is daytona":                    {backends.ErrUnavailable, func(dto map[string]any) { dto["user"] = "daytona" }},
		"public is true":                         {backends.ErrUnavailable, func(dto map[string]any) { dto["public"] = true }},
		"autoStopInterval is 0":                  {backends.ErrUnavailable, func(dto map[string]any) { dto["autoStopInterval"] = 0 }},
		"autoStopInterval is missing":            {backends.ErrUnavailable, func(dto map[string]any) { delete(dto, "autoStopInterval") }},
		"autoDeleteInterval is -1":               {backends.ErrUnavailable, func(dto map[string]any) { dto["autoDeleteInterval"] = -1 }},
		"with 4 CPUs, want 2 at most":            {backends.ErrUnsupported, func(dto map[string]any) { dto["cpu"] = 4 }},
		"memory_mb: Daytona made the sandbox":    {backends.ErrUnsupported, func(dto map[string]any) { dto["memory"] = 3 }},
		"disk_mb: Daytona made the sandbox with": {backends.ErrUnsupported, func(dto map[string]any) { dto["disk"] = 10 }},
		"the address of its toolbox": {backends.ErrUnavailable,
			func(dto map[string]any) { dto["toolboxProxyUrl"] = "http://proxy.daytona.test/toolbox" }},
	} {
		t.Run(words, func(t *testing.T) {
			cloud := newCloud(t)
			cloud.twist = c.twist
			refused(t, cloud, testBackend(t, cloud), spec, c.as, words)
			if n := cloud.count("CreatePtySession"); n != 0 {
				t.Error("something was started in it")
			}
		})
	}
}

func TestASandboxIsAskedForWithAllThatBoundsIt(t *testing.T) {
	c := newCloud(t)
	spec := testSpec()
	spec.CPUs, spec.MemoryMB, spec.DiskMB = 2.5, 5*1024+100, 10*1024
	in := backendtest.Open(t, testBackend(t, c, func(cfg *Config) { cfg.Target = "eu" }), spec)
	dto := c.find(in.ID()).dto
	for key, want := range map[string]any{
		"cpu": 2, "memory": 5, "disk": 10, "target": "eu", "user": "root", "public": false, "networkBlockAll": true,
		"autoStopInterval": 5, "autoDeleteInterval": 0,
	} {
		if dto[key] != want {
			t.Errorf("%s is %v, want %v", key, dto[key], want)
		}
	}
	labels := dto["labels"].(map[string]string)
	if labels[labelOwner] != spec.Owner || labels[labelExpires] != spec.Expires.UTC().Format(time.RFC3339) || labels[labelSpec] == "" {
		t.Errorf("the labels are %v", labels)
	}
	if all := strings.Join([]string{labels[labelSession], dto["name"].(string)}, " "); strings.Contains(all, "telegram") ||
		!strings.HasPrefix(labels[labelSession], "sha256:") {
		t.Errorf("the labels tell who talks to whom: %s", all)
	}
}

func TestASnapshotsOwnLimitsMustBeWithinTheSpecs(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c, func(cfg *Config) { cfg.Image = "ordinary" })
	if resolved, err := b.Resolve(t.Context(), ""); resolved != snapshotID || err != nil {
		t.Errorf("the snapshot resolves to %q, %v", resolved, err)
	}
	if resolved, err := b.Resolve(t.Context(), testImage); resolved != testImage || err != nil {
		t.Errorf("an image by its digest resolves to %q, %v", resolved, err)
	}
	spec := testSpec()
	spec.CPUs, spec.MemoryMB, spec.DiskMB = 2, 4096, 8192
	says(t, backendtest.Open(t, b, spec), "echo hello", "hello\n")
	spec.MemoryMB = 2048
	if _, err := b.Open(t.Context(), spec); !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), "memory_mb") {
		t.Errorf("a snapshot that is too large came to %v", err)
	}
	spec.MemoryMB = 0
	accepting := testBackend(t, c, func(cfg *Config) { cfg.Image, cfg.AcceptMissing = "ordinary", []string{cpus} })
	spec.CPUs = 0.5
	says(t, backendtest.Open(t, accepting, spec), "echo hello", "hello\n")
}

func TestACommandWithANetworkIsLetRunWhereItsRightsAreAccepted(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c, func(cfg *Config) { cfg.AcceptMissing = []string{toolbox} })
	spec := testSpec()
	spec.Network = "full"
	in := backendtest.Open(t, b, spec)
	says(t, in, "echo hello", "hello\n")
	if c.find(in.ID()).dto["networkBlockAll"] != false {
		t.Error("its network is blocked")
	}
}

func TestReadinessSaysWhatToSet(t *testing.T) {
	for words, change := range map[string]func(*testing.T, *cloud, *Config){
		"variable TEST_NO_KEY is empty": func(_ *testing.T, _ *cloud, cfg *Config) { cfg.APIKey.Env = "TEST_NO_KEY" },
		"401: Invalid credentials: set backends.daytona.api_key": func(t *testing.T, _ *cloud, _ *Config) {
			t.Setenv("TEST_DAYTONA_KEY", "dtn_wrong_wrong_wrong")
		},
		"may not delete:sandboxes": func(_ *testing.T, c *cloud, _ *Config) {
			c.allowed = map[string]any{"permissions": []string{"write:sandboxes"}}
		},
		"has expired": func(_ *testing.T, c *cloud, _ *Config) {
			c.allowed = map[string]any{"expiresAt": "2026-01-01T00:00:00Z"}
		},
		"connection refused": func(_ *testing.T, c *cloud, cfg *Config) {
			c.server.Close()
		},
	} {
		t.Run(words, func(t *testing.T) {
			c := newCloud(t)
			b := testBackend(t, c, func(cfg *Config) { change(t, c, cfg) })
			change(t, c, &b.cfg)
			err := b.Ready(t.Context())
			backendtest.Fault(t, err, backends.ErrUnavailable, words)
		})
	}
	c := newCloud(t)
	if err := testBackend(t, c).Ready(t.Context()); err != nil {
		t.Errorf("with everything right it says %v", err)
	}
	if c.count("getCurrentApiKey") != 1 || len(c.asked) != 1 {
		t.Errorf("to be ready it asked %v", c.asked)
	}
}

// written is a log that may be written while it is read.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func TestNeitherTheKeyNorAVariableIsToldToAnybodyElse(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	log := new(written)
	b.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	in := backendtest.Open(t, b, testSpec())
	cmd := backends.Command{Argv: []string{"bash", "-c",
		"echo ${#TOKEN}; cat /proc/*/cmdline /proc/*/environ 2>/dev/null | grep -c dtn_[4]e1c0ffee"}, Timeout: time.Minute,
		HeadBytes: 1000, Env: map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret("sesame-4711")}}
	var out strings.Builder
	if _, err := in.Run(t.Context(), cmd, func(p []byte) { out.Write(p) }); err != nil || out.String() != "11\n0\n" {
		t.Errorf("the command said %q, %v", out.String(), err)
	}
	c.inject(mishap{operation: "deleteSandbox", code: 401, times: 2}) // one for whoever comes first
	failed := in.Close(t.Context())
	backendtest.Await(t, "it is closed", func() bool { return in.Close(t.Context()) == nil })
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, text := range map[string]string{"the log": log.String(), "HTTP": c.bodies.String(), "an error": failed.Error()} {
		if strings.Contains(text, testKey) || strings.Contains(text, "sesame") || strings.Contains(text, "c2VzYW1l") {
			t.Errorf("%s tells: %s", what, text)
		}
	}
}
