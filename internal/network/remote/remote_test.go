package remote_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

func host(t testing.TB, cfg remote.Config) *remote.Host {
	t.Helper()
	h, err := remote.New(cfg)
	must(t, err)
	t.Cleanup(func() { h.Close() })
	return h
}

func start(t testing.TB, h *remote.Host, command string) *remote.Process {
	t.Helper()
	p, err := h.Start(t.Context(), command)
	must(t, err)
	return p
}

// says runs a command to its end.
func says(t testing.TB, h *remote.Host, command string) string {
	t.Helper()
	p := start(t, h, command)
	if err := p.CloseWrite(); err != nil {
		t.Error(err)
	}
	out, err := io.ReadAll(p)
	if err != nil {
		t.Error(err)
	}
	if status, words, err := p.Exit(); status != 0 || err != nil {
		t.Errorf("%s ended with %d, %v: %s", command, status, err, words)
	}
	return string(out)
}

func TestACommandRunsWhereTheAddressSaysAsTheUser(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	user := server.User(t)
	h := host(t, server.Config(user))
	if out := says(t, h, "id -un; echo to nobody >&2"); out != user+"\n" {
		t.Errorf("it is run by %q, want %s", out, user)
	}
	p := start(t, h, "cat; echo last words >&2; exit 7")
	if _, err := io.WriteString(p, "there and back"); err != nil {
		t.Fatal(err)
	}
	must(t, p.CloseWrite())
	if out, err := io.ReadAll(p); string(out) != "there and back" || err != nil {
		t.Errorf("it said %q, %v", out, err)
	}
	if status, words, err := p.Exit(); status != 7 || words != "last words" || err != nil {
		t.Errorf("it ended with %d, %q, %v", status, words, err)
	}
}

func TestASocketOfTheHostIsReached(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	h := host(t, server.Config(server.User(t)))
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			address := "127.0.0.1:0"
			if network == "unix" {
				address = filepath.Join(server.Folder, "socket")
			}
			listener, err := net.Listen(network, address)
			must(t, err)
			defer listener.Close()
			if network == "unix" {
				must(t, os.Chmod(address, 0o777))
			}
			go echo(listener)
			conn, err := h.Open(t.Context(), network, listener.Addr().String())
			must(t, err)
			defer conn.Close()
			if _, err := io.WriteString(conn, "hello"); err != nil {
				t.Fatal(err)
			}
			must(t, conn.(interface{ CloseWrite() error }).CloseWrite())
			if out, err := io.ReadAll(conn); string(out) != "hello" || err != nil {
				t.Errorf("it came back as %q, %v", out, err)
			}
		})
	}
}

func echo(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(conn, conn)
		conn.Close()
	}
}

func TestAHostThatIsNotTheKnownOneIsRefusedWithTheLineThatSaysSo(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	known := filepath.Join(server.Folder, "known_hosts")
	text, err := os.ReadFile(known)
	must(t, err)
	right := string(text)
	remotetest.Key(t, filepath.Join(server.Folder, "other"))
	other, err := os.ReadFile(filepath.Join(server.Folder, "other.pub"))
	must(t, err)
	name := strings.Fields(right)[0]
	trusted := filepath.Join(t.TempDir(), "trusted")
	for _, c := range []struct{ name, lines, refusal string }{
		{"the right line", right, ""},
		{"another key", "# a comment\n" + name + " " + string(other), known + ":2 says SHA256:"},
		{"no line", "elsewhere " + right[len(name)+1:], "unknown host"},
		{"an empty file", "", "unknown host"},
		{"a revoked key", "@revoked " + name + right[len(name):] + right, "revoked by " + known + ":1"},
		{"a line that cannot be read", name + " ssh-ed25519 garbage\n", known + ":1"},
	} {
		for _, first := range []string{"", trusted} {
			t.Run(c.name+", "+filepath.Base(first), func(t *testing.T) {
				must(t, os.WriteFile(known, []byte(c.lines), 0o644))
				cfg := server.Config(server.User(t))
				cfg.TrustFirst = first
				_ = os.Remove(trusted)
				want := c.refusal
				if want == "unknown host" && first != "" {
					want = ""
				}
				_, err := host(t, cfg).Start(t.Context(), "true")
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want one that says %q", err, want)
				}
			})
		}
	}
}

func TestAHostThatWasTrustedOnceMustStayTheSame(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := server.Config(server.User(t))
	cfg.KnownHosts, cfg.TrustFirst = nil, filepath.Join(t.TempDir(), "state", "known_hosts")
	says(t, host(t, cfg), "true")
	noted, err := os.ReadFile(cfg.TrustFirst)
	if err != nil || !strings.HasPrefix(string(noted), "[127.0.0.1]:") {
		t.Fatalf("noted is %q, %v", noted, err)
	}
	says(t, host(t, cfg), "true")
	remotetest.Key(t, filepath.Join(server.Folder, "other"))
	other, err := os.ReadFile(filepath.Join(server.Folder, "other.pub"))
	must(t, err)
	must(t, os.WriteFile(cfg.TrustFirst, []byte(strings.Fields(string(noted))[0]+" "+string(other)), 0o600))
	if _, err := host(t, cfg).Start(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), cfg.TrustFirst+":1 says") {
		t.Errorf("the error is %v, want one that names the line", err)
	}
}

func TestABrokenConnectionIsMadeAnew(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	h := host(t, server.Config(server.User(t)))
	p := start(t, h, "echo ready; cat")
	if _, err := io.ReadFull(p, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	server.Cut()
	<-p.Done()
	if _, _, err := p.Exit(); err == nil {
		t.Error("a command whose connection broke has ended as if nothing were wrong")
	}
	if out := says(t, h, "echo again"); out != "again\n" {
		t.Errorf("it said %q", out)
	}
}

func TestAHostThatAllowsNoFurtherSessionIsAskedOverAnotherConnection(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{Settings: []string{"MaxSessions 2"}})
	h := host(t, server.Config(server.User(t)))
	var all []*remote.Process
	for range 5 {
		all = append(all, start(t, h, "cat"))
	}
	backendtest.Await(t, "three connections for five commands of which each takes two", func() bool {
		return server.Sessions() == 3 // a command that has not begun yet is one more
	})
	for _, p := range all {
		p.Close()
		<-p.Done()
	}
	backendtest.Await(t, "only the first connection stays", func() bool { return server.Sessions() == 1 })
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
