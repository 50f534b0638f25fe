package chat

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
)

// nameLength bounds what a person's name may hold of a message, or of a request.
const nameLength = 64

// name is what somebody is called, for display.
func name(p Person) string { return termsafe.Brief(cmp.Or(p.Name, p.ID), nameLength) }

// request is what a command asks of the sidecar.
func (s *Sessions) request(o *session, r *run) bailiff.Request {
	return bailiff.Request{
		ID:   s.requestID(r.said.Ref),
		Tool: r.what.tool, Args: r.what.args(),
		Session: bailiff.Session{ID: o.id, Platform: s.config.Platform, ChatType: r.kind, ChatID: r.at.Chat, ThreadID: r.at.Thread,
			UserID: r.said.By.ID, UserName: termsafe.Brief(r.said.By.Name, nameLength)},
		Env: s.config.Env, WaitSeconds: wait, Peer: bailiff.Account(s.config.Platform, r.said.By.ID),
	}
}

// longestID is how long a request's id may be.
const longestID = 128

// requestID is the same whenever a message is delivered, so that the sidecar runs it
// once, too.
func (s *Sessions) requestID(of Ref) string {
	if id := s.config.Platform + ":" + of.Chat + ":" + of.Message; len(id) <= longestID {
		return id
	}
	return s.config.Platform + ":" + mark(of.Chat, of.Message)
}

// run runs a command and shows what came of it.
func (s *Sessions) run(ctx context.Context, o *session, r *run) {
	n := &bulletin{show: s.display(r)}
	answer, err := s.config.Sidecar.Execute(ctx, s.request(o, r), gateway.News{
		Approval: func(a gateway.Approval) { s.waits(r, n, a) },
		Step:     func(step string) { s.doing(r, step) },
	})
	why := s.whyStopped(ctx, o)
	s.note(o, r, answer)
	n.end(why)
	if err != nil {
		answer.Status = bailiff.Refused
	}
	s.count(answer.Status)
	s.post(r, outcome(r, answer, err, why))
}

// note remembers that a command has been answered, and by whom.
func (s *Sessions) note(o *session, r *run, a gateway.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.over, r.waits = true, nil
	if a.Backend != "" {
		s.last.Put(o.id, answered{a.Backend, a.SandboxID, time.Now()})
	}
}

// doing notes what is being done for a command.
func (s *Sessions) doing(r *run, step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.step = step
}

// waits notes and shows for what a command waits, or that it does no more.
func (s *Sessions) waits(r *run, n *bulletin, a gateway.Approval) {
	s.mu.Lock()
	r.waits, r.late = nil, true // the bulletin stands between the command and its answer
	if a.State == bailiff.ApprovalPending {
		r.waits = &a
	}
	s.mu.Unlock()
	n.tell(a)
}

// display shows what a command waits for: first in a message of its own, from then on in
// the place of that.
func (s *Sessions) display(r *run) func(Message) {
	var shown *Ref
	return func(m Message) {
		defer s.survive(func() {})
		ctx, cancel := s.speaking(asidePatience)
		defer cancel()
		err := persist(ctx, nil, func(ctx context.Context) error {
			if shown != nil {
				return s.config.Surface.Edit(ctx, *shown, m)
			}
			at, err := s.config.Surface.Post(ctx, r.at, m, mark("approval", r.at.Chat, r.said.Message))
			if err == nil {
				shown = &at
			}
			return err
		})
		if !errors.Is(err, ErrGone) { // who removed it does not want to see it
			s.unsaid(r.at.Chat, err)
		}
	}
}

// bulletin is a message that follows what a command waits for. Nobody waits for it to be
// shown, and what is outdated by then is not.
type bulletin struct {
	show func(Message)

	mu     sync.Mutex
	latest *gateway.Approval
	due    bool // latest is not shown yet
	showed sync.WaitGroup
	busy   bool
}

// tell has the bulletin say how an approval stands.
func (n *bulletin) tell(a gateway.Approval) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.latest, n.due = &a, true
	if !n.busy {
		n.busy = true
		n.showed.Go(n.follow)
	}
}

// follow shows the latest until that is shown.
func (n *bulletin) follow() {
	for {
		n.mu.Lock()
		if n.busy = n.due; !n.due {
			n.mu.Unlock()
			return
		}
		a := *n.latest
		n.due = false
		n.mu.Unlock()
		n.show(Message{Text: standing(a)})
	}
}

// end returns when the latest is shown. An approval for which the command waited until
// it was stopped is still pending, and nobody waits for it.
func (n *bulletin) end(why string) {
	n.mu.Lock()
	latest := n.latest
	n.mu.Unlock()
	if latest != nil && latest.State == bailiff.ApprovalPending && why != "" {
		n.tell(gateway.Approval{ID: latest.ID, Message: why})
	}
	n.showed.Wait()
}
