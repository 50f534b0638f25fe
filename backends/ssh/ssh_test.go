package ssh_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

var spec = backends.Spec{Owner: "test", Session: "s", Network: "full"}

// section is what bailiff.yaml would say to reach a server.
func section(server *remotetest.Server, user string) *ssh.Config {
	cfg := ssh.Defaults()
	cfg.Host = user + "@" + server.Address
	cfg.Keys = []string{filepath.Join(server.Folder, "user")}
	cfg.KnownHosts = []string{filepath.Join(server.Folder, "known_hosts")}
	cfg.Folder, cfg.KeepAlive = server.Home+"/bailiff", 20*time.Second
	if user == "root" { // who does not rely on the home of another user
		cfg.Folder = server.Folder + "/roots"
	}
	return cfg
}

func made(t testing.TB, cfg *ssh.Config) backends.Backend {
	t.Helper()
	b, err := cfg.Make(backends.Host{Runner: backendtest.Runner(t), StateDir: t.TempDir()})
	backendtest.Must(t, err)
	return b
}

const endsWithConnection = "its sandboxes end with the connection: a sweep finds control groups alone"

func TestConformance(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	open := func(t testing.TB) backends.Backend { return made(t, section(server, server.User(t))) }
	backendtest.Run(t, backendtest.Config{Name: "ssh",
		Against: "OpenSSH's sshd on the machine of the tests, as a user without rights and as root", Open: open, Spec: spec,
		Tries: backendtest.OnBackend})
}

func TestCommandsBeginWhereTheBackendSays(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	folder := t.TempDir()
	backendtest.Must(t, os.Chmod(folder, 0o755))
	for _, workdir := range []string{"", folder} {
		cfg := section(server, "root")
		cfg.Workdir = workdir
		b := made(t, cfg)
		backendtest.Must(t, b.Ready(t.Context())) // the host tells the home of its user
		start := b.(backends.Starter).Start()
		if workdir != "" && start != workdir || !filepath.IsAbs(start) {
			t.Errorf("with the folder %q it says that commands begin in %q", workdir, start)
		}
		sandbox, err := b.Open(t.Context(), spec)
		backendtest.Must(t, err)
		var out bytes.Buffer
		pwd := backends.Command{Argv: []string{"pwd"}, Timeout: time.Minute, HeadBytes: 4096}
		_, err = sandbox.Run(t.Context(), pwd, func(p []byte) { out.Write(p) })
		backendtest.Must(t, err)
		if strings.TrimSpace(out.String()) != start {
			t.Errorf("a command begins in %q, want %q", out.String(), start)
		}
		backendtest.Must(t, sandbox.Close(t.Context()))
	}
}

func TestASandboxOnTheHostBeginsInAWorkspaceOfItsOwn(t *testing.T) {
	t.Parallel()
	cfg := ssh.Defaults()
	cfg.Sandbox = ssh.Bubblewrap
	if start := cfg.Start(); start != "" {
		t.Errorf("it begins in %q of the host, want no folder of it", start)
	}
}

// boxes are the limits that a host can keep where root logs in.
var boxes = backends.Spec{Owner: "test", Session: "s", Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}

func TestConformanceInASandbox(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	backendtest.Run(t, backendtest.Config{Name: "ssh-bubblewrap",
		Against: "OpenSSH's sshd and bubblewrap on the machine of the tests, as root and as a user without rights",
		Open:    func(t testing.TB) backends.Backend { return boxed(t, server, "root") }, Spec: boxes, Tries: backendtest.OnBackend,
		Without: map[string]string{"A sweep removes what its owner does not keep": endsWithConnection,
			"A sweep spares what is being opened": endsWithConnection}})
}

// boxed has sandboxes made at a server.
func boxed(t testing.TB, server *remotetest.Server, user string) backends.Backend {
	t.Helper()
	backendtest.Beside(t, "bailiff-host")
	cfg := section(server, user)
	cfg.Sandbox = ssh.Bubblewrap
	if user != "root" {
		cfg.Inside.AcceptMissing = []string{"cpus", "memory_mb", "pids"}
	}
	return made(t, cfg)
}

func TestConformanceInASandboxOfAnUnprivilegedUser(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	wanted := boxes
	wanted.CPUs, wanted.MemoryMB, wanted.PIDs = 0, 0, 0
	backendtest.Run(t, backendtest.Config{Spec: wanted, Tries: backendtest.OnUser,
		Open: func(t testing.TB) backends.Backend { return boxed(t, server, server.User(t)) },
		Without: map[string]string{
			"What it cannot do is refused by the name of the field": "the configuration accepts that limits are missing",
			"A sweep removes what its owner does not keep":          endsWithConnection,
			"A sweep spares what is being opened":                   endsWithConnection,
		}})
}

func TestConformanceForRoot(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	open := func(t testing.TB) backends.Backend { return made(t, section(server, "root")) }
	backendtest.Run(t, backendtest.Config{Open: open, Spec: spec, Tries: backendtest.OnUser, Without: map[string]string{
		"A command cannot look into the runner": "root can; as another user they cannot",
	}})
}
