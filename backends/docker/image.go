package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/pkg/jsonmessage"

	"github.com/bailiff-dev/bailiff/backends"
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
		return image.InspectResponse{}, fmt.Errorf("%w: no image is named: set it in the policies or as backends.docker.image",
			backends.ErrUnavailable)
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
	b.cfg.Log.InfoContext(ctx, "pulling image", "image", name)
	stream, err := b.engine.ImagePull(ctx, name, image.PullOptions{})
	if err == nil {
		err = b.follow(ctx, name, stream)
	}
	if err != nil {
		return b.fault(fmt.Sprintf("image %s is not on the Docker engine and cannot be pulled", name), err)
	}
	b.cfg.Log.InfoContext(ctx, "pulled image", "image", name)
	return nil
}

// follow tells the progress of a pull: in the log once for each layer and state, and
// once for each layer to a caller that waits.
func (b *Backend) follow(ctx context.Context, name string, stream io.ReadCloser) error {
	defer stream.Close()
	backends.Step(ctx, "pulling image %s", name)
	last, here := map[string]string{}, map[string]bool{}
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
		if last[m.ID] == m.Status {
			continue
		}
		last[m.ID] = m.Status
		b.cfg.Log.InfoContext(ctx, "pulling image", "image", name, "part", m.ID, "state", m.Status)
		if fetched[m.Status] && !here[m.ID] {
			here[m.ID] = true
			backends.Step(ctx, "pulling image %s: %d of %d parts are here", name, len(here), max(len(here), parts(last)))
		}
	}
}

// fetched are the states of a layer that the engine has.
var fetched = map[string]bool{"Download complete": true, "Pull complete": true, "Already exists": true}

// parts counts the layers among what an engine told of; it speaks of the image by its
// tag, and of all of it by no name.
func parts(last map[string]string) (n int) {
	for id, status := range last {
		if id != "" && !strings.HasPrefix(status, "Pulling from") {
			n++
		}
	}
	return n
}

func isID(name string) bool { return strings.HasPrefix(name, "sha256:") }

func absent(id string) error {
	return fmt.Errorf("%w: image %s is not on the Docker engine and an id cannot be pulled: name the image by its tag or digest",
		backends.ErrUnavailable, id)
}

// fixed returns a reference to the image that cannot come to mean another. The
// digest is used only under the name that was asked for: under another name it
// could later be pulled from a place that was not chosen.
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
