package enforcer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// usualHold is how long a connection waits for people if nothing else is said. Programs wait
// for a connection about as long; one that is answered later finds the grant when the request
// is sent again.
const usualHold = 60 * time.Second

// Hold sets how long a connection waits for people.
func (e *Enforcer) Hold(connection time.Duration) { e.patience.Store(int64(connection)) }

// longestHold is how long one waits now.
func (e *Enforcer) longestHold() time.Duration {
	return cmp.Or(time.Duration(e.patience.Load()), usualHold)
}

// questions are what people are asked about the connections of one request. It is safe for
// concurrent use.
type questions struct {
	enforcer *Enforcer
	claim    bailiff.Claim // of the request
	news     func(bailiff.Progress)

	asking sync.Mutex
	known  map[string]*question // by rules and matches
}

// questionsOf are those of a grant. Where the request began and which files it runs does not
// matter to them.
func (e *Enforcer) questionsOf(g grant) questions {
	claim := g.claim()
	claim.Request.Args.Workdir, claim.Files, claim.Unbound, claim.Plain = "", nil, nil, true
	claim.Call = nil // a connection is none of its words
	claim.Decision.Outcome, claim.Decision.Denials = bailiff.Ask, nil
	return questions{enforcer: e, claim: claim, news: g.news}
}

// question is one that people are asked, or have answered, for every connection that waits for it.
type question struct {
	done   chan struct{} // closed once the rest is set
	answer bailiff.Approval
	err    error
}

// hasEnded says whether people said yes for longer than once, until a time that is over, so that they are asked again.
func (o *question) hasEnded(now time.Time) bool {
	select {
	case <-o.done:
		a := o.answer
		return a.State == bailiff.ApprovalApproved && a.Scope != bailiff.ScopeOnce && !a.ExpiresAt.IsZero() && !now.Before(a.ExpiresAt)
	default:
		return false
	}
}

// Ask implements [bailiff.ConnectionHearer].
func (q *questions) Ask(ctx context.Context, terms bailiff.ApprovalTerms) (bailiff.Approval, error) {
	key := keyOf(terms)
	q.asking.Lock()
	one := q.known[key]
	if one != nil && !one.hasEnded(time.Now()) {
		q.asking.Unlock()
		select {
		case <-one.done:
			return one.answer, one.err
		case <-ctx.Done():
			return bailiff.Approval{}, ctx.Err()
		}
	}
	one = &question{done: make(chan struct{})}
	if q.known == nil {
		q.known = map[string]*question{}
	}
	q.known[key] = one
	q.asking.Unlock()
	defer close(one.done)
	one.answer, one.err = q.put(ctx, terms)
	if one.err != nil || one.answer.State == bailiff.ApprovalPending {
		q.asking.Lock()
		delete(q.known, key) // the next connection asks again
		q.asking.Unlock()
	}
	return one.answer, one.err
}

func keyOf(terms bailiff.ApprovalTerms) string {
	var key strings.Builder
	for _, r := range terms.Reasons {
		fmt.Fprintf(&key, "%q %q\n", r.Rule, r.Match)
	}
	return key.String()
}

// put uses a grant, or asks and waits for one. What was denied before is not asked again.
func (q *questions) put(ctx context.Context, terms bailiff.ApprovalTerms) (bailiff.Approval, error) {
	claim := q.claim
	claim.Decision.Approval = &terms
	if granted, ok, err := q.enforcer.config.Approvals.Redeem(ctx, claim); err != nil || ok {
		return granted, err
	}
	if denied, known := q.enforcer.refusals.Recall(claim.Request, keyOf(terms)); known {
		return denied, nil
	}
	hold := q.enforcer.longestHold()
	claim.HeldUntil = time.Now().Add(hold)
	named := claim.Request.Digest() + keyOf(terms)
	if err := q.enforcer.config.Budgets.Ask(q.enforcer.asker(claim.Request), claim.Decision, named); err != nil {
		return bailiff.Approval{}, err
	}
	asked, err := q.enforcer.config.Approvals.Ask(ctx, claim)
	if err != nil {
		return bailiff.Approval{}, err
	}
	q.news(bailiff.Progress{Approval: &asked})
	if asked.State == bailiff.ApprovalPending {
		asked = q.enforcer.await(ctx, q.claim.Request, asked, hold)
		if asked.State != bailiff.ApprovalPending {
			q.news(bailiff.Progress{Approval: &asked})
		}
	}
	if asked.State == bailiff.ApprovalDenied {
		q.enforcer.refusals.Remember(claim.Request, keyOf(terms), terms, asked)
	}
	if asked.State != bailiff.ApprovalApproved {
		return asked, nil
	}
	granted, ok, err := q.enforcer.config.Approvals.Redeem(ctx, claim)
	if err == nil && !ok {
		err = errors.New("the approval was used by another request, or taken back")
	}
	return granted, err
}
