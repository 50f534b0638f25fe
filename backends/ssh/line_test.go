package ssh_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

// marked counts the processes that have a word among their arguments.
func marked(word string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), word) {
			n++
		}
	}
	return n
}

// work is a sandbox in the middle of a command that must never run twice: it counts
// its runs in a file.
func work(t *testing.T, b backends.Backend, wanted backends.Spec, runs string) (sandbox backends.Sandbox, marker string, ended chan error) {
	t.Helper()
	marker = fmt.Sprintf("8%017d", rand.Int64N(1e17))
	sandbox, err := b.Open(t.Context(), wanted)
	backendtest.Must(t, err)
	t.Cleanup(func() {
		backendtest.NoError(t, sandbox.Close(context.Background()))
	})
	ended = make(chan error, 1)
	go func() {
		_, err := sandbox.Run(context.Background(), runner.Shell("echo run >>"+runs+"; setsid sleep "+marker+" & sleep "+marker),
			func([]byte) {})
		ended <- err
	}()
	backendtest.Await(t, "it is at work", func() bool { return marked(marker) >= 2 })
	return sandbox, marker, ended
}

// over wants the end of a sandbox to be known, on both sides.
func over(t *testing.T, sandbox backends.Sandbox, marker string, ended chan error) {
	t.Helper()
	if err := <-ended; err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command ended with %v, want an error that does not say it was not started", err)
	}
	<-sandbox.Done()
	backendtest.Await(t, "nothing is left on the host", func() bool { return marked(marker) == 0 })
	if _, err := sandbox.Run(context.Background(), runner.Shell("true"), nil); !errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("another command: %v, want an error that wraps ErrNotStarted", err)
	}
}

// serves wants a new sandbox to be had.
func serves(t *testing.T, b backends.Backend, wanted backends.Spec) {
	t.Helper()
	backendtest.OnceSays(t, b, wanted, "echo served", "served\n")
}

// run runs a script in a sandbox of its own.
// kinds are a host with and without sandboxes.
func kinds(t *testing.T, try func(t *testing.T, server *remotetest.Server, cfg *ssh.Config, wanted backends.Spec, runs string)) {
	t.Run("bare", func(t *testing.T) {
		server := remotetest.Serve(t, remotetest.Options{})
		try(t, server, section(server, server.User(t)), spec, server.Home+"/runs")
	})
	t.Run("in a sandbox", func(t *testing.T) {
		backendtest.Beside(t, "bailiff-host")
		server := remotetest.Serve(t, remotetest.Options{})
		cfg := section(server, server.User(t))
		cfg.Sandbox = ssh.Bubblewrap
		wanted := backends.Spec{Owner: "test", Session: "s", Workspace: "w", Network: "none", ReadOnly: true}
		try(t, server, cfg, wanted, "/workspace/runs")
	})
}

func TestAConnectionThatIsCutInTheMiddleOfACommandEndsItOnBothSides(t *testing.T) {
	kinds(t, func(t *testing.T, server *remotetest.Server, cfg *ssh.Config, wanted backends.Spec, runs string) {
		b := made(t, cfg)
		sandbox, marker, ended := work(t, b, wanted, runs)
		server.Cut()
		over(t, sandbox, marker, ended)
		serves(t, b, wanted)
		backendtest.OnceSays(t, b, wanted, "cat "+runs, "run\n")
	})
}

