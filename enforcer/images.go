package enforcer

import (
	"context"
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

// pinTime is how long a name's meaning is believed without asking again. While the
// backend is not ready nobody can be asked, and nothing new can be made: then what it
// meant last finds the sandbox that is there.
const pinTime = time.Minute

// maxPins bounds how many names are remembered.
const maxPins = 1000

// pinImage replaces the image's name in a decision that may run by one that
// cannot come to mean another image, so that what is approved is what runs.
func (e *Enforcer) pinImage(ctx context.Context, d *bailiff.Decision) error {
	resolver, ok := e.Backends[d.Backend.Name].(backends.Resolver)
	if d.Outcome == bailiff.Deny || !ok {
		return nil
	}
	key := d.Backend.Name + " " + d.Backend.Image
	if image, ok := e.images.known(key, e.readiness.fault(d.Backend.Name) != nil); ok {
		d.Backend.Image = image
		return nil
	}
	if err := e.readiness.admit(d.Backend.Name, "image "+d.Backend.Image); err != nil {
		return err
	}
	image, err := resolver.Resolve(ctx, d.Backend.Image)
	if err != nil {
		return err
	}
	e.images.learn(key, image)
	d.Backend.Image = image
	return nil
}

// known is what a name meant a moment ago, or at all.
func (i *images) known(key string, atAll bool) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, ok := i.pinned[key]
	return p.image, ok && (atAll || time.Now().Before(p.until))
}

func (i *images) learn(key, image string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pinned == nil || len(i.pinned) >= maxPins {
		i.pinned = map[string]pin{}
	}
	i.pinned[key] = pin{image, time.Now().Add(pinTime)}
}

// expire has what a backend's images mean asked anew.
func (i *images) expire(backend string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for key, p := range i.pinned {
		if strings.HasPrefix(key, backend+" ") {
			i.pinned[key] = pin{image: p.image}
		}
	}
}
