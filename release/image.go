package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// inImage are the programs of the image: the Dockerfile's.
var inImage = []string{"bailiff", "bailiff-host", "bailiff-runner"}

// image makes the container image, in the form that docker load, podman load and
// skopeo take. It needs no engine and no registry: its one layer has the programs, no
// shell and nothing else, and it runs as an ordinary user.
func (r *release) image(arch string) error {
	layer, err := r.layer(arch)
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	settings, err := r.settings(arch, image)
	if err != nil {
		return err
	}
	if image, err = mutate.ConfigFile(image, settings); err != nil {
		return err
	}
	tag, err := name.NewTag("bailiff:" + r.version)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := tarball.Write(tag, image, &out); err != nil {
		return err
	}
	return write(r.name(arch, "image.tar"), out.Bytes())
}

// layer is the image's one layer.
func (r *release) layer(arch string) (v1.Layer, error) {
	var all []file
	for _, name := range inImage {
		text, err := os.ReadFile(filepath.Join(r.programs(arch), name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{"usr/local/bin/" + name, 0o755, text})
	}
	text, err := r.archive(all)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
}

// settings are the image's: those of the Dockerfile.
func (r *release) settings(arch string, image v1.Image) (*v1.ConfigFile, error) {
	known, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	settings := known.DeepCopy()
	settings.OS, settings.Architecture, settings.Created = "linux", arch, v1.Time{Time: r.date}
	settings.Config = v1.Config{
		User: "10001:10001", Entrypoint: []string{"/usr/local/bin/bailiff"},
		Cmd: []string{"serve", "--config", "/etc/bailiff/bailiff.yaml"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "bailiff", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/bailiff-dev/bailiff",
		},
	}
	return settings, nil
}
