// Package compose_test builds the image and starts it with the real engine, as the
// compose files say.
package compose_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// service is what these files say of the sidecar. A key that is not here is a fault.
type service struct {
	Build           string
	Image           string
	User            string
	ReadOnly        bool     `yaml:"read_only"`
	CapDrop         []string `yaml:"cap_drop"`
	SecurityOpt     []string `yaml:"security_opt"`
	NetworkMode     string   `yaml:"network_mode"`
	Restart         string
	StopGracePeriod string   `yaml:"stop_grace_period"`
	GroupAdd        []string `yaml:"group_add"`
	Volumes         []string
}

func services(t *testing.T, name string) service {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Services struct{ Bailiff service } }
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return file.Services.Bailiff
}

// place is where a test has the three folders of the host.
type place struct{ folder string }

// image is what all tests start, built by the first of them.
var image = fmt.Sprintf("bailiff:test-%d", os.Getpid())

func TestMain(m *testing.M) {
	code := m.Run()
	if isBuilt {
		_ = exec.Command("docker", "rmi", "-f", image).Run()
	}
	os.Exit(code)
}

var isBuilt bool

func buildImage(t *testing.T) {
	t.Helper()
	if isBuilt {
		return
	}
	contents := t.TempDir()
	for _, copied := range []string{"Dockerfile", ".dockerignore"} {
		copyFile(t, filepath.Join(apptest.Root(t), copied), filepath.Join(contents, copied))
	}
	for _, program := range []string{"bailiff", "bailiff-runner", "bailiff-host"} {
		copyFile(t, filepath.Join(apptest.Programs(t), program), filepath.Join(contents, "bin", program))
	}
	docker(t, "build", "-q", "-t", image, contents)
	isBuilt = true
}

