package vercel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// trialTime is after when a machine ends by itself that was to tell its image.
const trialTime = time.Minute

var _ backends.Lasting = (*Backend)(nil)

// Lasts is for how long an image is believed: who asks Vercel pays for a machine, if
// only for a moment.
func (b *Backend) Lasts() time.Duration { return time.Hour }

// Resolve says what image a name stands for. Vercel tells that of a machine only, so
// a small one is made for it that runs nothing.
func (b *Backend) Resolve(ctx context.Context, image string) (string, error) {
	if image == "" {
		image = b.cfg.Image
	}
	if strings.Contains(image, atDigest) {
		return image, nil
	}
	return b.try(ctx, image)
}

// try makes a machine of the image and returns what it is really of.
func (b *Backend) try(ctx context.Context, image string) (string, error) {
	backends.Step(ctx, "asking Vercel which image %s is now", image)
	name, done := b.opening.Name(trials)
	defer done()
	defer b.discard(ctx, name)
	m, err := b.api.create(ctx, b.order(name, backends.Spec{Network: "none", CPUs: 1, Image: image}, trialTime, ""))
	if err != nil {
		return "", unavailable("asking Vercel which image "+image+" is", err)
	}
	if !strings.Contains(m.Sandbox.Image, atDigest) {
		return "", fmt.Errorf("%w: Vercel does not tell which image %s is; name it by its digest, as in name%s…", backends.ErrUnavailable,
			image, atDigest)
	}
	return m.Sandbox.Image, nil
}

const atDigest = "@sha256:"

// sameImage wants a machine to be of the image that was named by its digest.
func sameImage(want, got string) error {
	_, wanted, pinned := strings.Cut(want, atDigest)
	if _, given, _ := strings.Cut(got, atDigest); pinned && given != wanted {
		return fmt.Errorf("%w: image: Vercel made a machine of %q, asked for %q", backends.ErrUnsupported, got, want)
	}
	return nil
}