func TestALineThatGoesDeadInTheMiddleOfACommandEndsItOnBothSides(t *testing.T) {
	kinds(t, func(t *testing.T, server *remotetest.Server, cfg *ssh.Config, wanted backends.Spec, runs string) {
		line := remotetest.Lay(t, server.Address)
		known, err := os.ReadFile(cfg.KnownHosts[0])
		backendtest.Must(t, err)
		_, port, _ := net.SplitHostPort(line.Address)
		if err := os.WriteFile(cfg.KnownHosts[0], append(known, "[127.0.0.1]:"+port+strings.TrimLeft(string(known), "[]0123456789.:")...),
			0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Host, _, _ = strings.Cut(cfg.Host, "@")
		cfg.Host += "@" + line.Address
		cfg.KeepAlive = 3 * time.Second
		b := made(t, cfg)
		sandbox, marker, ended := work(t, b, wanted, runs)
		line.Die()
		over(t, sandbox, marker, ended)
		line.Heal()
		serves(t, b, wanted)
	})
}

func TestMoreSandboxesStandThanAConnectionAllows(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{Settings: []string{"MaxSessions 2"}})
	b := made(t, section(server, server.User(t)))
	for range 5 {
		sandbox, err := b.Open(t.Context(), spec)
		backendtest.Must(t, err)
		defer sandbox.Close(context.Background())
		if exit, err := sandbox.Run(t.Context(), runner.Shell("true"), func([]byte) {}); err != nil || exit.Code != 0 {
			t.Errorf("it ended as %+v, %v", exit, err)
		}
	}
}

func TestReadySaysWhyAHostCannotBeUsed(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{Mounts: []string{"mount --bind /dev/null /usr/bin/bwrap"}})
	other := remotetest.Serve(t, remotetest.Options{})
	for _, c := range []struct {
		name, fault string
		change      func(*ssh.Config)
	}{
		{"nothing", "", func(*ssh.Config) {}},
		{"nobody listens", "connection refused", func(c *ssh.Config) { c.Host = "ana@127.0.0.1:1" }},
		{"it is not known", "unknown host", func(c *ssh.Config) { c.KnownHosts = []string{filepath.Join(other.Folder, "known_hosts")} }},
		{"it does not let us in", "logging in as stranger", func(c *ssh.Config) { c.Host = "stranger@" + server.Address }},
		{"its folder for commands is not there", "no folder /nowhere", func(c *ssh.Config) { c.Workdir = "/nowhere" }},
		{"its folder for programs cannot be made", "/proc/x on the host", func(c *ssh.Config) { c.Folder = "/proc/x" }},
		{"it has no bubblewrap", "install bubblewrap", func(c *ssh.Config) { c.Sandbox = ssh.Bubblewrap }},
	} {
		t.Run(c.name, func(t *testing.T) {
			backendtest.Beside(t, "bailiff-host")
			cfg := section(server, server.User(t))
			c.change(cfg)
			err := made(t, cfg).Ready(t.Context())
			backendtest.Fault(t, err, backends.ErrUnavailable, c.fault)
		})
	}
}

func TestNoValueOfAVariableIsSeenOnTheHost(t *testing.T) {
	kinds(t, func(t *testing.T, _ *remotetest.Server, cfg *ssh.Config, wanted backends.Spec, runs string) {
		sandbox, err := made(t, cfg).Open(t.Context(), wanted)
		backendtest.Must(t, err)
		defer sandbox.Close(context.Background())
		value := fmt.Sprintf("value%017d", rand.Int64N(1e17))
		cmd := runner.Shell("echo begun; echo run >>" + runs + "; read; printf %s \"$SECRET\"")
		cmd.Env, cmd.HeadBytes = map[string]bailiff.Secret{"SECRET": bailiff.NewSecret(value)}, 1000
		p, err := sandbox.Start(t.Context(), cmd, "reads")
		backendtest.Must(t, err)
		backendtest.Await(t, "it runs", func() bool {
			piece, err := p.Log(t.Context(), 0, 1000)
			return err == nil && string(piece.Data) == "begun\n"
		})
		if n := marked(value); n > 0 {
			t.Errorf("%d command lines hold it", n)
		}
		if n := holding(value); n != 1 {
			t.Errorf("%d processes have it in their environment, want the command alone", n)
		}
		backendtest.Must(t, p.CloseInput(t.Context()))
		<-p.Done()
		if piece, err := p.Log(t.Context(), 0, 1000); err != nil || string(piece.Data) != "begun\n"+value {
			t.Errorf("the command has %q, %v", piece.Data, err)
		}
	})
}

// holding counts the processes that have a text in their environment.
func holding(text string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if environment, _ := os.ReadFile(file); strings.Contains(string(environment), text) {
			n++
		}
	}
	return n
}
