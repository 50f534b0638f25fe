package apptainer_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func resolved(t *testing.T, b *apptainer.Backend, name string) string {
	t.Helper()
	image, err := b.Resolve(t.Context(), name)
	backendtest.Must(t, err)
	return image
}

// marked is a SIF file for the stand-in whose root holds a file.
func marked(t *testing.T, path, mark string) {
	t.Helper()
	folder := t.TempDir()
	newRoot(t, folder)
	backendtest.Must(t, errors.Join(os.WriteFile(filepath.Join(folder, "mark"), []byte(mark), 0o644), writeSIF(folder, path)))
}

func TestAnImageIsWhatItWasWhateverBecomesOfItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.sif")
	b := onStandIn(t, func(c *apptainer.Config) { c.Image = path })
	marked(t, path, "first")
	first := resolved(t, b, "")
	if again := resolved(t, b, path); again != first || !strings.HasPrefix(first, path+"#sha256:") {
		t.Errorf("it is %s, and %s the next time", first, again)
	}
	marked(t, path, "second, and longer")
	second := resolved(t, b, path)
	if second == first {
		t.Error("another content has the same name")
	}
	for image, want := range map[string]string{first: "first", second: "second, and longer"} {
		wanted := spec
		wanted.Image = image
		if out := backendtest.Once(t, b, wanted, "cat /mark"); out != want {
			t.Errorf("%s holds %q, want %q", image, out, want)
		}
	}
	if pinned := resolved(t, b, first); pinned != first {
		t.Errorf("what is pinned becomes %s", pinned)
	}
}

func TestAnImageThatIsNotWhatItWasIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.sif")
	b := onStandIn(t)
	marked(t, path, "first")
	wanted := spec
	wanted.Image = path + "#sha256:" + strings.Repeat("0", 64)
	if _, err := b.Open(t.Context(), wanted); !errors.Is(err, backends.ErrUnavailable) ||
		!strings.Contains(err.Error(), "another one than it was") {
		t.Errorf("error is %v", err)
	}
}

func TestWhatIsNoImageIsRefused(t *testing.T) {
	folder := t.TempDir()
	b := onStandIn(t, func(c *apptainer.Config) { c.Image = "" })
	text := filepath.Join(folder, "text.sif")
	foreign := filepath.Join(folder, "foreign.sif")
	if err := errors.Join(os.WriteFile(text, bytes.Repeat([]byte("no image"), 1<<14), 0o644),
		os.WriteFile(foreign, []byte(sifHeader), 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fault string
		kind  error
	}{
		"":                            {"no image is named", backends.ErrUnavailable},
		"debian:12":                   {"SIF file", backends.ErrUnsupported},
		"../image.sif":                {"SIF file", backends.ErrUnsupported},
		"docker-daemon://debian":      {"SIF file", backends.ErrUnsupported},
		"docker://debian\n--bind":     {"SIF file", backends.ErrUnsupported},
		filepath.Join(folder, "none"): {"no such file", backends.ErrUnavailable},
		folder:                        {"is no SIF file", backends.ErrUnavailable},
		"/dev/zero":                   {"is no SIF file", backends.ErrUnavailable},
		text:                          {"is no SIF file", backends.ErrUnavailable},
		foreign:                       {"reading global header", backends.ErrUnavailable},
		"docker://127.0.0.1:1/nobody": {"connection refused", backends.ErrUnavailable},
	} {
		if _, err := b.Resolve(t.Context(), name); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("of %q: error is %v, want one that wraps %v and speaks of %q", name, err, c.kind, c.fault)
		}
	}
}

// registry is one that has a single image, "one:latest", of one layer.
type registry struct {
	*httptest.Server
	mu     sync.Mutex
	blobs  map[string][]byte
	name   string
	asked  atomic.Int64
	broken bool
}

