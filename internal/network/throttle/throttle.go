// Package throttle keeps one listener, session or user from taking the judge,
// the people and the log for themselves: it bounds how many requests each may
// bring in a minute.
//
// Where several sidecars serve one listener's agents, each keeps to an equal part of its share and of each user's
// ([Throttle.Divide]); a session is served by one of them, and has its share whole.
//
// A name that was not used for a while is forgotten, so that a caller who makes
// up sessions fills no memory; the bound of the listener still holds them all.
package throttle

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Shares are how many requests a minute each may bring; zero means any number.
type Shares struct{ Caller, Session, User int }

// Parts are how many sidecars have a share together, each an equal part of it.
type Parts struct{ Caller, User int }

// Observer is told which bound kept a request out: "caller", "session" or "user".
type Observer interface{ Limited(by string) }

// maxKnown is how many buckets are known at least.
const maxKnown = 10_000

// Throttle bounds requests. It may be used concurrently.
type Throttle struct {
	observer Observer

	mu      sync.Mutex
	shares  Shares
	parts   Parts
	buckets *recent.Map[string, *rate.Limiter]
}

// New returns a throttle that tells the observer what it keeps out.
func New(s Shares, o Observer) *Throttle {
	t := &Throttle{observer: o, parts: Parts{1, 1}}
	t.Set(s)
	return t
}

// Set replaces the bounds and begins to count anew.
func (t *Throttle) Set(s Shares) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shares, t.buckets = s, recent.New[string, *rate.Limiter](maxKnown)
}

// Divide sets how many have each share together, this one always among them. What has been counted stays counted.
func (t *Throttle) Divide(among Parts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts = Parts{max(1, among.Caller), max(1, among.User)}
}

// Admit counts a request, or says in one sentence why it comes too soon. One
// that is kept out takes nothing from any share.
func (t *Throttle) Admit(req bailiff.Request) error { return t.admit(req, time.Now()) }

func (t *Throttle) admit(req bailiff.Request, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	session := req.Session
	var taken []*rate.Reservation
	for _, share := range []struct {
		name, id     string
		perMin, part int
	}{
		{"caller", req.Caller, t.shares.Caller, t.parts.Caller},
		{"session", req.Caller + "\x00" + session.ID, t.shares.Session, 1},
		{"user", req.Caller + "\x00" + session.Platform + "\x00" + session.UserID, t.shares.User, t.parts.User},
	} {
		if share.perMin == 0 {
			continue
		}
		r := t.bucket(share.name+"\x00"+share.id, max(1, share.perMin/share.part), now).ReserveN(now, 1)
		taken = append(taken, r)
		if wait := r.DelayFrom(now); wait > 0 {
			for _, r := range taken {
				r.CancelAt(now)
			}
			t.observer.Limited(share.name)
			among := ""
			if share.part > 1 {
				among = fmt.Sprintf(" at %d sidecars together", share.part)
			}
			return fmt.Errorf("this %s brings more than the %d requests a minute that limits.requests_per_minute allows it%s; try again "+
				"in %.0f seconds",
				share.name, share.perMin, among, math.Ceil(wait.Seconds()))
		}
	}
	return nil
}

// bucket is called with the lock held.
func (t *Throttle) bucket(key string, perMinute int, now time.Time) *rate.Limiter {
	b, known := t.buckets.Get(key)
	if known && b.Burst() != perMinute {
		b.SetLimitAt(now, rate.Limit(float64(perMinute)/60))
		b.SetBurstAt(now, perMinute)
	}
	if !known {
		b = rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)
		t.buckets.Put(key, b)
	}
	return b
}
