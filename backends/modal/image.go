package modal

import (
	"cmp"
	"context"
	"time"

	modal "github.com/modal-labs/modal-client/go"

	"github.com/bailiff-dev/bailiff/backends"
)

// buildWithin is how long Modal may take to bring an image.
const buildWithin = 15 * time.Minute

// Resolve has Modal bring the image and returns Modal's id for it, which stands for
// the same files as long as Modal has them.
func (b *Backend) Resolve(ctx context.Context, image string) (string, error) {
	if err := b.check(backends.Spec{Network: "none", Image: image}); err != nil {
		return "", err
	}
	a, err := b.use()
	if err != nil {
		return "", err
	}
	defer b.leave(a)
	app, err := b.app(ctx, a)
	if err != nil {
		return "", err
	}
	found, err := b.bring(ctx, a, app, image)
	if err != nil {
		return "", err
	}
	return found.ImageID, nil
}

func (b *Backend) imageOf(name string) string { return cmp.Or(name, b.cfg.Image) }

// bring returns an image that Modal has, or has it bring the image from its registry.
func (b *Backend) bring(ctx context.Context, a *account, app *modal.App, name string) (*modal.Image, error) {
	name = b.imageOf(name)
	if isImageID(name) {
		return &modal.Image{ImageID: name}, nil
	}
	backends.Step(ctx, "having Modal bring image %s", name)
	ctx, cancel := context.WithTimeout(ctx, buildWithin)
	defer cancel()
	found, err := a.Images.FromRegistry(name, nil).Build(ctx, app, nil)
	if err != nil {
		return nil, a.fault(ctx, "having Modal bring image "+name, err)
	}
	return found, nil
}
