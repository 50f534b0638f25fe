package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

func TestConformanceBySSH(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: the suite once more, over ssh")
	}
	conform(t, reachedBySSH(t, remotetest.Serve(t, remotetest.Options{})))
}

func TestAnEngineBehindSSHSaysWhatIsWrong(t *testing.T) {
	server, other := remotetest.Serve(t, remotetest.Options{}), remotetest.Serve(t, remotetest.Options{})
	right := reachedBySSH(t, server)
	strange := right
	strange.SSH.KnownHosts = []string{filepath.Join(t.TempDir(), "known_hosts")}
	text, err := os.ReadFile(filepath.Join(other.Folder, "host.pub"))
	backendtest.Must(t, err)
	_, port, _ := strings.Cut(server.Address, ":")
	backendtest.Must(t, os.WriteFile(strange.SSH.KnownHosts[0], []byte("[127.0.0.1]:"+port+" "+string(text)), 0o600))
	foreign := right
	foreign.SSH.Keys = []string{filepath.Join(other.Folder, "user")}
	unprivileged := right
	unprivileged.Host = strings.Replace(right.Host, "root@", remotetest.Unprivileged+"@", 1)
	nowhere := right
	nowhere.Host += "/nowhere/engine.sock"
	for _, c := range []struct {
		name string
		cfg  Config
		says string
	}{
		{"a host whose key changed", strange, strange.SSH.KnownHosts[0] + ":1"},
		{"a key that does not let us in", foreign, "unable to authenticate"},
		{"a user who may not open the engine's socket", unprivileged, "see that this user may log in there and open the socket"},
		{"no engine", nowhere, "/nowhere/engine.sock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := remoteBackend(t, c.cfg).Ready(t.Context())
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Ready says %v, want one sentence with %q", err, c.says)
			}
		})
	}
	if err := remoteBackend(t, right).Ready(t.Context()); err != nil {
		t.Errorf("as it should be, Ready says %v", err)
	}
}

func TestTheMachineOfAnEngineIsTrustedWhenItIsFirstMetWhereThatIsConfigured(t *testing.T) {
	cfg := reachedBySSH(t, remotetest.Serve(t, remotetest.Options{}))
	cfg.SSH.KnownHosts, cfg.SSH.TrustFirst = nil, true
	cfg.StateDir, cfg.Runner, cfg.Image = t.TempDir(), backendtest.Runner(t), testImage
	b, err := New(cfg)
	backendtest.Must(t, err)
	backendtest.Must(t, b.Ready(t.Context()))
	if text, err := os.ReadFile(filepath.Join(cfg.StateDir, "known_hosts")); err != nil || !strings.Contains(string(text), "127.0.0.1") {
		t.Errorf("noted is %q, %v", text, err)
	}
	backendtest.NoError(t, b.Close())
	if err := b.Ready(t.Context()); err == nil {
		t.Error("a backend that was closed connects anew")
	}
}

func TestAnEngineIsReachedThroughAHostOnTheWay(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	jump := remotetest.Serve(t, remotetest.Options{})
	cfg := reachedBySSH(t, server)
	cfg.SSH.Jump = "root@" + jump.Address
	cfg.SSH.Keys = append(cfg.SSH.Keys, jump.Config("root").Keys...)
	cfg.SSH.KnownHosts = append(cfg.SSH.KnownHosts, jump.Config("root").KnownHosts...)
	b := remoteBackend(t, cfg)
	backendtest.Must(t, b.Ready(t.Context()))
	jump.Stop()
	if err := b.Ready(t.Context()); err == nil {
		t.Error("the engine is reached without the host on the way")
	}
}

func TestASandboxWhoseConnectionBySSHIsCutIsLostAndTheNextOneIsMade(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	b := remoteBackend(t, reachedBySSH(t, server))
	sandbox, err := b.Open(t.Context(), testSpec(t))
	backendtest.Must(t, err)
	ran := runForLong(sandbox)
	server.Cut()
	<-sandbox.Done()
	if err := <-ran; err == nil {
		t.Error("a command whose sandbox was lost ended well")
	}
	if err := sandbox.Close(context.Background()); err != nil {
		t.Errorf("over a new connection, closing says %v", err)
	}
	next, err := b.Open(t.Context(), testSpec(t))
	backendtest.Must(t, err)
	backendtest.NoError(t, next.Close(t.Context()))
}

// reachedBySSH is the test engine on a machine that is reached by ssh.
func reachedBySSH(t *testing.T, server *remotetest.Server) Config {
	t.Helper()
	if os.Getuid() != 0 {
		backendtest.Needs(t, "ROOT, to log in as", errors.New("only root can"))
	}
	way := server.Config("root")
	socket := strings.TrimPrefix(testEngine(t).DaemonHost(), "unix://")
	host := "ssh://root@" + server.Address
	if socket != "/var/run/docker.sock" {
		host += socket
	}
	return Config{Host: host, SSH: settings.SSH{Keys: way.Keys, KnownHosts: way.KnownHosts}}
}
