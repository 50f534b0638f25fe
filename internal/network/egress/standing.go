package egress

import (
	"context"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// standing are the tunnels that are left closed, and the WebSockets: no request on them comes
// to be judged by other policies. It is safe for concurrent use.
type standing struct {
	mu   sync.Mutex
	turn int // how often all of them were judged anew
	all  map[*stood]bool
}

// stood is one of them.
type stood struct {
	*destination
	allowed   []allowance
	webSocket bool
	cut       func()
}

// allowance is what was let through, with the question that people said yes to, if there was one.
type allowance struct {
	c     bailiff.Connection
	asked *bailiff.ApprovalTerms
}

func allowanceOf(c bailiff.Connection, v verdict) allowance {
	if v.approval == "" {
		return allowance{c, nil}
	}
	return allowance{c, v.Approval}
}

// began is the turn in which something is judged for the first time.
func (s *standing) began() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// add has one judged anew in the turns to come, and says whether one has come since it began.
// Leave takes it out.
func (s *standing) add(one *stood, began int) (leave func(), missed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[one] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, one)
	}, s.turn != began
}

// next begins another turn with all that there are.
func (s *standing) next() (all []*stood) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	for one := range s.all {
		all = append(all, one)
	}
	return all
}

// Rejudge asks the policies again about the tunnels that are left closed and the WebSockets,
// and cuts those that they let through no longer.
func (p *Proxy) Rejudge(ctx context.Context) {
	for _, one := range p.standing.next() {
		one.rejudge(ctx)
	}
}

// stand has a tunnel or a WebSocket judged again by policies that come later, until it leaves.
func (p *Proxy) stand(ctx context.Context, one *stood, began int) (leave func()) {
	leave, missed := p.standing.add(one, began)
	if missed {
		one.rejudge(ctx)
	}
	return leave
}

func (s *stood) rejudge(ctx context.Context) {
	for _, one := range s.allowed {
		if no := s.refusal(ctx, one); no != nil {
			s.proxy.recordRefusal(ctx, one.c, no)
			s.cut()
			return
		}
	}
}

// refusal is why something may not stay open by the policies in force now.
func (s *stood) refusal(ctx context.Context, was allowance) *refusal {
	c := was.c
	c.Time = time.Now()
	now := s.proxy.config.Judge.Connection(ctx, c)
	no := s.refusalNow(c, now)
	switch {
	case now.Outcome == bailiff.Deny:
		no = told(c, now.Denials)
	case now.Outcome == bailiff.Ask && (was.asked == nil || !sameQuestion(*now.Approval, *was.asked)):
		no = told(c, now.Approval.Reasons)
	}
	if err := s.check(now.Private); no == nil && err != nil {
		no = failure(c, err)
	}
	if no != nil {
		no.judged = &now
	}
	return no
}

// refusalNow is a refusal where policies that let a connection through want it otherwise than it is.
func (s *stood) refusalNow(c bailiff.Connection, now bailiff.ConnectionJudgement) *refusal {
	switch {
	case s.webSocket:
		return webSocketRefusal(c, now)
	case c.Protocol == "https" && now.Intercept:
		return refuse(c, ruleRequest, "The policies want each request to this host judged now.", "Connect again.")
	}
	return nil
}
