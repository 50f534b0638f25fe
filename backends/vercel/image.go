package vercel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// images remembers what names stand for. Who asks Vercel pays for a machine, if
// only for a moment.
type images struct {
	mu    sync.Mutex
	known map[string]pin
}

type pin struct {
	image string
	until time.Time
}

const (
	pinTime  = time.Hour
	mostPins = 1000
	// trialTime is after when a machine ends by itself that was to tell its image.
	trialTime = time.Minute
)

// Resolve says what image a name stands for. Vercel tells that of a machine only, so
// a small one is made for it that runs nothing.
func (b *Backend) Resolve(ctx context.Context, image string) (string, error) {
	if image == "" {
		image = b.cfg.Image
	}
	if strings.Contains(image, atDigest) {
		return image, nil
	}
	b.images.mu.Lock() // who wants the same waits for the answer
	defer b.images.mu.Unlock()
	if p, ok := b.images.known[image]; ok && time.Now().Before(p.until) {
		return p.image, nil
	}
	pinned, err := b.try(ctx, image)
	if err != nil {
		return "", err
	}
	if b.images.known == nil || len(b.images.known) >= mostPins {
		b.images.known = map[string]pin{}
	}
	b.images.known[image] = pin{pinned, time.Now().Add(pinTime)}
	return pinned, nil
}

// try makes a machine of the image and returns what it is really of.
func (b *Backend) try(ctx context.Context, image string) (string, error) {
	backends.Step(ctx, "asking Vercel which image %s is now", image)
	name, done := b.newName(trials)
	defer done()
	defer b.discard(ctx, name)
	m, err := b.api.create(ctx, b.order(name, backends.Spec{Network: "none", CPUs: 1, Image: image}, trialTime, ""))
	if err != nil {
		return "", unavailable("asking Vercel which image "+image+" is", err)
	}
	if !strings.Contains(m.Sandbox.Image, atDigest) {
		return "", fmt.Errorf("%w: Vercel does not tell which image %s is; name it by its digest, as in name%s…", backends.ErrUnavailable, image, atDigest)
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
