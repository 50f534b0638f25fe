// Package systemd_test holds the unit to what systemd says of it, to the paths that
// the sidecar uses, and to what the sidecar needs: it runs one as the unit's user,
// without a capability.
package systemd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

const (
	unit    = "bailiff.service"
	program = "/usr/local/bin/bailiff"
)

// settings are the lines of a unit, in their order.
func settings(t *testing.T, name string) (all [][2]string) {
	t.Helper()
	for line := range strings.Lines(read(t, name)) {
		if key, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(key, "#") {
			all = append(all, [2]string{key, value})
		}
	}
	return all
}

// values are those of one setting.
func values(t *testing.T, key string) (all []string) {
	t.Helper()
	for _, s := range settings(t, unit) {
		if s[0] == key {
			all = append(all, s[1])
		}
	}
	return all
}

func value(t *testing.T, key string) string {
	t.Helper()
	all := values(t, key)
	if len(all) != 1 {
		t.Fatalf("%s is set %d times", key, len(all))
	}
	return all[0]
}

// installed is the unit as systemd would find it, with these of its drop-ins, and
// with the program where it is here.
func installed(t *testing.T, dropIns ...string) (path string) {
	t.Helper()
	folder := t.TempDir()
	path = filepath.Join(folder, unit)
	text := strings.ReplaceAll(read(t, unit), program, filepath.Join(apptest.Programs(t), "bailiff"))
	write(t, path, text)
	for _, name := range dropIns {
		write(t, filepath.Join(path+".d", name), read(t, unit+".d/"+name))
	}
	return path
}

// analyzed is what systemd-analyze says, which starts nothing.
func analyzed(t *testing.T, words ...string) (printed string, failed error) {
	t.Helper()
	analyzer, err := exec.LookPath("systemd-analyze")
	backendtest.Needs(t, "SYSTEMD-ANALYZE (run scripts/install-deps)", err)
	out, err := exec.Command(analyzer, words...).CombinedOutput()
	return string(out), err
}

func TestSystemdFindsNoFaultWithTheUnit(t *testing.T) {
	for _, dropIns := range [][]string{nil, {"docker.conf"}, {"bubblewrap.conf"}} {
		printed, err := analyzed(t, "verify", "--man=no", "--recursive-errors=no", installed(t, dropIns...))
		if err != nil || strings.Contains(printed, "bailiff") {
			t.Errorf("with %v: %v\n%s", dropIns, err, printed)
		}
	}
}

func TestSystemdFindsNoFaultWithTheUnitThatSignsHeads(t *testing.T) {
	folder, own := t.TempDir(), filepath.Join(apptest.Programs(t), "bailiff")
	for _, name := range []string{"bailiff-head.service", "bailiff-head.timer"} {
		write(t, filepath.Join(folder, name), strings.ReplaceAll(read(t, name), program, own))
	}
	printed, err := analyzed(t, "verify", "--man=no", "--recursive-errors=no", filepath.Join(folder, "bailiff-head.timer"),
		filepath.Join(folder, "bailiff-head.service"))
	if err != nil || strings.Contains(printed, "bailiff") {
		t.Errorf("%v\n%s", err, printed)
	}
}

func TestSystemdWouldFindAMisspeltSetting(t *testing.T) {
	path := installed(t)
	write(t, path, strings.Replace(read(t, unit), "ProtectSystem=", "ProtectSytem=", 1))
	if printed, _ := analyzed(t, "verify", "--man=no", "--recursive-errors=no", path); !strings.Contains(printed, "ProtectSytem") {
		t.Errorf("it says nothing of it:\n%s", printed)
	}
}

// The bounds are in tenths of systemd's own measure, of which 100 is the worst.
func TestTheUnitIsHardened(t *testing.T) {
	for bound, dropIns := range map[string][]string{"15": nil, "16": {"docker.conf"}, "32": {"bubblewrap.conf"}} {
		printed, err := analyzed(t, "security", "--offline=true", "--no-pager", "--threshold="+bound, installed(t, dropIns...))
		if err != nil {
			t.Errorf("with %v: %v\n%s", dropIns, err, printed)
		}
	}
}

