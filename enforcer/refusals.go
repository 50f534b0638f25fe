package enforcer

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

// refusals are what people denied of connections, by session: no person is asked about the same
// again for as long as a yes for the session would hold. It is safe for concurrent use.
type refusals struct {
	sessions *recent.Map[lease.Key, *refusalsOf]
}

func newRefusals() refusals { return refusals{recent.New[lease.Key, *refusalsOf](maxRefusing)} }

// refusalsOf are those of one session, by user and question.
type refusalsOf struct {
	mu  sync.Mutex
	all map[string]refusal
}

type refusal struct {
	answer bailiff.Approval
	until  time.Time
}

// remember keeps a denial.
func (r refusals) remember(req bailiff.Request, terms bailiff.ApprovalTerms, answer bailiff.Approval) {
	of := r.sessions.GetOrPut(lease.KeyOf(req), func() *refusalsOf { return &refusalsOf{all: map[string]refusal{}} })
	lasting := time.Duration(terms.GrantSeconds) * time.Second
	if lasting == 0 {
		lasting = refusedAtAll
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if len(of.all) < maxRefusals {
		of.all[questionOf(req, terms)] = refusal{answer, time.Now().Add(lasting)}
	}
}

// recall is the denial of a question, if it was denied before.
func (r refusals) recall(req bailiff.Request, terms bailiff.ApprovalTerms) (answer bailiff.Approval, known bool) {
	of, known := r.sessions.Get(lease.KeyOf(req))
	if !known {
		return answer, false
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	key := questionOf(req, terms)
	no, known := of.all[key]
	if known && time.Now().After(no.until) {
		delete(of.all, key)
		return answer, false
	}
	return no.answer, known
}

// forget drops those of a session that has ended.
func (r refusals) forget(caller, session string) {
	r.sessions.Take(lease.Key{Caller: caller, Session: session})
}

// questionOf is what a user was asked about.
func questionOf(req bailiff.Request, terms bailiff.ApprovalTerms) string {
	return req.Session.Platform + "\x00" + req.Session.UserID + "\x00" + keyOf(terms)
}
