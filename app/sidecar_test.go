package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// sandboxImage is the image that "make test" makes.
const sandboxImage = "bailiff-sandbox:test"

// running is a sidecar that serves in a folder of its own until the test ends.
type running struct {
	*App
	folder string
	log    *lockedLog
	stop   func()
}

// startSidecar runs a sidecar with the sections given, and with listeners, a state
// folder and a runner of its own.
func startSidecar(tb testing.TB, sections ...string) *running {
	tb.Helper()
	s, err := tryStart(tb, openDir(tb), sections...)
	must(tb, err)
	return s
}

// tryStart starts one in a folder that may have seen one before.
func tryStart(tb testing.TB, folder string, sections ...string) (*running, error) {
	tb.Helper()
	sockets := openDir(tb)
	return tryServe(tb, folder, fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", platforms: ["*"]}]}
operator: {listen: "unix://%[1]s/o.sock", console: "127.0.0.1:0"}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[2]s}
`, sockets, backendtest.Runner(tb))+strings.Join(sections, "\n"))
}

// tryServe starts one by a whole configuration.
func tryServe(tb testing.TB, folder, text string) (*running, error) {
	tb.Helper()
	cfg, err := config.Parse(filepath.Join(folder, "bailiff.yaml"), []byte(text), catalogue.All())
	must(tb, err)
	cfg.Policies.EvalTimeout = max(cfg.Policies.EvalTimeout, 10*time.Second) // a busy machine that looks for races is slow
	r := &running{folder: folder, log: &lockedLog{}}
	if r.App, err = open(tb.Context(), cfg, NewLog("info", "text", r.log), Config{Version: "test"}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("stopping the sidecar: %v", err)
		}
	})
	tb.Cleanup(r.stop)
	return r, nil
}

func (r *running) client(tb testing.TB) *client.Client {
	tb.Helper()
	return clientOf(tb, r.cfg.Agent.Listeners[0].Listen.String())
}

// operators is a client of the operators' socket.
func (r *running) operators(tb testing.TB) *client.Client {
	tb.Helper()
	return clientOf(tb, r.cfg.Operator.Listen.String())
}

func clientOf(tb testing.TB, address string) *client.Client {
	tb.Helper()
	c, err := client.New(address, bailiff.Secret{})
	must(tb, err)
	return c
}

// openDir is a folder whose path leaves room for a socket's name, and through
// which an unprivileged sandbox may pass.
func openDir(tb testing.TB) string {
	tb.Helper()
	dir, err := makeOpenDir()
	must(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func makeOpenDir() (string, error) {
	dir, err := os.MkdirTemp("", "bt")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// lockedLog is what the sidecar logged so far.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
