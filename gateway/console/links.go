package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// How long a link works, for how long it is known why it does not any more, and
// how many are known.
const (
	linkFor      = 5 * time.Minute
	linkKnownFor = time.Hour
	maxLinks     = 100
)

// hashed is a secret as it is kept. All have 256 random bits, so that a plain
// hash cannot be turned back, nor a table of them be searched by timing.
type hashed [sha256.Size]byte

func hash(secret string) hashed { return sha256.Sum256([]byte(secret)) }

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// badLink is why a link does not log in.
type badLink struct{ code, message string }

var (
	usedLink = &badLink{"link_used",
		"This link was used already; run \"bailiff console\" for a new one, and restart the sidecar if it was not you who used it, " +
			"which ends every login."}
	expiredLink = &badLink{"link_expired", "This link is older than five minutes; run \"bailiff console\" for a new one."}
	unknownLink = &badLink{"link_unknown",
		"This link was not made by this sidecar since it started; run \"bailiff console\" for a new one."}
)

// links are those that were given out lately.
type links struct {
	mu    sync.Mutex
	known map[hashed]*link
	order []hashed // as they were made
}

type link struct {
	who     bailiff.Approver
	expires time.Time
	used    bool
}

func (l *links) add(who bailiff.Approver, now time.Time) (token string, expires time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	if l.known == nil {
		l.known = map[hashed]*link{}
	}
	token, expires = newSecret(), now.Add(linkFor)
	l.known[hash(token)] = &link{who: who, expires: expires}
	l.order = append(l.order, hash(token))
	return token, expires
}

func (l *links) forget(now time.Time) {
	for len(l.order) > 0 {
		oldest := l.known[l.order[0]]
		if len(l.order) < maxLinks && now.Before(oldest.expires.Add(linkKnownFor)) {
			return
		}
		delete(l.known, l.order[0])
		l.order = l.order[1:]
	}
}

// redeem uses a link up, or says why that cannot be.
func (l *links) redeem(token string, now time.Time) (who bailiff.Approver, bad *badLink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	link := l.known[hash(token)]
	switch {
	case link == nil:
		return who, unknownLink
	case link.used:
		return who, usedLink
	case !now.Before(link.expires):
		return who, expiredLink
	}
	link.used = true
	return link.who, nil
}

// pace lets refusalsAtOnce through, then one every refusalEvery.
type pace struct {
	mu sync.Mutex
	// full is when all of them will be free again.
	full time.Time
}

// wait takes a place, or says how long it takes until there is one.
func (p *pace) wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full.Before(now) {
		p.full = now
	}
	if over := p.full.Add(refusalEvery).Sub(now) - refusalsAtOnce*refusalEvery; over > 0 {
		return over
	}
	p.full = p.full.Add(refusalEvery)
	return 0
}
