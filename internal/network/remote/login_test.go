package remote_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ text, user, address string }{
		{"ana@host", "ana", "host:22"},
		{"ana@host:2222", "ana", "host:2222"},
		{"ana@10.0.0.1", "ana", "10.0.0.1:22"},
		{"ana@[::1]:2222", "ana", "[::1]:2222"},
		{"ana@[::1]", "ana", "[::1]:22"},
		{"ana@::1", "ana", "[::1]:22"},
		{"host", "", ""}, {"@host", "", ""}, {"ana@", "", ""}, {"ana@host:", "", ""}, {"ana@:22", "", ""}, {"ana@host:high", "", ""},
		{"ana@host/x", "", ""}, {"ana@host x", "", ""}, {"-oProxyCommand=x@host", "", ""}, {"", "", ""},
		{"a@b@c", "", ""}, {"ana:pw@host", "", ""}, {"ana@ho\ast", "", ""}, {"an\x1ba@host", "", ""}, {"ana@host\u200b", "", ""},
		{"ana@h:22:33", "", ""}, {"ana@[h", "", ""}, {"ana@h]", "", ""},
	} {
		user, address, err := remote.Parse(c.text)
		if user != c.user || address != c.address || (err == nil) != (c.user != "") {
			t.Errorf("%q is %q at %q, %v, want %q at %q", c.text, user, address, err, c.user, c.address)
		}
	}
}

func TestAPasswordIsNotTakenAndNotRepeated(t *testing.T) {
	for _, text := range []string{"ana:s3cret@host", "ana:s3cret@host:22", ":s3cret@host", "ana:s3cret@", "ana:x@s3cret@host"} {
		if _, _, err := remote.Parse(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("of %q it says %v", text, err)
		}
	}
}

func TestAHostIsNotOnTheWayToItself(t *testing.T) {
	itself := remote.Config{Address: "host:22", User: "ana", Agent: "/agent", KnownHosts: []string{"/known"}}
	for address, refused := range map[string]bool{"host:22": true, "HOST:22": true, "host:2222": false, "gate:22": false} {
		through, way := itself, itself
		way.Address, through.Jump = address, &way
		if _, err := remote.New(through); (err != nil) != refused || refused && !strings.Contains(err.Error(), "the host itself") {
			t.Errorf("by way of %s: %v", address, err)
		}
	}
}

func TestWhatIsMissingIsNamedAtOnce(t *testing.T) {
	_, err := remote.New(remote.Config{})
	if want := "lacks a file of known hosts, a key or an agent, a user, an address"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one that says %q", err, want)
	}
	jump := remote.Config{Address: "host:22", User: "ana", Agent: "/agent", KnownHosts: []string{"/known"}, Jump: &remote.Config{}}
	if _, err := remote.New(jump); err == nil || !strings.Contains(err.Error(), "the host on the way") {
		t.Errorf("the error is %v, want one of the host on the way", err)
	}
}

func TestAnAgentsKeysLogIn(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	key := cfg.Keys[0]
	cfg.Keys, cfg.Agent = nil, filepath.Join(t.TempDir(), "agent")
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "reaching the agent") {
		t.Errorf("without an agent the error is %v", err)
	}
	agent := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", cfg.Agent)
	must(t, agent.Start())
	t.Cleanup(func() { _ = agent.Wait() })
	backendtest.Await(t, "the agent listens", func() bool {
		conn, err := net.Dial("unix", cfg.Agent)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "logging in as") {
		t.Errorf("with an empty agent the error is %v", err)
	}
	add := exec.Command("ssh-add", "-q", key)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+cfg.Agent)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says(t, host(t, cfg), "true")
}

func TestAKeyIsForItsOwnersEyesOnly(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	locked := filepath.Join(t.TempDir(), "locked")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", locked).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stranger := filepath.Join(t.TempDir(), "stranger")
	remotetest.Key(t, stranger)
	for _, c := range []struct {
		name, key string
		mode      os.FileMode
		fault     string
	}{
		{"its owner's", cfg.Keys[0], 0o600, ""},
		{"readable by others", cfg.Keys[0], 0o644, "others may use"},
		{"one with a passphrase", locked, 0o600, "has a passphrase"},
		{"no key", filepath.Join(server.Folder, "sshd_config"), 0o600, "want a private key"},
		{"not there", filepath.Join(server.Folder, "nothing"), 0, "no such file"},
		{"one that the host does not know", stranger, 0o600, "add the public half of one to the authorized_keys of "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Chmod(c.key, c.mode)
			changed := cfg
			changed.Keys = []string{c.key}
			_, err := host(t, changed).Start(t.Context(), "true")
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("the error is %v, want one that says %q", err, c.fault)
			}
		})
	}
}

func TestKnownHostsThatOthersMayWriteAreNotBelieved(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	must(t, os.Chmod(cfg.KnownHosts[0], 0o666))
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil ||
		!strings.Contains(err.Error(), "others may write "+cfg.KnownHosts[0]) {
		t.Errorf("the error is %v", err)
	}
}

