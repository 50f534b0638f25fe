package docker

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// testImage is what scripts/make-image makes.
const testImage = "bailiff-sandbox:test"

// testEngine is a client of the engine that the tests run on. Where one is
// required, its absence is a failure.
func testEngine(t testing.TB) *client.Client {
	t.Helper()
	link, err := Config{}.connect()
	backendtest.Must(t, err)
	engine := link.engine
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = engine.ImageInspect(ctx, testImage)
	backendtest.Needs(t, "DOCKER with "+testImage+" (run scripts/start-docker and scripts/make-image)", err)
	return engine
}

// testBackend is a backend on the test engine; everything that its owner left
// behind is removed at the end.
func testBackend(t testing.TB, change ...func(*Config)) *Backend {
	t.Helper()
	testEngine(t)
	cfg := Config{Image: testImage, Runner: backendtest.Runner(t), Log: slog.New(slog.NewTextHandler(backendtest.Shown(t), nil))}
	for _, f := range change {
		f(&cfg)
	}
	b, err := New(cfg)
	backendtest.Must(t, err)
	t.Cleanup(func() { removeAll(t, owner(t)) })
	return b
}

func owner(t testing.TB) string { return fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name()) }

func removeAll(t testing.TB, owner string) {
	b, err := New(Config{Runner: "/none"})
	backendtest.Must(t, err)
	removeFrom(t, b, owner)
}

func removeFrom(t testing.TB, b *Backend, owner string) {
	ctx := context.Background()
	if _, err := b.Sweep(ctx, owner, keepNone); err != nil {
		t.Error(err)
	}
	volumes, err := b.engine.VolumeList(ctx, volumesOf(owner))
	backendtest.NoError(t, err)
	for _, v := range volumes.Volumes {
		backendtest.NoError(t, b.removeVolume(ctx, v.Name))
	}
}

// testSpec is what most sandboxes are like.
func testSpec(t testing.TB) backends.Spec {
	return backends.Spec{Owner: owner(t), Session: "agent:main:telegram:dm:42", Network: "none",
		CPUs: 1, MemoryMB: 256, PIDs: 128, ReadOnly: true}
}

// dialEngine connects to the test engine's socket.
func dialEngine(t testing.TB) func(context.Context, string, string) (net.Conn, error) {
	network, address, _ := strings.Cut(testEngine(t).DaemonHost(), "://")
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// editedEngine is the test engine with some of its answers changed: in those to
// requests whose path ends in suffix, old is replaced by new.
func editedEngine(t testing.TB, suffix, old, new string) string {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: dialEngine(t)}
	proxy.ModifyResponse = func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, suffix) {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		edited := strings.ReplaceAll(string(body), old, new)
		r.Body = io.NopCloser(strings.NewReader(edited))
		r.ContentLength = int64(len(edited))
		r.Header.Set("Content-Length", strconv.Itoa(len(edited)))
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return "tcp://" + server.Listener.Addr().String()
}

// relay is the test engine behind a listener that can end all connections at once,
// as when the engine dies, and opened again.
type relay struct {
	network, address string
	dial             func(context.Context, string, string) (net.Conn, error)
	// certificates are shown and wanted where there are any.
	certificates *tls.Config

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func startRelay(t testing.TB) *relay {
	t.Helper()
	r := &relay{network: "unix", address: filepath.Join(t.TempDir(), "engine.sock"), dial: dialEngine(t)}
	r.start(t)
	t.Cleanup(r.stop)
	return r
}

// startRelayTLS listens as an engine on a TCP port does.
func startRelayTLS(t testing.TB, certificates *tls.Config) *relay {
	t.Helper()
	r := &relay{network: "tcp", address: "127.0.0.1:0", dial: dialEngine(t), certificates: certificates}
	r.start(t)
	r.address = r.listener.Addr().String()
	t.Cleanup(r.stop)
	return r
}

func (r *relay) host() string {
	return r.network + "://" + r.address
}

func (r *relay) start(t testing.TB) {
	t.Helper()
	listener, err := net.Listen(r.network, r.address)
	backendtest.Must(t, err)
	if r.certificates != nil {
		listener = tls.NewListener(listener, r.certificates)
	}
	r.mu.Lock()
	r.listener = listener
	r.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
}

func (r *relay) serve(conn net.Conn) {
	engine, err := r.dial(context.Background(), "", "")
	if err != nil {
		conn.Close()
		return
	}
	r.mu.Lock()
	r.open = append(r.open, conn, engine)
	r.mu.Unlock()
	go func() { io.Copy(engine, conn); engine.Close() }()
	io.Copy(conn, engine)
	conn.Close()
}

func (r *relay) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener.Close()
	for _, conn := range r.open {
		conn.Close()
	}
	r.open = nil
}

func volumesOf(owner string) volume.ListOptions { return volume.ListOptions{Filters: ownedBy(owner)} }

func keepNone(string) bool { return false }