// Of the example, and of what a package installs.
func TestTheUnitGivesTheFoldersThatItsConfigurationNames(t *testing.T) {
	for _, name := range []string{"bailiff.yaml", "../../release/bailiff.yaml"} {
		c, err := config.Parse("/etc/bailiff/bailiff.yaml", []byte(read(t, name)), catalogue.All())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := "/var/lib/" + value(t, "StateDirectory"); c.StateDir != want {
			t.Errorf("%s: its state is in %s, want %s", name, c.StateDir, want)
		}
		run := "/run/" + value(t, "RuntimeDirectory")
		sockets := []config.Address{c.Operator.Listen, c.Agent.Listeners[0].Listen}
		for _, socket := range sockets {
			if filepath.Dir(socket.Address) != run {
				t.Errorf("%s: it listens on %s, want a socket in %s", name, socket, run)
			}
		}
		if os.Geteuid() == 0 { // operators who are root need not say where the sockets are
			usual := config.Default(catalogue.All())
			if usual.StateDir != c.StateDir || !slices.Equal(sockets,
				[]config.Address{usual.Operator.Listen, usual.Agent.Listeners[0].Listen}) {
				t.Errorf("%s: %s and %v are not root's defaults", name, c.StateDir, sockets)
			}
		}
	}
}

func TestTheUnitsCommandLineIsOneOfBailiff(t *testing.T) {
	words := strings.Fields(value(t, "ExecStart"))
	if words[0] != program || words[1] != "serve" || words[2] != "--config" || words[3] != "/etc/bailiff/bailiff.yaml" || len(words) != 4 {
		t.Errorf("it starts %q", words)
	}
}

func TestNothingThatMayBeMissingKeepsTheUnitFromStarting(t *testing.T) {
	for _, key := range []string{"ExecStartPre", "ExecCondition", "LoadCredential", "Requires", "BindsTo"} {
		if set := values(t, key); len(set) > 0 {
			t.Errorf("%s=%s may fail", key, set)
		}
	}
	for _, file := range values(t, "EnvironmentFile") {
		if !strings.HasPrefix(file, "-") {
			t.Errorf("without %s it does not start", file)
		}
	}
}

// In a user namespace of its own a service sees all other users as one.
func TestTheUnitLeavesTheKernelToTellWhoAnAgentIs(t *testing.T) {
	for _, key := range []string{"PrivateUsers", "DynamicUser"} {
		if set := values(t, key); len(set) > 0 {
			t.Errorf("%s is %s", key, set)
		}
	}
}

// unprivileged is a user that has nothing here.
const unprivileged = 12345

func TestASidecarServesWithoutACapability(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err == nil && os.Geteuid() != 0 {
		err = fmt.Errorf("it takes root to become another user")
	}
	backendtest.Needs(t, "SETPRIV AND ROOT", err)
	folder := apptest.OpenDir(t)
	for _, name := range []string{"state", "run"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(folder, name), unprivileged, unprivileged); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("/var/lib/bailiff", filepath.Join(folder, "state"), "/run/bailiff", filepath.Join(folder, "run"),
		"uids: [1001]", "uids: [0]", "{docker: {}}", "{bubblewrap: {accept_missing_limits: [cpus, memory_mb, pids, disk_mb]}}").
		Replace(read(t, "bailiff.yaml"))
	path := filepath.Join(folder, "bailiff.yaml")
	write(t, path, text+"metrics: {listen: \"\"}\npolicies: {eval_timeout: 10s, require_tests: false}\n")
	bailiff := filepath.Join(apptest.Programs(t), "bailiff")
	id := fmt.Sprint(unprivileged)
	sidecar := exec.Command(setpriv, "--reuid="+id, "--regid="+id, "--clear-groups", "--no-new-privs", "--bounding-set=-all",
		"--inh-caps=-all",
		"sh", "-c", "umask "+value(t, "UMask")+"; exec \"$@\"", "sh", bailiff, "serve", "--config", path)
	var log strings.Builder
	sidecar.Stderr, sidecar.Env = &log, append(os.Environ(), "HOME="+filepath.Join(folder, "state"))
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sidecar.Process.Signal(os.Interrupt)
		_ = sidecar.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	backendtest.Await(t, "the sidecar answers", func() bool {
		return exec.Command(bailiff, "status", "--config", path).Run() == nil
	})
	out, err := exec.Command(bailiff, "exec", "--config", path, "--platform", "telegram", "--", "echo hello").CombinedOutput()
	if err != nil || string(out) != "hello\n" {
		t.Errorf("a request gives %q and %v", out, err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // as units are
	}
	if err != nil {
		t.Fatal(err)
	}
}
