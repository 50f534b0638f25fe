// Package remotetest runs real ssh servers for tests, on the loopback, with keys,
// users and settings of their own.
package remotetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// Unprivileged is a user that only these servers know, where root runs them.
const Unprivileged = "someone"

// Options say what a server is like.
type Options struct {
	// Settings are lines of sshd_config that come before the usual ones.
	Settings []string
	// Mounts are commands of a shell that root runs first, in namespaces of the
	// server's own.
	Mounts []string
	// Shell is the login shell of the unprivileged user; empty means /bin/sh.
	Shell string
}

// Server is a running sshd.
type Server struct {
	// Address is where it listens.
	Address string
	// Folder holds its keys: host and host.pub are its own, user and user.pub those of
	// who may log in, known_hosts is the line that names it. Home is the home of the
	// unprivileged user.
	Folder, Home string
	process      *os.Process
	ended        chan struct{}
}

// Serve runs a server until the test ends.
func Serve(tb testing.TB, options Options) *Server {
	tb.Helper()
	program, err := exec.LookPath("/usr/sbin/sshd")
	backendtest.Needs(tb, "SSHD", err)
	s := &Server{Folder: folder(tb), Address: porttest.Address(tb), ended: make(chan struct{})}
	s.Home = filepath.Join(s.Folder, "home")
	for _, name := range []string{"host", "user"} {
		Key(tb, s.path(name))
	}
	public := read(tb, s.path("host.pub"))
	write(tb, s.path("known_hosts"), fmt.Sprintf("[127.0.0.1]:%s %s", s.Port(), public), 0o644)
	write(tb, s.path("authorized_keys"), read(tb, s.path("user.pub")), 0o644)
	write(tb, s.path("sshd_config"), strings.Join(append(options.Settings,
		"ListenAddress "+s.Address, "HostKey "+s.path("host"), "AuthorizedKeysFile "+s.path("authorized_keys"), "PidFile none",
		"StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes", "UseDNS no"),
		"\n")+"\n", 0o644)
	s.start(tb, program, options)
	return s
}

// Port is that of its address.
func (s *Server) Port() string {
	_, port, _ := net.SplitHostPort(s.Address)
	return port
}

func (s *Server) path(name string) string { return filepath.Join(s.Folder, name) }

// Key makes a pair of keys.
func Key(tb testing.TB, path string, more ...string) {
	tb.Helper()
	if out, err := exec.Command("ssh-keygen", append([]string{"-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path},
		more...)...).CombinedOutput(); err != nil {
		tb.Fatalf("making a key: %v\n%s", err, out)
	}
}

// start starts it, as root in namespaces of its own, in which there is one user more.
func (s *Server) start(tb testing.TB, program string, options Options) {
	tb.Helper()
	make755(tb, s.Home)
	argv := []string{program, "-D", "-e", "-f", s.path("sshd_config")}
	if os.Getuid() == 0 {
		argv = append([]string{"unshare", "--mount", "sh", "-ec", s.prologue(tb, options) + `exec "$@"`, "sh"}, argv...)
	}
	log, err := os.Create(s.path("log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("starting sshd: %v", err)
	}
	s.process = cmd.Process
	go func() { _ = cmd.Wait(); close(s.ended) }()
	tb.Cleanup(func() {
		s.Stop()
		if tb.Failed() {
			tb.Logf("sshd said:\n%s", read(tb, s.path("log")))
		}
	})
	backendtest.Await(tb, "sshd listens", func() bool {
		conn, err := net.DialTimeout("tcp", s.Address, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil || s.isOver(tb)
	})
}

func (s *Server) isOver(tb testing.TB) bool {
	select {
	case <-s.ended:
		tb.Fatalf("sshd ended:\n%s", read(tb, s.path("log")))
	default:
	}
	return false
}

const uid = 54322

func (s *Server) prologue(tb testing.TB, options Options) string {
	shell := options.Shell
	if shell == "" {
		shell = "/bin/sh"
	}
	make755(tb, s.path("etc"))
	make755(tb, s.path("etc-of-the-machine"))
	write(tb, s.path("etc/passwd"), read(tb, "/etc/passwd")+fmt.Sprintf("%s:x:%d:%[2]d::%s:%s\n", Unprivileged, uid, s.Home, shell), 0o644)
	write(tb, s.path("etc/shadow"), read(tb, "/etc/shadow")+Unprivileged+":*:20000::::::\n", 0o600)
	if err := os.Chown(s.Home, uid, uid); err != nil {
		tb.Fatal(err)
	}
	return strings.Join(append([]string{
		"theirs=" + s.path("etc") + " machines=" + s.path("etc-of-the-machine"), lendEtc, "mkdir -p -m 0755 /run/sshd",
	}, options.Mounts...), "\n") + "\n"
}

// lendEtc mounts a folder with links to all else that is in /etc. A mount over each file would be gone as soon as another
// process of the machine puts a new file in the place of that, as programs do that add users.
const lendEtc = `mount --bind /etc $machines
mount -o remount,bind,ro $machines
for file in $machines/*; do
	[ -e $theirs/${file##*/} ] || ln -s $file $theirs
done
mount --bind $theirs /etc`

// User is who logs in without privileges: one that the server has more, or the user
// that runs the test.
func (s *Server) User(tb testing.TB) string {
	tb.Helper()
	if os.Getuid() == 0 {
		return Unprivileged
	}
	me, err := user.Current()
	if err != nil {
		tb.Fatal(err)
	}
	return me.Username
}

// Config is how a user reaches the server.
func (s *Server) Config(user string) remote.Config {
	return remote.Config{Address: s.Address, User: user, Keys: []string{s.path("user")}, KnownHosts: []string{s.path("known_hosts")}}
}

// Sessions counts the connections over which a user is logged in: by the processes
// that are named after a user alone.
func (s *Server) Sessions() (n int) {
	for _, pid := range below(s.process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(text), "sshd: ") && !strings.Contains(string(text), "[") {
			n++
		}
	}
	return n
}

// Cut kills what serves those who are logged in.
func (s *Server) Cut() {
	for _, pid := range below(s.process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Stop ends the server and who is logged in.
func (s *Server) Stop() {
	_ = s.process.Signal(syscall.SIGSTOP) // it starts nothing more
	s.Cut()
	_ = s.process.Kill()
	<-s.ended
}

// below lists the processes of sshd that a process has started, and those that these
// have; not the commands they run.
func below(parent int) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		before, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		pid, name, _ := strings.Cut(before, " (")
		if n, err := strconv.Atoi(pid); err == nil && len(fields) > 1 && name == "sshd" && fields[1] == strconv.Itoa(parent) {
			list = append(append(list, n), below(n)...)
		}
	}
	return list
}

// folder is one that everybody can pass through.
func folder(tb testing.TB) string {
	tb.Helper()
	path, err := os.MkdirTemp("", "bailiff-sshd")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(path) })
	if err := os.Chmod(path, 0o711); err != nil {
		tb.Fatal(err)
	}
	return path
}

func make755(tb testing.TB, path string) {
	tb.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func write(tb testing.TB, path, text string, mode os.FileMode) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		tb.Fatal(err)
	}
}
