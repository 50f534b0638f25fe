package kubernetes

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/local"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// A cluster is not to be had everywhere: "make kubernetes-test" brings one up and runs these tests in it.
const clusterFolder = "BAILIFF_TEST_KUBERNETES"

const namespace = "bailiff-sandboxes"

// runnerImage makes the runner's image, once.
var runnerImage = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "bailiff-image")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	at := filepath.Join(folder, program)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", err
	}
	content, err := os.ReadFile(os.Getenv("BAILIFF_TEST_RUNNER"))
	if err == nil {
		err = os.WriteFile(at, content, 0o755)
	}
	if err != nil {
		return "", err
	}
	out, err := exec.Command(os.Getenv(clusterFolder+"_IMPORT"), "bailiff.test/runner", folder, program).Output()
	_ = exec.Command("kubectl", "create", "namespace", namespace).Run() // it may be there
	return strings.TrimSpace(string(out)), err
})

// onCluster is a backend of the cluster, and leaves a test out where there is none.
func onCluster(t testing.TB) *Backend {
	t.Helper()
	if os.Getenv(clusterFolder) == "" {
		t.Skip("SKIPPED WITHOUT A CLUSTER: make kubernetes-test brings one up")
	}
	t.Setenv("BAILIFF_TEST_RUNNER", backendtest.Runner(t))
	door, err := runnerImage()
	backendtest.Must(t, err)
	cfg := Defaults()
	cfg.Kubeconfig, cfg.Image, cfg.RunnerImage = os.Getenv("KUBECONFIG"), os.Getenv(clusterFolder+"_IMAGE"), door
	cfg.WorkspaceMB = 64
	b, err := New(*cfg)
	backendtest.Must(t, err)
	return b
}

var spec = backends.Spec{Owner: "owner", Session: "session", Network: backends.None, ReadOnly: true, CPUs: 1, MemoryMB: 512, PIDs: 600}

func TestConformanceOnACluster(t *testing.T) {
	b := onCluster(t)
	t.Cleanup(func() {
		_, err := b.Sweep(context.Background(), spec.Owner, func(string) bool { return false })
		backendtest.NoError(t, err)
	})
	backendtest.Run(t, backendtest.Config{
		Name:    "kubernetes",
		Against: "a cluster of one node on the machine of the tests",
		Open:    func(testing.TB) backends.Backend { return b },
		Spec:    spec,
		Tries:   backendtest.OnBackend,
	})
}

func TestTheNextSidecarFindsWhatRunsInAPod(t *testing.T) {
	b := onCluster(t)
	spec := spec
	spec.Session, spec.Expires = "adopted", time.Now().Add(time.Hour)
	first, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	background, err := first.Start(t.Context(), runner.Shell("sleep 1000"), "left")
	backendtest.Must(t, err)
	again, err := b.Adopt(t.Context(), first.ID(), spec)
	backendtest.Must(t, err)
	<-first.Done()
	found, err := again.Processes(t.Context())
	if err != nil || len(found) != 1 {
		t.Errorf("background commands %v are found (%v), want %v", found, err, background)
	}
	backendtest.NoError(t, again.Close(context.Background()))
}

// killed has a program of the cluster, or of a pod, ended at once.
func killed(t *testing.T, pid string) {
	t.Helper()
	number, err := strconv.Atoi(strings.TrimSpace(pid))
	backendtest.Must(t, err)
	backendtest.Must(t, syscall.Kill(number, syscall.SIGKILL))
}

func TestAServerThatIsKilledLosesTheStreamAndNotWhatRuns(t *testing.T) {
	b := onCluster(t)
	spec := spec
	spec.Session, spec.Expires = "server", time.Now().Add(time.Hour)
	first, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	_, err = first.Start(t.Context(), runner.Shell("sleep 1000"), "left")
	backendtest.Must(t, err)
	pid, err := os.ReadFile(filepath.Join(os.Getenv(clusterFolder), "apiserver.pid"))
	backendtest.Must(t, err)
	killed(t, string(pid))
	<-first.Done()
	backendtest.Await(t, "the server is back", func() bool { return b.Ready(t.Context()) == nil })
	again, err := b.Adopt(t.Context(), first.ID(), spec)
	backendtest.Must(t, err)
	found, err := again.Processes(t.Context())
	if err != nil || len(found) != 1 {
		t.Errorf("background commands %v are found (%v), want one", found, err)
	}
	backendtest.NoError(t, again.Close(context.Background()))
}

func TestAPodWhoseDoorOrRunnerIsKilledIsOverAndSwept(t *testing.T) {
	b := onCluster(t)
	for _, program := range []string{"stand", "confine"} {
		spec := spec
		spec.Owner = "killed " + program
		broken, err := b.Open(t.Context(), spec)
		backendtest.Must(t, err)
		out, err := exec.Command("pgrep", "-n", "-f", "bailiff-runner "+program).Output()
		backendtest.Must(t, err)
		killed(t, string(out))
		<-broken.Done()
		if n, err := b.Sweep(t.Context(), spec.Owner, func(string) bool { return false }); n != 1 || err != nil {
			t.Errorf("a sweep removes %d after the end of %q (%v), want 1", n, program, err)
		}
		if n, err := b.Sweep(t.Context(), spec.Owner, func(string) bool { return false }); n != 0 || err != nil {
			t.Errorf("another sweep removes %d (%v), want none to be left", n, err)
		}
	}
}

func BenchmarkOnACluster(b *testing.B) { backendtest.Benchmark(b, onCluster(b), spec) }

// BenchmarkTrue compares a command in a pod with one by a runner at pipes of this process, and with kubectl's own way into the pod.
func BenchmarkTrue(b *testing.B) {
	pod := backendtest.Open(b, onCluster(b), spec)
	at, err := local.New(local.Config{Runner: backendtest.Runner(b)})
	backendtest.Must(b, err)
	pipes := backendtest.Open(b, at, backends.Spec{Owner: "owner", Session: "session", Network: "full"})
	in := func(s backends.Sandbox) func() error {
		return func() error {
			_, err := s.Run(b.Context(), runner.Shell("true"), func([]byte) {})
			return err
		}
	}
	backendtest.ByTurns(b, map[string]func() error{"pod": in(pod), "pipes": in(pipes), "kubectl": func() error {
		return exec.Command("kubectl", "exec", "-n", namespace, pod.ID(), "-c", inside, "--", "true").Run()
	}})
}

// BenchmarkReady compares making a pod with coming to one that stands.
func BenchmarkReady(b *testing.B) {
	cluster := onCluster(b)
	of := spec
	of.Expires = time.Now().Add(time.Hour)
	standing := backendtest.Open(b, cluster, of)
	backendtest.ByTurns(b, map[string]func() error{
		"made": func() error {
			made, err := cluster.Open(b.Context(), spec)
			if err == nil {
				defer func() { go made.Close(context.Background()) }()
			}
			return err
		},
		"adopted": func() error {
			_, err := cluster.Adopt(b.Context(), standing.ID(), of)
			return err
		},
	})
}
