package supply

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// images remembers what an image's name stood for a moment ago. Who wants to know the
// same at once shares one look for it, since that may bring the image first.
type images struct {
	looks sync.WaitGroup

	mu     sync.Mutex
	pinned map[string]pin
	looked map[string]*look
}

type pin struct {
	image string
	until time.Time
	// lasting says that its backend said how long it is to be believed.
	lasting bool
}

// look is one question to a backend. It goes on for as long as a request waits for it.
type look struct {
	steps   Progress
	stop    context.CancelFunc
	waiting int // guarded by images.mu
	done    chan struct{}
	image   string
	err     error
}

// pinTime is how long a name's meaning is believed without asking again, where its
// backend does not say how long. While that is not ready it cannot be asked, and
// nothing new can be made: then what it meant last finds the sandbox that is there.
const pinTime = time.Minute

// maxPins bounds how many names are remembered.
const maxPins = 1000

// Pin is what an image's name means now.
func (s *Supply) Pin(ctx context.Context, backend, image string) (string, error) {
	resolver, ok := s.ready.backends[backend].(backends.Resolver)
	if !ok {
		return image, nil
	}
	key := backend + " " + image
	if pinned, ok := s.images.known(key, s.ready.fault(backend) != nil); ok {
		return pinned, nil
	}
	if err := s.ready.admit(backend, "image "+image); err != nil {
		return "", err
	}
	return s.images.ask(ctx, key, resolver, image)
}

// ask waits for what a name means, for as long as ctx lasts.
func (i *images) ask(ctx context.Context, key string, resolver backends.Resolver, image string) (string, error) {
	l := i.join(key, resolver, image)
	defer i.leave(key, l)
	if err := l.steps.Follow(ctx, l.done); err != nil {
		return "", err
	}
	return l.image, l.err
}

// join has a backend asked, unless that is under way.
func (i *images) join(key string, resolver backends.Resolver, image string) *look {
	i.mu.Lock()
	defer i.mu.Unlock()
	l := i.looked[key]
	if l == nil {
		ctx, stop := context.WithCancel(context.Background())
		l = &look{stop: stop, done: make(chan struct{})}
		if i.looked == nil {
			i.looked = map[string]*look{}
		}
		i.looked[key] = l
		i.looks.Go(func() {
			defer close(l.done)
			if l.image, l.err = resolver.Resolve(backends.WithSteps(ctx, l.steps.Post), image); l.err == nil {
				i.learn(key, l.image, resolver)
			}
		})
	}
	l.waiting++
	return l
}

// leave ends a look that no request waits for any more.
func (i *images) leave(key string, l *look) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		l.stop()
		delete(i.looked, key)
	}
}

// known is what a name meant a moment ago, or at all.
func (i *images) known(key string, atAll bool) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p, ok := i.pinned[key]
	return p.image, ok && (atAll || time.Now().Before(p.until))
}

func (i *images) learn(key, image string, resolver backends.Resolver) {
	p := pin{image: image, until: time.Now().Add(pinTime)}
	if says, ok := resolver.(backends.Lasting); ok {
		p.until, p.lasting = time.Now().Add(says.Lasts()), true
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pinned == nil || len(i.pinned) >= maxPins {
		i.pinned = map[string]pin{}
	}
	i.pinned[key] = p
}

// expire has what a backend's images mean asked anew, unless that lasts.
func (i *images) expire(backend string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for key, p := range i.pinned {
		if strings.HasPrefix(key, backend+" ") && !p.lasting {
			i.pinned[key] = pin{image: p.image}
		}
	}
}
