package apptest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
	"github.com/bailiff-dev/bailiff/policies"
)

// Sidecar is one that serves in a process of its own, until the test ends.
type Sidecar struct {
	// Config is its bailiff.yaml, in a folder of its own.
	Config string
	// Agent and Operator are the addresses of its listeners.
	Agent, Operator string
	// Metrics is where its page for Prometheus is, as host:port, if a section says
	// "metrics: {listen: <metrics>}".
	Metrics string
	cmd     *exec.Cmd
	wait    func()       // for its end
	log     bytes.Buffer // to be read after the end
}

// Serve starts a sidecar that runs commands in bubblewrap, lets its two listeners (a
// socket, and one on TCP) speak for every platform and its user be the operator, ana.
// Sections are top-level ones of bailiff.yaml, such as "backends: {local: {}}", that
// stand there in place of these; <agent>, <operator> and <metrics> in them are addresses
// that are this sidecar's own.
func Serve(tb testing.TB, sections ...string) *Sidecar {
	tb.Helper()
	folder := OpenDir(tb)
	s := &Sidecar{Config: filepath.Join(folder, "bailiff.yaml"),
		Agent: "unix://" + filepath.Join(folder, "a.sock"), Operator: "unix://" + filepath.Join(folder, "o.sock"),
		Metrics: porttest.Address(tb)}
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte(token), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(s.Config, []byte(s.text(sections)), 0o600); err != nil {
		tb.Fatal(err)
	}
	s.Start(tb)
	return s
}

func (s *Sidecar) text(sections []string) string {
	all := map[string]string{
		"state_dir": "state_dir: state",
		"agent": fmt.Sprintf("agent: {listeners: [{name: test, listen: %q, platforms: [\"*\"]}, "+
			"{name: tcp, listen: \"tcp://127.0.0.1:0\", token_file: token, platforms: [\"*\"]}]}", s.Agent),
		"operator": fmt.Sprintf("operator: {listen: %q, allow_same_user: true}", s.Operator),
		"people":   fmt.Sprintf("people: [{name: ana, uids: [%d]}]", os.Getuid()),
		"metrics":  `metrics: {listen: ""}`,
		"policies": "policies: {eval_timeout: 10s, require_tests: false}", // on a busy machine
		"backends": "backends: {bubblewrap: {}}",
	}
	addresses := strings.NewReplacer("<agent>", s.Agent, "<operator>", s.Operator, "<metrics>", s.Metrics)
	for _, section := range sections {
		name, _, _ := strings.Cut(section, ":")
		all[name] = addresses.Replace(section)
	}
	return strings.Join(slices.Sorted(maps.Values(all)), "\n") + "\n"
}

// Start starts the sidecar again, and returns when it answers.
func (s *Sidecar) Start(tb testing.TB) {
	tb.Helper()
	s.log.Reset()
	s.cmd = exec.Command(filepath.Join(Programs(tb), "bailiff"), "serve", "--config", s.Config)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	operator, ended := s.client(tb, s.Operator), make(chan struct{})
	s.wait = sync.OnceFunc(func() {
		_ = s.cmd.Wait()
		close(ended)
	})
	go s.wait()
	awaittest.Until(tb, "the sidecar serves", func() bool {
		select {
		case <-ended:
			tb.Fatalf("the sidecar ended: %s", s.log.String())
		default:
		}
		_, err := operator.Status(tb.Context())
		return err == nil
	})
}

// Stop ends it in order.
func (s *Sidecar) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.wait()
}

// PID is its process.
func (s *Sidecar) PID() int { return s.cmd.Process.Pid }

// Kill ends it as nothing else could.
func (s *Sidecar) Kill() {
	_ = s.cmd.Process.Kill()
	s.wait()
}

// token is what the listener on TCP wants.
const token = "the-token-of-a-trial"

// TCP is the listener on TCP, as a URL, and its token.
func (s *Sidecar) TCP(tb testing.TB) (url, bearer string) {
	tb.Helper()
	status, err := s.Operators(tb).Status(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, l := range status.Listeners {
		if address, isTCP := strings.CutPrefix(l.Listen, "tcp://"); isTCP {
			return "http://" + address, token
		}
	}
	tb.Fatal("no listener is on TCP")
	return "", ""
}

// Client asks the agents' listener, Operators the other.
func (s *Sidecar) Client(tb testing.TB) *client.Client    { return s.client(tb, s.Agent) }
func (s *Sidecar) Operators(tb testing.TB) *client.Client { return s.client(tb, s.Operator) }

func (s *Sidecar) client(tb testing.TB, address string) *client.Client {
	tb.Helper()
	c, err := client.New(address, bailiff.Secret{})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// WithRules is the section for [Serve] with which the shipped policies are in force, but
// for their own tests and these replacements in data.yaml, each an old and a new text, and rules of package
// bailiff beside them, such as one that asks:
//
//	require_approval contains {"rule": "house.asks", "message": "It pushes.", "match": "git push"} if {
//		contains(input.args.command, "git push")
//	}
func WithRules(tb testing.TB, rego string, instead ...string) (section string) {
	tb.Helper()
	return Policies(PolicyFolder(tb, rego, instead...))
}

// Policies is the section for [Serve] with which the policies in a folder are in force.
func Policies(folder string) (section string) {
	return fmt.Sprintf("policies: {paths: [%q], eval_timeout: 10s, require_tests: false}", folder)
}

// PolicyFolder is where such policies are; house.rego has the rules.
func PolicyFolder(tb testing.TB, rego string, instead ...string) string {
	tb.Helper()
	shipped, err := policies.FS.ReadFile("data.yaml")
	tables := string(shipped)
	for i := 0; i < len(instead); i += 2 {
		if !strings.Contains(tables, instead[i]) {
			tb.Fatalf("data.yaml has no %q to replace", instead[i])
		}
		tables = strings.Replace(tables, instead[i], instead[i+1], 1)
	}
	folder := tb.TempDir()
	policytest.Copy(tb, folder)
	if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "data.yaml"), []byte(tables), 0o600),
		os.WriteFile(filepath.Join(folder, "house.rego"), []byte("package bailiff\n\n"+rego), 0o600)); err != nil {
		tb.Fatal(err)
	}
	return folder
}

// OpenDir is a folder with a short path that others can pass through, as sockets
// and the workspaces of sandboxes need it.
func OpenDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "bt")
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // sandboxes of another user are below
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