// A host has keys of several kinds and shows the one that is asked for.
func TestAHostIsKnownByAnyOfItsKeys(t *testing.T) {
	folder := t.TempDir()
	rsa := filepath.Join(folder, "rsa")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", rsa).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := remotetest.Serve(t, remotetest.Options{Settings: []string{"HostKey " + rsa}})
	cfg := server.Config(server.User(t))
	says(t, host(t, cfg), "true")
	text, err := os.ReadFile(rsa + ".pub")
	must(t, err)
	_, port, _ := net.SplitHostPort(server.Address)
	must(t, os.WriteFile(cfg.KnownHosts[0], []byte("[127.0.0.1]:"+port+" "+string(text)), 0o600))
	says(t, host(t, cfg), "true")
}

func TestAnAuthorityVouchesForItsHostsOnly(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"authority", "other", "vouched"} {
		remotetest.Key(t, filepath.Join(folder, name))
	}
	vouched := filepath.Join(folder, "vouched")
	if out, err := exec.Command("ssh-keygen", "-q", "-s", filepath.Join(folder, "authority"), "-I", "host", "-h", "-n", "127.0.0.1",
		vouched+".pub").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := remotetest.Serve(t, remotetest.Options{Settings: []string{"HostKey " + vouched, "HostCertificate " + vouched + "-cert.pub"}})
	cfg := server.Config(server.User(t))
	for name, right := range map[string]bool{"authority": true, "other": false} {
		text, err := os.ReadFile(filepath.Join(folder, name+".pub"))
		must(t, err)
		_, port, _ := net.SplitHostPort(server.Address)
		must(t, os.WriteFile(cfg.KnownHosts[0], []byte("@cert-authority [127.0.0.1]:"+port+" "+string(text)), 0o600))
		p, err := host(t, cfg).Start(t.Context(), "true")
		if (err == nil) != right {
			t.Errorf("with the key of %s the error is %v", name, err)
		}
		if err == nil {
			p.Close()
		}
	}
}

func TestAHostBehindAnotherOneIsReachedIfBothAreKnown(t *testing.T) {
	near, far := remotetest.Serve(t, remotetest.Options{}), remotetest.Serve(t, remotetest.Options{})
	way := near.Config(near.User(t))
	cfg := far.Config(far.User(t))
	cfg.Jump = &way
	if out := says(t, host(t, cfg), "echo $SSH_CONNECTION"); near.Sessions() == 0 || far.Sessions() == 0 {
		t.Errorf("it came by %s, with %d connections to the one and %d to the other", out, near.Sessions(), far.Sessions())
	}
	way.KnownHosts = cfg.KnownHosts
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "unknown host") {
		t.Errorf("when the host on the way is not known, the error is %v", err)
	}
	way.KnownHosts = near.Config("").KnownHosts
	cfg.KnownHosts = way.KnownHosts
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "unknown host") {
		t.Errorf("when the host behind it is not known, the error is %v", err)
	}
}

func TestAHostThatSaysNothingKeepsNobodyWaiting(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // where nobody ever answers
	must(t, err)
	defer listener.Close()
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config("ana")
	cfg.Address = listener.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := host(t, cfg).Start(ctx, "true"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v, want the end of the context", err)
	}
}

func TestADeadLineShowsInTime(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	line := remotetest.Lay(t, server.Address)
	known, err := os.ReadFile(filepath.Join(server.Folder, "known_hosts"))
	must(t, err)
	cfg := server.Config(server.User(t))
	_, port, _ := net.SplitHostPort(line.Address)
	cfg.KnownHosts = []string{filepath.Join(t.TempDir(), "known_hosts")}
	must(t, os.WriteFile(cfg.KnownHosts[0], []byte("[127.0.0.1]:"+port+strings.TrimLeft(string(known), "[]0123456789.:")),
		0o600))
	cfg.Address, cfg.KeepAlive = line.Address, 2*time.Second
	h := host(t, cfg)
	p, more := start(t, h, "cat"), start(t, h, "cat")
	line.Die()
	if _, err := p.Read(make([]byte, 1)); err == nil {
		t.Error("something was said over a dead line")
	}
	<-p.Done()
	<-more.Done()
	if _, _, err := p.Exit(); err == nil {
		t.Error("the command has ended as if nothing were wrong")
	}
	line.Heal()
	says(t, h, "true")
}

// Whoever says something is alive, though nobody hears an answer for long.
func TestAHostThatSpeaksIsAlive(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	cfg.KeepAlive = time.Second
	h := host(t, cfg)
	slow := start(t, h, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.25; echo $i; done")
	var said strings.Builder
	buffer := make([]byte, 100)
	for {
		n, err := slow.Read(buffer)
		said.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	if !strings.HasSuffix(said.String(), "12\n") {
		t.Errorf("it was heard to say %q", said.String())
	}
}
