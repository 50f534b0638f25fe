package discord

import (
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// gate keeps what Discord asked to wait from being asked sooner: whoever is refused too
// often it refuses for hours.
type gate struct {
	mu     sync.Mutex
	closed map[string]*closure // by what is limited; "" is everything
}

type closure struct {
	until time.Time
	// refused counts who was sent away meanwhile.
	refused int
}

const (
	// everything is limited to 50 requests a second. Those who were sent away come back
	// one after the other, each so much later than the one before.
	everything = ""
	inTurn     = 25 * time.Millisecond
	// mostClosures is how many are kept before those that are over are looked for.
	mostClosures = 1000
)

// limited is Discord's answer 429.
type limited struct {
	after time.Duration
	all   bool
}

func (*limited) Error() string { return "Discord asks to wait" }

// subject is what Discord limits by itself: a way of asking about a channel, or an address.
func subject(method, path string) string {
	if parts := strings.SplitN(path, "/", 4); parts[1] == "channels" && len(parts) > 2 {
		path = parts[2]
	}
	return method + " " + path
}

// isAnswer says that it is to somebody who clicks or chose a command, which Discord limits
// apart from everything else.
func isAnswer(subject string) bool {
	_, path, _ := strings.Cut(subject, " ")
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/")
}

// pass says how long to wait before something is asked; nil is not at all.
func (g *gate) pass(subject string) *chat.Busy {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range []string{everything, subject} {
		c := g.closed[s]
		if c == nil || s == everything && isAnswer(subject) {
			continue
		}
		if wait := time.Until(c.until); wait > 0 {
			return &chat.Busy{After: wait + c.turn(s)}
		}
		delete(g.closed, s)
	}
	return nil
}

// shut closes the gate for as long as Discord says.
func (g *gate) shut(subject string, l *limited) *chat.Busy {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.all {
		subject = everything
	}
	c := g.closed[subject]
	if c == nil {
		g.sweep()
		c = &closure{}
		g.closed[subject] = c
	}
	if until := time.Now().Add(l.after); until.After(c.until) {
		c.until = until
	}
	return &chat.Busy{After: l.after + c.turn(subject)}
}

// turn is how much later the next one comes back.
func (c *closure) turn(subject string) time.Duration {
	if subject != everything {
		return 0
	}
	c.refused++
	return time.Duration(c.refused-1) * inTurn
}

func (g *gate) sweep() {
	if g.closed == nil {
		g.closed = map[string]*closure{}
	}
	if len(g.closed) < mostClosures {
		return
	}
	for s, c := range g.closed {
		if time.Now().After(c.until) {
			delete(g.closed, s)
		}
	}
}
