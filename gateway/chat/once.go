package chat

import (
	"errors"
	"sync"
	"time"
)

// Once remembers signed calls until they expire, so that each is taken once. It is bounded:
// one more than it can remember is not taken.
type Once struct {
	most int

	mu      sync.Mutex
	expires map[string]time.Time
	next    time.Time // when what has expired is forgotten
}

// The reasons for which a call is not taken.
var (
	ErrRepeated = errors.New("this call came before")
	ErrCrowded  = errors.New("too many calls came in the last minutes")
)

// NewOnce remembers at most so many calls.
func NewOnce(most int) *Once { return &Once{most: most, expires: map[string]time.Time{}} }

// Take takes a call by what is its own.
func (o *Once) Take(now, expires time.Time, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.After(o.next) || len(o.expires) >= o.most {
		o.forgetLocked(now)
	}
	switch until, again := o.expires[id]; {
	case again && !until.Before(now):
		return ErrRepeated
	case !again && len(o.expires) >= o.most:
		return ErrCrowded
	}
	o.expires[id] = expires
	return nil
}

func (o *Once) forgetLocked(now time.Time) {
	for id, until := range o.expires {
		if until.Before(now) {
			delete(o.expires, id)
		}
	}
	o.next = now.Add(time.Minute)
}
