package discord

import (
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// rateLimiter delays calls for as long as Discord asked for: an account that calls too early
// too often is refused for hours.
type rateLimiter struct {
	mu     sync.Mutex
	limits map[string]*rateLimit // by limitKey
}

type rateLimit struct {
	until time.Time
	// refused counts the calls that were delayed meanwhile.
	refused int
}

const (
	// everything is the key of the limit of 50 requests a second for all calls. Calls that it
	// delayed are tried one after the other, staggerStep apart.
	everything  = ""
	staggerStep = 25 * time.Millisecond
	// maxLimits are kept before those that are over are removed.
	maxLimits = 1000
)

// tooManyRequests is Discord's answer 429.
type tooManyRequests struct {
	after time.Duration
	all   bool
}

func (*tooManyRequests) Error() string { return "Discord asks to wait" }

// limitKey is the key of a call's own limit: method and channel, or method and path.
func limitKey(method, path string) string {
	if parts := strings.SplitN(path, "/", 4); parts[1] == "channels" && len(parts) > 2 {
		path = parts[2]
	}
	return method + " " + path
}

// isInteraction says that a call answers an interaction, which Discord limits apart.
func isInteraction(subject string) bool {
	_, path, _ := strings.Cut(subject, " ")
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/")
}

// check says how long a call must wait; nil means not at all.
func (g *rateLimiter) check(subject string) *chat.Busy {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range []string{everything, subject} {
		c := g.limits[s]
		if c == nil || s == everything && isInteraction(subject) {
			continue
		}
		if wait := time.Until(c.until); wait > 0 {
			return &chat.Busy{After: wait + c.stagger(s)}
		}
		delete(g.limits, s)
	}
	return nil
}

// limit records Discord's answer 429.
func (g *rateLimiter) limit(subject string, l *tooManyRequests) *chat.Busy {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.all {
		subject = everything
	}
	c := g.limits[subject]
	if c == nil {
		g.sweep()
		c = &rateLimit{}
		g.limits[subject] = c
	}
	if until := time.Now().Add(l.after); until.After(c.until) {
		c.until = until
	}
	return &chat.Busy{After: l.after + c.stagger(subject)}
}

// stagger is how much later the next delayed call is tried.
func (c *rateLimit) stagger(subject string) time.Duration {
	if subject != everything {
		return 0
	}
	c.refused++
	return time.Duration(c.refused-1) * staggerStep
}

func (g *rateLimiter) sweep() {
	if g.limits == nil {
		g.limits = map[string]*rateLimit{}
	}
	if len(g.limits) < maxLimits {
		return
	}
	for s, c := range g.limits {
		if time.Now().After(c.until) {
			delete(g.limits, s)
		}
	}
}
