package docker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// mute is a runtime in which another program runs in the place of the runner.
const mute = `#!/bin/sh
bundle=
for word; do
	[ "$last" = --bundle ] && bundle=$word
	last=$word
done
[ "$bundle" ] && sed -i 's#"/.bailiff/runner","[a-z]*"#"/bin/busybox","true"#' "$bundle/config.json"
exec runc "$@"
`

// startMachineOfRuntimes is one whose engine has runtimes beside its own: a second name of runc, one whose program is not
// there, mute, and gVisor where it is installed.
func startMachineOfRuntimes(t *testing.T) *machine {
	t.Helper()
	runc, err := exec.LookPath("runc")
	backendtest.Must(t, err)
	script := filepath.Join(t.TempDir(), "mute")
	backendtest.Must(t, os.WriteFile(script, []byte(mute), 0o700))
	return startMachineWith(t, fmt.Sprintf(`{"runtimes": {"second": {"path": %q}, "gone": {"path": "/nowhere/gone"}, "mute": {"path": %q},
		"runsc": {"path": "runsc", "runtimeArgs": ["--network=none", "--ignore-cgroups", "--platform=ptrace"]}}}`, runc, script))
}

func TestRuntimes(t *testing.T) {
	m := startMachineOfRuntimes(t)
	for name, test := range map[string]func(*testing.T, *machine){
		"a container is made by the runtime that was chosen, or by the configured one":    chosenRuntime,
		"a runtime that the configuration does not name makes none":                       foreignRuntime,
		"a runtime that cannot run the runner makes none, and another is as it was":       brokenRuntime,
		"a container of another runtime is not adopted":                                   adoptedRuntime,
		"a container of a runtime that the engine did not take is refused":                otherRuntime,
		"gVisor runs what it is told and is told apart from Linux, or says what it lacks": gVisorRuntime,
	} {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

func configured(runtime string, allowed ...string) func(*Config) {
	return func(c *Config) { c.Runtime, c.RuntimesAllowed = runtime, allowed }
}

// madeBy is the runtime of a sandbox, as the engine has it.
func madeBy(t *testing.T, b *Backend, sandbox backends.Sandbox) string {
	t.Helper()
	got, err := b.engine.ContainerInspect(t.Context(), sandbox.ID())
	backendtest.Must(t, err)
	return got.HostConfig.Runtime
}

func chosenRuntime(t *testing.T, m *machine) {
	for _, c := range []struct {
		name                          string
		change                        func(*Config)
		chosen, stands, made, another string
	}{
		{"nothing said", configured(""), "", "", "runc", ""},
		{"one configured", configured("second"), "", "second", "second", ""},
		{"one allowed beside the engine's own", configured("", "second"), "second", "second", "second", ""},
		{"one allowed beside the configured one", configured("second", "runc"), "runc", "runc", "runc", "second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := m.backend(t, c.change)
			backendtest.Must(t, b.Ready(t.Context()))
			if stands, err := b.Runtime(c.chosen); err != nil || stands != c.stands {
				t.Errorf("%q stands for %q, %v; want %q", c.chosen, stands, err, c.stands)
			}
			spec := testSpec(t)
			spec.Runtime = c.chosen
			sandbox := backendtest.Open(t, b, spec)
			if made := madeBy(t, b, sandbox); made != c.made {
				t.Errorf("it is made by %q, want %q", made, c.made)
			}
			if got := run(t, sandbox, busybox("echo hello")); got != "hello\n" {
				t.Errorf("a command says %q", got)
			}
			if found := b.Unusable(); len(found) > 0 {
				t.Errorf("unusable are %v", found)
			}
		})
	}
}

func foreignRuntime(t *testing.T, m *machine) {
	for chosen, b := range map[string]*Backend{"second": m.backend(t), "runc": m.backend(t, configured("second"))} {
		spec := testSpec(t)
		spec.Runtime = chosen
		_, err := b.Open(t.Context(), spec)
		backendtest.Fault(t, err, backends.ErrUnsupported, `runtime: the configuration does not allow "`+chosen+`"`)
		_, err = b.Adopt(t.Context(), "any", spec)
		backendtest.Fault(t, err, backends.ErrUnsupported, `runtime: the configuration does not allow "`+chosen+`"`)
		if _, err := b.Runtime(chosen); err == nil {
			t.Errorf("runtime %s may be chosen", chosen)
		}
		isEmpty(t, b)
	}
}

// isEmpty sees to it that nothing is left of an opening or a trial.
func isEmpty(t *testing.T, b *Backend) {
	t.Helper()
	b.trials.running.Wait()
	left, err := b.engine.ContainerList(t.Context(), container.ListOptions{All: true, Filters: ownedBy(owner(t))})
	if backendtest.NoError(t, err); len(left) > 0 {
		t.Errorf("%d containers are left", len(left))
	}
}

func brokenRuntime(t *testing.T, m *machine) {
	for runtime, says := range map[string]string{
		"never": `runtime: the engine has no "never", only gone, `,
		"gone":  `runtime: bailiff's runner does not work in "gone": starting the sandbox: `,
		"mute":  `runtime: bailiff's runner does not work in "mute": greeting the sandbox: `,
	} {
		t.Run(runtime, func(t *testing.T) {
			b := m.backend(t, configured(runtime, "second"))
			backendtest.Fault(t, b.Ready(t.Context()), backends.ErrUnavailable, says)
			refuses(t, b, runtime, says)
			if runtime != "mute" {
				return
			}
			b = m.backend(t, configured("", runtime, "second"))
			backendtest.NoError(t, b.Ready(t.Context()))
			refuses(t, b, runtime, says)
			backendtest.Fault(t, b.Unusable()[runtime], backends.ErrUnavailable, says)
			spec := testSpec(t)
			spec.Runtime = "second"
			if made := madeBy(t, b, backendtest.Open(t, b, spec)); made != "second" {
				t.Errorf("beside it a sandbox is made by %q", made)
			}
		})
	}
}

// refuses sees to it that a request gets no container, of this runtime or of another in its place.
func refuses(t *testing.T, b *Backend, runtime, says string) {
	t.Helper()
	spec := testSpec(t)
	spec.Runtime = runtime
	_, err := b.Open(t.Context(), spec)
	backendtest.Fault(t, err, backends.ErrUnavailable, says)
	isEmpty(t, b)
}

func adoptedRuntime(t *testing.T, m *machine) {
	first := m.backend(t, configured("second", "runc"))
	spec := testSpec(t)
	spec.Workspace = "w"
	sandbox := backendtest.Open(t, first, spec)
	other := spec
	other.Runtime = "runc"
	for name, err := range map[string]error{
		"for another runtime":                 adoption(t, first, sandbox, other),
		"without the runtime":                 adoption(t, m.backend(t), sandbox, spec),
		"where another runtime is configured": adoption(t, m.backend(t, configured("runc")), sandbox, spec),
	} {
		backendtest.Fault(t, err, backends.ErrUnavailable, "label "+labelSpec)
		if t.Failed() {
			t.Log(name)
		}
	}
	backendtest.NoError(t, adoption(t, m.backend(t, configured("second")), sandbox, spec))
}

func adoption(t *testing.T, b *Backend, sandbox backends.Sandbox, spec backends.Spec) error {
	t.Helper()
	_, err := b.Adopt(t.Context(), sandbox.ID(), spec)
	return err
}

// An engine that makes a container by another runtime than it was asked for is found out, as by podman.
func otherRuntime(t *testing.T, m *machine) {
	b := m.backend(t)
	spec := testSpec(t)
	sandbox := backendtest.Open(t, b, spec)
	spec.Runtime = "second"
	backendtest.Fault(t, b.inspect(t.Context(), sandbox.ID(), confinement(spec)), backends.ErrUnsupported,
		`runtime: the engine makes the sandbox by "runc", not by "second"`)
}

// gVisor of 2022, as Debian 12 has it, makes no process but the first a subreaper.
func gVisorRuntime(t *testing.T, m *machine) {
	_, err := exec.LookPath("runsc")
	backendtest.Needs(t, "GVISOR (run scripts/install-deps)", err)
	b := m.backend(t, configured("runsc"), func(c *Config) { c.AcceptMissing = []string{pids} })
	if err := b.Ready(t.Context()); err != nil {
		backendtest.Fault(t, err, backends.ErrUnavailable, `does not work in "runsc": greeting the sandbox: `)
		if !strings.Contains(err.Error(), "becoming a subreaper") {
			t.Errorf("it does not say what gVisor lacks: %v", err)
		}
		isEmpty(t, b)
		return
	}
	sandbox := backendtest.Open(t, b, testSpec(t))
	here, err := os.ReadFile("/proc/version")
	backendtest.Must(t, err)
	if said := run(t, sandbox, busybox("id -u; echo hello; cat /proc/version")); !strings.HasPrefix(said, "10000\nhello\nLinux version") ||
		strings.Contains(said, string(here)) {
		t.Errorf("a command in gVisor says %q", said)
	}
	b = m.backend(t, configured("runsc"))
	_, err = b.Open(t.Context(), testSpec(t))
	backendtest.Fault(t, err, backends.ErrUnsupported, "pids: ")
}

func TestARuntimeThatFailedIsTriedAgainWhereTheImageOfTheConfigurationIsMissing(t *testing.T) {
	for until, forgotten := range map[time.Duration]bool{-time.Second: true, time.Hour: false} {
		b := &Backend{trials: trials{unusable: map[string]error{"runsc": errNoRuntime},
			last: map[string]*trial{"runsc": {err: errNoRuntime, until: time.Now().Add(until)}}}}
		if b.forgetFailed("runsc"); (b.Unusable()["runsc"] == nil) != forgotten {
			t.Errorf("a fault to be believed for %v is forgotten: %v", until, !forgotten)
		}
	}
}
