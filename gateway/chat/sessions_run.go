package chat

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// nameLength is how much of a person's name is shown.
const nameLength = 64

// name is a person's name, for display.
func name(p Person) string { return termsafe.Brief(cmp.Or(p.Name, p.ID), nameLength) }

// request is the request that a command makes of the sidecar.
func (s *Sessions) request(o *session, r *run) bailiff.Request {
	return bailiff.Request{
		ID:   s.requestID(r.said.Ref),
		Tool: r.what.tool, Args: r.what.args(),
		Session: bailiff.Session{ID: o.id, Platform: s.config.Platform, ChatType: r.kind, ChatID: r.at.Chat, ThreadID: r.at.Thread,
			UserID: r.said.By.ID, UserName: termsafe.Brief(r.said.By.Name, nameLength)},
		Env: s.config.Env, WaitSeconds: approvalWaitSeconds, Peer: bailiff.Account(s.config.Platform, r.said.By.ID),
	}
}

// longestID is how long a request's id may be.
const longestID = 128

// requestID is the same whenever a message is delivered, so that the sidecar too runs it
// once only.
func (s *Sessions) requestID(of Ref) string {
	if id := s.config.Platform + ":" + of.Chat + ":" + of.Message; len(id) <= longestID {
		return id
	}
	return s.config.Platform + ":" + keyOf(of.Chat, of.Message)
}

// run runs a command and shows its answer.
func (s *Sessions) run(ctx context.Context, o *session, r *run) {
	n := &approvalMessage{show: s.display(r)}
	answer, err := s.config.Sidecar.Execute(ctx, s.request(o, r), gateway.News{
		Approval: func(a api.Approval) { s.setApproval(r, n, a) },
		Step:     func(step string) { s.setStep(r, step) },
	})
	why := s.whyStopped(ctx, o)
	s.recordAnswer(o, r, answer)
	n.end(why)
	if err != nil {
		answer.Status = bailiff.Refused
	}
	s.count(answer.Status)
	s.post(r, outcome(r, answer, err, why))
}

// recordAnswer remembers that a command has been answered, and by whom.
func (s *Sessions) recordAnswer(o *session, r *run, a api.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.over, r.waits = true, nil
	if a.Backend != "" {
		s.last.Put(o.id, answered{a.Backend, a.SandboxID, time.Now()})
	}
}

// setStep records the step that a command is at.
func (s *Sessions) setStep(r *run, step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.step = step
}

// setApproval records and shows the approval that a command waits for, or that it waits no
// more.
func (s *Sessions) setApproval(r *run, n *approvalMessage, a api.Approval) {
	s.mu.Lock()
	r.waits, r.late = nil, true // the approval's message stands between the command and its answer
	if a.State == bailiff.ApprovalPending {
		r.waits = &a
	}
	s.mu.Unlock()
	n.update(a)
}

// display returns a function that shows what a command waits for: first in a message of
// its own, then by edits of that message.
func (s *Sessions) display(r *run) func(Message) {
	var shown *Ref
	return func(m Message) {
		defer s.recoverPanic(func() {})
		ctx, cancel := s.sendContext(replyTimeout)
		defer cancel()
		err := retry(ctx, nil, func(ctx context.Context) error {
			if shown != nil {
				return s.config.Surface.Edit(ctx, *shown, m)
			}
			at, err := s.config.Surface.Post(ctx, r.at, m, keyOf("approval", r.at.Chat, r.said.Message))
			if err == nil {
				shown = &at
			}
			return err
		})
		if !errors.Is(err, ErrGone) { // the person who deleted it does not want to see it
			s.logUnsent(r.at.Chat, err)
		}
	}
}

// approvalMessage is the message about the approval that a command waits for. It is shown in
// the background, and only its latest state.
type approvalMessage struct {
	show func(Message)

	mu        sync.Mutex
	latest    *api.Approval
	stale     bool // latest is not shown yet
	following sync.WaitGroup
	busy      bool
}

// update makes the message show an approval's state.
func (n *approvalMessage) update(a api.Approval) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.latest, n.stale = &a, true
	if !n.busy {
		n.busy = true
		n.following.Go(n.follow)
	}
}

// follow shows the latest state until nothing newer came meanwhile.
func (n *approvalMessage) follow() {
	for {
		n.mu.Lock()
		if n.busy = n.stale; !n.stale {
			n.mu.Unlock()
			return
		}
		a := *n.latest
		n.stale = false
		n.mu.Unlock()
		n.show(Message{Text: standing(a)})
	}
}

// end returns when the latest state is shown. If the command was stopped, the approval is
// still pending, and the message says that no command waits for it.
func (n *approvalMessage) end(why string) {
	n.mu.Lock()
	latest := n.latest
	n.mu.Unlock()
	if latest != nil && latest.State == bailiff.ApprovalPending && why != "" {
		n.update(api.Approval{ID: latest.ID, Message: why})
	}
	n.following.Wait()
}
