package enforcer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
	"github.com/bailiff-dev/bailiff/enforcer/inflight"
)

// redeem looks for grants that let a request run, and takes them as the last step
// before it runs. From then on its sandbox is held, and where the text runs files
// nothing else is alive in it, so that they stay what they were found to be.
func (e *Enforcer) redeem(ctx context.Context, m *judged) (redeemed bool) {
	defer func() {
		if !redeemed {
			m.release()
		}
	}()
	if m.located.Tool == bailiff.Process && len(m.Files) > 0 {
		m.fault = fmt.Errorf("%w: %w", errFiles, errUnbound)
		return false
	}
	if m.script != nil && len(m.Files) > 0 {
		if _, m.fault = m.script.Share(e.leases.SpecOf(m.located, m.Decision).Exclusive()); m.fault != nil {
			return false
		}
	}
	if m.fault = e.look(ctx, m, false); !e.isCovered(m) {
		return false
	}
	if m.dependsOnFiles() {
		m.release()
		if m.fault = e.look(ctx, m, true); !e.isCovered(m) {
			return false
		}
	}
	if m.fault = e.hold(ctx, m, false); m.fault != nil {
		return false
	}
	approval, granted, err := e.config.Approvals.Redeem(ctx, m.claim())
	if err != nil {
		m.fault = fmt.Errorf("%w: taking the grant: %w", errApproval, err)
		return false
	}
	if granted {
		m.approval = &approval
	}
	return granted
}

var errUnbound = errors.New("input for a process that runs a file of the sandbox cannot be approved, since the process could change the " +
	"file before it is run; run it as a command of its own")

func (e *Enforcer) isCovered(m *judged) bool {
	return m.fault == nil && m.Decision.Outcome == bailiff.Ask && e.config.Approvals.Covered(m.claim())
}

// wait asks approvers about a request. Once they approve, it is to be judged again.
func (e *Enforcer) wait(ctx context.Context, m *judged) answer {
	asked, err := e.parts.ask(ctx, m)
	if errors.Is(err, budget.ErrUsedUp) {
		a := denial(deny(m.Decision, ruleBudget, err.Error()+"."))
		e.config.Recorder.Note(executionEvent(m.event, a))
		return a
	}
	if err != nil {
		a := failure(bailiff.Unavailable, bailiff.CodeApproval, fmt.Errorf("asking for approval: %w", err))
		e.config.Recorder.Note(executionEvent(m.event, a)) // the decision alone reads as if people had been asked
		return a
	}
	if asked.State == bailiff.ApprovalApproved {
		return answer{approved: true}
	}
	return approvalAnswer(m.Decision, asked)
}

// ask puts a request to approvers, and waits for what they say.
func (e *Enforcer) ask(ctx context.Context, m *judged) (asked bailiff.Approval, err error) {
	if err = e.config.Budgets.Ask(e.asker(m.located), m.Decision, m.located.Digest()); err != nil {
		return asked, err
	}
	if asked, err = e.config.Approvals.Ask(ctx, e.withUnbound(m.claim())); err != nil {
		return asked, err
	}
	m.tellApproval(asked)
	if asked.State == bailiff.ApprovalPending {
		asked = e.await(ctx, m.located, asked, time.Duration(m.located.WaitSeconds)*time.Second)
		if asked.State != bailiff.ApprovalPending {
			m.tellApproval(asked)
		}
	}
	return asked, nil
}

// await waits for an answer to what a request asks, unless so many wait already that they
// would keep others out.
func (e *Enforcer) await(ctx context.Context, req bailiff.Request, asked bailiff.Approval, most time.Duration) bailiff.Approval {
	if !e.waiting.Enter(req, inflight.MaxWaitingOfSession, inflight.MaxWaitingOfCaller) {
		return asked
	}
	defer e.waiting.Leave(req)
	most = toItsEnd(most, asked.ExpiresAt)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	defer context.AfterFunc(e.leaving, cancel)()
	return e.config.Approvals.Await(ctx, asked.ID)
}

