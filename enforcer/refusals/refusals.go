// Package refusals remembers what people denied of connections, so that no person is asked about the same again for as long as a yes for
// the session would hold.
//
// Not here: how people are asked (enforcer), and grants (internal/approval).
package refusals

import (
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Bounds on the refusals that are remembered. What is beyond them is asked about again.
const (
	maxRefusing  = 4096 // sessions
	maxRefusals  = 256  // of a session
	refusedAtAll = time.Hour
)

// Refusals are by session. They may be used concurrently.
type Refusals struct {
	sessions *recent.Map[lease.Key, *ofSession]
}

// New remembers none yet.
func New() Refusals { return Refusals{recent.New[lease.Key, *ofSession](maxRefusing)} }

// ofSession are those of one session, by user and question.
type ofSession struct {
	mu  sync.Mutex
	all map[string]refusal
}

type refusal struct {
	answer bailiff.Approval
	until  time.Time
}

// Remember keeps a denial of what was asked about under a key.
func (r Refusals) Remember(req bailiff.Request, key string, terms bailiff.ApprovalTerms, answer bailiff.Approval) {
	of := r.sessions.GetOrPut(lease.KeyOf(req), func() *ofSession { return &ofSession{all: map[string]refusal{}} })
	lasting := time.Duration(terms.GrantSeconds) * time.Second
	if lasting == 0 {
		lasting = refusedAtAll
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if len(of.all) < maxRefusals {
		of.all[questionOf(req, key)] = refusal{answer, time.Now().Add(lasting)}
	}
}

// Recall is the denial of a question, if it was denied before.
func (r Refusals) Recall(req bailiff.Request, key string) (answer bailiff.Approval, known bool) {
	of, known := r.sessions.Get(lease.KeyOf(req))
	if !known {
		return answer, false
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	key = questionOf(req, key)
	no, known := of.all[key]
	if known && time.Now().After(no.until) {
		delete(of.all, key)
		return answer, false
	}
	return no.answer, known
}

// Forget drops those of a session that has ended.
func (r Refusals) Forget(caller, session string) {
	r.sessions.Take(lease.Key{Caller: caller, Session: session})
}

// questionOf is what a user was asked about.
func questionOf(req bailiff.Request, key string) string {
	return req.Session.Platform + "\x00" + req.Session.UserID + "\x00" + key
}