func newRegistry(t *testing.T, root string) *registry {
	t.Helper()
	r := &registry{blobs: map[string][]byte{}}
	layer, plain := packed(t, root)
	descriptor := func(kind string, content []byte) map[string]any {
		return map[string]any{"mediaType": "application/vnd.oci.image." + kind, "digest": r.add(content), "size": len(content)}
	}
	config := encoded(t, map[string]any{"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(plain)}}})
	manifest := encoded(t, map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor("config.v1+json", config), "layers": []any{descriptor("layer.v1.tar+gzip", layer)}})
	r.blobs["latest"] = manifest
	r.add(manifest)
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	r.name = "docker://" + strings.TrimPrefix(r.URL, "https://") + "/one:latest"
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	backendtest.Must(t, os.WriteFile(certificate, text, 0o644))
	t.Setenv("SSL_CERT_FILE", certificate)
	t.Setenv("NO_PROXY", "127.0.0.1")
	return r
}

func (r *registry) add(content []byte) string {
	r.blobs[digest(content)] = content
	return digest(content)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	backendtest.Must(t, err)
	return text
}

func packed(t *testing.T, root string) (layer, plain []byte) {
	t.Helper()
	var raw, zipped bytes.Buffer
	pack := tar.NewWriter(&raw)
	backendtest.Must(t, errors.Join(pack.AddFS(os.DirFS(root)), pack.Close()))
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write(raw.Bytes())
	backendtest.Must(t, errors.Join(err, zip.Close()))
	return zipped.Bytes(), raw.Bytes()
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked.Add(1)
	if q.URL.Path == "/v2/" {
		return
	}
	content, found := r.blobs[filepath.Base(q.URL.Path)]
	switch {
	case !found || !strings.HasPrefix(q.URL.Path, "/v2/one/"):
		http.NotFound(w, q)
		return
	case strings.Contains(q.URL.Path, "/manifests/"):
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", digest(content))
	case r.broken:
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(content))
}

// pulls has a backend bring an image from a registry.
func pulls(t *testing.T, b *apptainer.Backend, r *registry) {
	t.Helper()
	var steps []string
	ctx := backends.WithSteps(t.Context(), func(what string) { steps = append(steps, what) })
	first, err := b.Resolve(ctx, r.name)
	backendtest.Must(t, err)
	if !strings.HasPrefix(first, r.name+"#sha256:") {
		t.Errorf("it is called %s", first)
	}
	told := strings.Join(steps, "\n")
	for _, want := range []string{"pulling image " + r.name, "Creating SIF file", "unpacking image " + r.name} {
		if !strings.Contains(told, want) {
			t.Errorf("it was not told of %q, but\n%s", want, told)
		}
	}
	asked := r.asked.Load()
	if again := resolved(t, b, r.name); again != first || r.asked.Load() != asked {
		t.Errorf("the next time it is %s, and the registry was asked %d times more", again, r.asked.Load()-asked)
	}
	wanted := spec
	wanted.Image = first
	sandbox, err := b.Open(context.Background(), wanted)
	backendtest.Must(t, err)
	defer sandbox.Close(context.Background())
	if files, err := sandbox.Digest(t.Context(), "", []string{"/mark"}); err != nil ||
		"sha256:"+files[0].SHA256 != digest([]byte("of the registry")) {
		t.Errorf("it holds %v, %v", files, err)
	}
}

// ofRegistry is the root of an image that a registry has.
func ofRegistry(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"dev", "proc", "tmp", "var/tmp", "etc", "usr"} {
		backendtest.Must(t, os.MkdirAll(filepath.Join(folder, name), 0o755))
	}
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "mark"), []byte("of the registry"), 0o644))
	return folder
}

func TestAnImageOfARegistryIsPulledOnceAndPinned(t *testing.T) {
	b := onStandIn(t)
	pulls(t, b, newRegistry(t, ofRegistry(t)))
}

func TestAPullThatFailsLeavesNothing(t *testing.T) {
	state := t.TempDir()
	b := onStandIn(t, func(c *apptainer.Config) { c.StateDir = state })
	r := newRegistry(t, ofRegistry(t))
	r.broken = true
	if _, err := b.Resolve(t.Context(), r.name); !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), r.name) {
		t.Errorf("error is %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Resolve(over, r.name); !errors.Is(err, context.Canceled) {
		t.Errorf("having been cancelled, it says %v", err)
	}
	for _, folder := range []string{"works", "images"} {
		if left, err := os.ReadDir(filepath.Join(state, folder)); err != nil || len(left) > 0 {
			t.Errorf("in %s are left %v, %v", folder, left, err)
		}
	}
}

func TestCredentialsOfRegistriesAreUsedOnlyWhileTheyAreKeptFromOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "auth.json")
	backendtest.Must(t, os.WriteFile(file, []byte("{}"), 0o600))
	b := onStandIn(t, func(c *apptainer.Config) { c.AuthFile = file })
	backendtest.Must(t, os.Chmod(file, 0o644))
	r := newRegistry(t, ofRegistry(t))
	if _, err := b.Resolve(t.Context(), r.name); !errors.Is(err, backends.ErrUnavailable) ||
		!strings.Contains(err.Error(), "auth_file: others may use "+file) || r.asked.Load() > 0 {
		t.Errorf("of a file that everybody may read it says %v, and asked %d times", err, r.asked.Load())
	}
	backendtest.Must(t, os.Chmod(file, 0o600))
	pulls(t, b, r)
}