// lastMoments is how much longer than it was told a request waits for a question that ends meanwhile.
const lastMoments = 2 * time.Second

// toItsEnd is how long to wait for a question that ends at a time: where both are the same, as they are by default, or almost, the
// answer is the question's end, and not that it still waits.
func toItsEnd(most time.Duration, end time.Time) time.Duration {
	left := time.Until(end)
	if most <= 0 || end.IsZero() || left < most || left > most+lastMoments {
		return most
	}
	return left
}

// judgeAgain judges a request anew after the yes.
func (e *Enforcer) judgeAgain(ctx context.Context, m *judged) *judged {
	again := m.again()
	e.judgeBy(ctx, again, func(ctx context.Context, m *judged) { m.Judgement = e.weigh(ctx, m, found{}) })
	again.event.Custom.Digest = m.event.Custom.Digest // of the request as it was sent
	return again
}

// prepareApproved prepares a request after the yes, and denies it if it is not what was approved any more: the approval is void then.
func (e *Enforcer) prepareApproved(ctx context.Context, m *judged, approved bailiff.Claim) (redeemed bool) {
	redeemed = e.prepare(ctx, m)
	if m.fault != nil || redeemed && m.claim().Drift(approved) == "" {
		return redeemed
	}
	e.void(ctx, m, approved)
	return false // a wider grant may cover what drifted, but this was not shown
}

// void denies a request that the approval it waited for does not cover, and says why.
func (e *Enforcer) void(ctx context.Context, m *judged, approved bailiff.Claim) {
	reason := m.claim().Drift(approved)
	switch m.Decision.Outcome {
	case bailiff.Deny:
		reason = "the policies deny it now"
	case bailiff.Allow:
		reason = "the policies no longer ask about it"
	case bailiff.Ask:
		if reason == "" { // an identical request was faster
			m.Decision = deny(m.Decision, bailiff.RuleVoid, "The approval was used by an identical request, or taken back.")
			return
		}
		reason += " changed since it was asked for"
	}
	message := "The approval is void: " + reason + "."
	if err := e.config.Approvals.Void(ctx, m.approval.ID, message); err != nil {
		m.fault = fmt.Errorf("%w: taking the approval back: %w", errApproval, err)
		return
	}
	m.approval.State, m.approval.Message = bailiff.ApprovalVoid, message
	forGood := m.Decision.Outcome == bailiff.Deny
	m.Decision = deny(m.Decision, bailiff.RuleVoid, message)
	if forGood { // what denies it says what would be allowed
		m.Decision.Denials[len(m.Decision.Denials)-1].Instead = ""
	}
}

// approvalAnswer is the answer to a request that humans have not let run.
func approvalAnswer(d bailiff.Decision, asked bailiff.Approval) answer {
	a := answer{Answer: bailiff.Answer{Approval: &asked, Status: bailiff.Refused, ExitCode: bailiff.ExitRefused}}
	said := []string{bailiff.Sentences(d.ForSender().Approval.Reasons)}
	if asked.Message != "" {
		said = append(said, bailiff.Sentence(asked.Message))
	}
	switch asked.State {
	case bailiff.ApprovalPending:
		a.Status, a.ExitCode = bailiff.ApprovalRequired, bailiff.ExitPending
		said = append([]string{"Needs approval " + asked.ID + ":"}, append(said, "Send the same request again once it is approved.")...)
	case bailiff.ApprovalUnreachable:
		a.Status, a.Code, a.ExitCode = bailiff.Unavailable, bailiff.CodeApproval, bailiff.ExitFailed
		said = append([]string{"Nobody could be asked:"}, said...)
	case bailiff.ApprovalExpired:
		a.Status = bailiff.Expired
		said = append([]string{"Not approved in time:"}, said...)
	default:
		said = append([]string{"Not approved:"}, said...)
	}
	a.Message = strings.Join(said, " ")
	return a
}
