package enforcer

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// images remembers what an image's name stood for a moment ago.
type images struct {
	mu     sync.Mutex
	pinned map[string]pin
}

type pin struct {
	image string
	until time.Time
}

// pinTime is how long a name's meaning is believed without asking again.
const pinTime = time.Minute

// pinImage replaces the image's name in a decision that may run by one that
// cannot come to mean another image, so that what is approved is what runs.
func (e *Enforcer) pinImage(ctx context.Context, d *bailiff.Decision) error {
	resolver, ok := e.Backends[d.Backend.Name].(backends.Resolver)
	if d.Outcome == bailiff.Deny || !ok {
		return nil
	}
	key := d.Backend.Name + " " + d.Backend.Image
	if image, ok := e.images.known(key); ok {
		d.Backend.Image = image
		return nil
	}
	image, err := resolver.Resolve(ctx, d.Backend.Image)
	if err != nil {
		return err
	}
	e.images.learn(key, image)
	d.Backend.Image = image
	return nil
}

func (i *images) known(key string) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, ok := i.pinned[key]
	return p.image, ok && time.Now().Before(p.until)
}

func (i *images) learn(key, image string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pinned == nil {
		i.pinned = map[string]pin{}
	}
	i.pinned[key] = pin{image, time.Now().Add(pinTime)}
}

// forget drops what was known of a backend's images.
func (i *images) forget(backend string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.pinned, func(key string, _ pin) bool { return strings.HasPrefix(key, backend+" ") })
}
