package ssh_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/remote/remotetest"
)

var spec = backends.Spec{Owner: "test", Session: "s", Network: "full"}

// section is what bailiff.yaml would say to reach a server.
func section(server *remotetest.Server, user string) *ssh.Config {
	cfg := ssh.Defaults()
	cfg.Host = user + "@" + server.Address
	cfg.Keys = []string{filepath.Join(server.Folder, "user")}
	cfg.KnownHosts = []string{filepath.Join(server.Folder, "known_hosts")}
	cfg.Folder, cfg.KeepAlive = server.Home+"/bailiff", 20*time.Second
	return cfg
}

func made(t testing.TB, cfg *ssh.Config) backends.Backend {
	t.Helper()
	b, err := cfg.Make(backends.House{Runner: backendtest.Runner(t), StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// breaks kills what serves those who are logged in.
func breaks(server *remotetest.Server) func(testing.TB, backends.Sandbox) {
	return func(testing.TB, backends.Sandbox) { server.Cut() }
}

func TestConformance(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	open := func(t testing.TB) backends.Backend { return made(t, section(server, server.User(t))) }
	backendtest.Run(t, backendtest.Config{Name: "ssh", Open: open, Spec: spec, Break: breaks(server)})
}

func TestConformanceForRoot(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	open := func(t testing.TB) backends.Backend {
		cfg := section(server, "root")
		cfg.Folder = filepath.Join(server.Folder, "roots")
		return made(t, cfg)
	}
	backendtest.Run(t, backendtest.Config{Open: open, Spec: spec, Break: breaks(server), Without: map[string]string{
		"A command cannot look into the runner": "root can; as another user they cannot",
	}})
}