// newPlace builds the image and makes the folders.
func newPlace(t *testing.T, config string) place {
	t.Helper()
	needEngine(t)
	buildImage(t)
	p := place{apptest.OpenDir(t)}
	for _, name := range []string{"etc", "lib", "run"} {
		must(t, os.Mkdir(filepath.Join(p.folder, name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(p.folder, "etc", "bailiff.yaml"), []byte(config), 0o644)) //nolint:gosec // no secret
	for _, name := range []string{"lib", "run"} {
		must(t, os.Chown(filepath.Join(p.folder, name), 10001, 10001))
	}
	return p
}

// start starts the container as these files say, and returns what runs a command of
// bailiff in it.
func (p place) start(t *testing.T, files ...string) (bailiff func(words ...string) (string, error)) {
	t.Helper()
	name := filepath.Base(p.folder)
	words := []string{"run", "-d", "--name", name}
	for _, file := range files {
		words = append(words, p.flags(t, services(t, file))...)
	}
	docker(t, append(words, image)...)
	t.Cleanup(func() {
		logged, _ := exec.Command("docker", "logs", name).CombinedOutput()
		if t.Failed() {
			t.Logf("the sidecar's log:\n%s", logged)
		}
		_ = exec.Command("docker", "stop", "-t", "30", name).Run()
		_ = exec.Command("docker", "rm", "-f", name).Run()
	})
	bailiff = func(words ...string) (string, error) {
		out, err := exec.Command("docker", append([]string{"exec", name, "/usr/local/bin/bailiff"}, words...)...).CombinedOutput()
		return string(out), err
	}
	backendtest.Await(t, "the sidecar answers", func() bool {
		_, err := bailiff("status")
		return err == nil
	})
	return bailiff
}

// flags are what a file says, in the engine's own words.
func (p place) flags(t *testing.T, s service) (words []string) {
	t.Helper()
	here := strings.NewReplacer("/etc/bailiff:", filepath.Join(p.folder, "etc")+":", "/var/lib/bailiff:", filepath.Join(p.folder, "lib")+
		":",
		"/run/bailiff:", filepath.Join(p.folder, "run")+":")
	for flag, values := range map[string][]string{"--user": {s.User}, "--network": {s.NetworkMode}, "--cap-drop": s.CapDrop,
		"--security-opt": s.SecurityOpt, "--group-add": s.GroupAdd, "-v": s.Volumes} {
		for _, v := range values {
			if flag == "-v" {
				outside, inside, _ := strings.Cut(v, ":")
				v = here.Replace(outside+":") + inside
			}
			if strings.HasPrefix(v, "${DOCKER_GID") {
				v = engineGroup(t)
			}
			if v != "" {
				words = append(words, flag, v)
			}
		}
	}
	if s.ReadOnly {
		words = append(words, "--read-only")
	}
	return words
}

// config has a state folder that no sidecar of this machine has: by its path a sidecar
// knows its own sandboxes on an engine, and sweeps them.
const config = `state_dir: /var/lib/bailiff/of-a-test
agent: {listeners: [{name: agent, listen: "unix:///run/bailiff/agent.sock", uids: [10001], platforms: [telegram]}]}
operator: {listen: "unix:///run/bailiff/operator.sock"}
metrics: {listen: ""}
policies: {eval_timeout: 10s, require_tests: false}
limits: {warm: {sandboxes: 0}}
backends: {docker: {image: "bailiff-sandbox:test"}}
`

func TestTheImageHoldsASidecarThatChecksItsConfiguration(t *testing.T) {
	p := newPlace(t, config)
	if out := docker(t, "run", "--rm", "--network=none", image, "version"); !strings.HasPrefix(out, "bailiff ") {
		t.Errorf("its version is %q", out)
	}
	docker(t, "run", "--rm", "--network=none", "-v", filepath.Join(p.folder, "etc")+":/etc/bailiff:ro", image, "check")
	must(t, os.WriteFile(filepath.Join(p.folder, "etc", "bailiff.yaml"), []byte("stat_dir: x\n"), 0o644)) //nolint:gosec // no secret
	out, err := exec.Command("docker", "run", "--rm", "--network=none", "-v", filepath.Join(p.folder, "etc")+":/etc/bailiff:ro", image,
		"check").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "/etc/bailiff/bailiff.yaml:1") {
		t.Errorf("a fault gives %q and %v", out, err)
	}
}

func TestWithoutTheEnginesSocketTheContainerServesAndRunsNothing(t *testing.T) {
	bailiff := newPlace(t, config).start(t, "compose.yaml")
	if out, err := bailiff("exec", "--platform", "telegram", "--", "echo hello"); err == nil || !strings.Contains(out, "Docker engine") {
		t.Errorf("a request gives %q and %v", out, err)
	}
	if out, err := bailiff("audit", "verify"); err != nil {
		t.Errorf("its log: %v\n%s", err, out)
	}
}

func TestWithTheEnginesSocketTheContainerRunsCommandsInSandboxes(t *testing.T) {
	p := newPlace(t, config)
	bailiff := p.start(t, "compose.yaml", "docker.yaml")
	if out, err := bailiff("exec", "--platform", "telegram", "--", "echo hello; id -u"); err != nil || out != "hello\n10000\n" {
		t.Errorf("a request gives %q and %v", out, err)
	}
	// The sockets are the host's, and who comes from there is known.
	outside := exec.Command(filepath.Join(apptest.Programs(t), "bailiff"), "exec", "--listen", "unix://"+filepath.Join(p.folder, "run",
		"agent.sock"),
		"--platform", "telegram", "--", "echo hello")
	if out, err := outside.CombinedOutput(); err == nil || !strings.Contains(string(out), "uid 0") {
		t.Errorf("a user of the host that is not listed gets %q and %v", out, err)
	}
}

// needEngine leaves a test out where no engine of this machine could do it.
func needEngine(t *testing.T) {
	t.Helper()
	out, err := exec.Command("docker", "image", "inspect", "bailiff-sandbox:test").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("run scripts/start-docker and scripts/make-image: %s", out)
	} else if os.Geteuid() != 0 {
		err = errors.New("it takes root to give folders to the sidecar")
	}
	backendtest.Needs(t, "DOCKER AND ROOT", err)
}

// engineGroup is whose members may open the engine's socket.
func engineGroup(t *testing.T) string {
	t.Helper()
	about, err := os.Stat("/var/run/docker.sock")
	must(t, err)
	return fmt.Sprint(about.Sys().(*syscall.Stat_t).Gid)
}

// docker runs a command that must succeed.
func docker(t *testing.T, words ...string) string {
	t.Helper()
	command := exec.Command("docker", words...)
	command.Env = append(os.Environ(), "DOCKER_BUILDKIT=0")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", words, err, out)
	}
	return string(out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(to), 0o755))
	must(t, os.WriteFile(to, text, 0o755)) //nolint:gosec // programs
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
