package docker

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestResolvingImages(t *testing.T) {
	b := imagesOnly(t)
	local, err := b.Resolve(t.Context(), testImage)
	if err != nil || !isID(local) {
		t.Fatalf("an image of no registry resolves to %q, %v; want the engine's id of it", local, err)
	}
	for _, name := range []string{"", local} {
		if got, err := b.Resolve(t.Context(), name); got != local || err != nil {
			t.Errorf("%q resolves to %q, %v; want %q", name, got, err, local)
		}
	}
}

func TestAMissingImageIsPulledWithProgress(t *testing.T) {
	registry := startRegistry(t)
	var log strings.Builder
	b := imagesOnly(t)
	b.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	t.Cleanup(func() { b.engine.ImageRemove(context.Background(), registry.image, image.RemoveOptions{Force: true}) })

	var steps []string
	ctx := backends.WithSteps(t.Context(), func(what string) { steps = append(steps, what) })
	got, err := b.Resolve(ctx, registry.image)
	want := strings.TrimSuffix(registry.image, ":1") + "@" + registry.digest
	if err != nil || got != want {
		t.Fatalf("%s resolves to %q, %v; want %q", registry.image, got, err, want)
	}
	if again, err := b.Resolve(t.Context(), got); again != want || err != nil {
		t.Errorf("the digest resolves to %q, %v; want itself", again, err)
	}
	if want := []string{"pulling image " + registry.image,
		"pulling image " + registry.image + ": 1 of 1 parts are here"}; !slices.Equal(steps, want) {
		t.Errorf("who waits is told %q, want %q", steps, want)
	}
	for _, progress := range []string{"Pulling fs layer", "Pull complete", "msg=\"pulled image\""} {
		if !strings.Contains(log.String(), progress) {
			t.Errorf("the log lacks %q:\n%s", progress, log.String())
		}
	}
}

func TestAnImageThatCannotBeHadIsOneClearSentence(t *testing.T) {
	registry := startRegistry(t)
	absent := "sha256:" + strings.Repeat("0", 64)
	for _, c := range []struct{ name, image, says string }{
		{"a tag that its registry lacks", strings.TrimSuffix(registry.image, ":1") + ":2", "cannot be pulled"},
		{"an id that the engine lacks", absent, "an id cannot be pulled"},
		{"no name at all", "", "no image is named"},
		{"a name that is none", "UPPER CASE", "UPPER CASE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := imagesOnly(t)
			b.cfg.Image = ""
			_, err := b.Resolve(t.Context(), c.image)
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Resolve says %v, want one sentence with %q", err, c.says)
			}
			if c.image == "" {
				return
			}
			b.cfg.Image = c.image
			if err := b.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), c.image) {
				t.Errorf("Ready says %v, want it to name %s", err, c.image)
			}
		})
	}
}

// imagesOnly is a backend that is never asked for a sandbox.
func imagesOnly(t *testing.T) *Backend {
	t.Helper()
	testEngine(t)
	b, err := New(Config{Image: testImage, Runner: "docker.go", Log: slog.New(slog.DiscardHandler)})
	backendtest.Must(t, err)
	return b
}

// registry serves one image of one empty layer on the loopback interface.
type registry struct{ image, digest string }

func startRegistry(t *testing.T) registry {
	t.Helper()
	layer := emptyLayer(t)
	config := encode(t, map[string]any{"architecture": "amd64", "os": "linux",
		"config": map[string]any{}, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{sum(layer)}}})
	const schema = "application/vnd.docker.distribution.manifest.v2+json"
	manifest := encode(t, map[string]any{"schemaVersion": 2, "mediaType": schema,
		"config": map[string]any{"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config), "digest": sum(config)},
		"layers": []any{map[string]any{"mediaType": "application/vnd.docker.image.rootfs.diff.tar", "size": len(layer),
			"digest": sum(layer)}}})

	routes := http.NewServeMux()
	blob := func(path, kind string, content []byte) {
		routes.HandleFunc("GET /v2/"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", sum(content))
			w.Write(content)
		})
	}
	blob("{$}", "application/json", []byte("{}"))
	blob("thing/manifests/1", schema, manifest)
	blob("thing/manifests/"+sum(manifest), schema, manifest)
	blob("thing/blobs/"+sum(config), "application/octet-stream", config)
	blob("thing/blobs/"+sum(layer), "application/octet-stream", layer)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return registry{server.Listener.Addr().String() + "/thing:1", sum(manifest)}
}

func emptyLayer(t *testing.T) []byte {
	t.Helper()
	archive, err := pack(tar.Header{Typeflag: tar.TypeDir, Name: rand.Text() + "/", Mode: 0o755}, nil)
	backendtest.Must(t, err)
	return archive.Bytes()
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	backendtest.Must(t, err)
	return text
}

func sum(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
