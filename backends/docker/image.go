package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/pkg/jsonmessage"
)

// Resolve returns the digest that the image's registry knows it by, or the
// engine's id of it when no registry does. An empty name is the configured image.
func (b *Backend) Resolve(ctx context.Context, name string) (string, error) {
	found, err := b.bring(ctx, name)
	if err != nil {
		return "", err
	}
	return fixed(b.named(name), found), nil
}

func (b *Backend) named(name string) string {
	if name == "" {
		return b.cfg.Image
	}
	return name
}

// bring returns the image as the engine has it, pulling it when it is missing.
func (b *Backend) bring(ctx context.Context, name string) (image.InspectResponse, error) {
	name = b.named(name)
	if name == "" {
		return image.InspectResponse{}, fmt.Errorf("%w: no image is named: set it in the policies or as backends.docker.image", backends.ErrUnavailable)
	}
	found, err := b.engine.ImageInspect(ctx, name)
	if !errdefs.IsNotFound(err) {
		return found, b.inspected(name, err)
	}
	if err := b.pull(ctx, name); err != nil {
		return found, err
	}
	found, err = b.engine.ImageInspect(ctx, name)
	return found, b.inspected(name, err)
}

func (b *Backend) inspected(name string, err error) error {
	if err == nil {
		return nil
	}
	return b.fault(fmt.Sprintf("looking for image %s", name), err)
}

// obtainable is nil if the engine has the image or its registry says it would give it.
func (b *Backend) obtainable(ctx context.Context, name string) error {
	_, err := b.engine.ImageInspect(ctx, name)
	if !errdefs.IsNotFound(err) {
		return b.inspected(name, err)
	}
	if isID(name) {
		return absent(name)
	}
	if _, err := b.engine.DistributionInspect(ctx, name, ""); err != nil {
		return b.fault(fmt.Sprintf("image %s is not on the Docker engine and cannot be pulled", name), err)
	}
	return nil
}

func (b *Backend) pull(ctx context.Context, name string) error {
	if isID(name) {
		return absent(name)
	}
	b.cfg.Log.Info("pulling image", "image", name)
	stream, err := b.engine.ImagePull(ctx, name, image.PullOptions{})
	if err == nil {
		err = b.follow(name, stream)
	}
	if err != nil {
		return b.fault(fmt.Sprintf("image %s is not on the Docker engine and cannot be pulled", name), err)
	}
	b.cfg.Log.Info("pulled image", "image", name)
	return nil
}

// follow logs the progress of a pull, once for each layer and state.
func (b *Backend) follow(name string, stream io.ReadCloser) error {
	defer stream.Close()
	last := map[string]string{}
	for news := json.NewDecoder(stream); ; {
		var m jsonmessage.JSONMessage
		if err := news.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if m.Error != nil {
			return m.Error
		}
		if last[m.ID] != m.Status {
			last[m.ID] = m.Status
			b.cfg.Log.Info("pulling image", "image", name, "part", m.ID, "state", m.Status)
		}
	}
}

func isID(name string) bool { return strings.HasPrefix(name, "sha256:") }

func absent(id string) error {
	return fmt.Errorf("%w: image %s is not on the Docker engine and an id cannot be pulled: name the image by its tag or digest",
		backends.ErrUnavailable, id)
}

// fixed returns a reference to the image that cannot come to mean another. The
// digest is used only under the name that was asked for: under another name it
// could later be pulled from somewhere nobody chose.
func fixed(name string, found image.InspectResponse) string {
	asked, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return found.ID
	}
	for _, digest := range found.RepoDigests {
		known, err := reference.ParseNormalizedNamed(digest)
		if err == nil && known.Name() == asked.Name() {
			return digest
		}
	}
	return found.ID
}
