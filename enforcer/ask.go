package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
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

// look finds out what the files are that a request's text runs, and judges it
// again with them. With alone nothing changes them until the sandbox is released.
func (e *Enforcer) look(ctx context.Context, m *judged, alone bool) error {
	m.unbound = nil
	if m.isMoving() {
		m.unbound = append(slices.Clone(m.Opens), impliedNames(m.Implied)...)
	}
	depends := m.dependsOnFiles()
	if !depends && !e.surveys(m) && !m.isImplying() {
		return nil
	}
	if err := e.holdToLook(ctx, m, alone && depends); err != nil {
		return err
	}
	held := m.claim()
	if err := e.judgeFound(ctx, m); err != nil {
		return err
	}
	if m.isImplying() {
		if err := m.bindImplied(ctx); err != nil {
			return err
		}
	}
	switch {
	case !m.dependsOnFiles():
		m.keepSandbox(held)
		return nil
	case alone && !depends: // what a link leads to runs
		m.release()
		return e.look(ctx, m, alone)
	}
	return e.bind(ctx, m, held)
}

// holdToLook holds the sandbox. As long as nobody has said yes to the request, it ends no others for variables that nobody may be
// near: none comes in yet.
func (e *Enforcer) holdToLook(ctx context.Context, m *judged, alone bool) error {
	if alone || m.approval != nil || m.held != nil || !m.needsSandbox() || !m.mustBeAlone() {
		return e.hold(ctx, m, alone)
	}
	m.looksOnly = true
	return e.holdNow(ctx, m, false)
}

// dependsOnFiles says that the text runs files, or may depend on some whose content stands.
func (m *judged) dependsOnFiles() bool {
	return len(m.Files) > 0 || len(m.Opens) > 0 && !m.isMoving()
}

// bind judges a request with what the files are on which it depends.
func (e *Enforcer) bind(ctx context.Context, m *judged, held bailiff.Claim) error {
	files, err := m.held.Digest(ctx, m.located.Args.Workdir, m.Files)
	if err != nil {
		return fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
	}
	if path := changedFile(m.contents, files); path != "" {
		return fmt.Errorf("%w: %s changed while it was read; send the command again", errFiles, path)
	}
	opened, unbound := m.dependencies(ctx)
	m.files, m.unbound = slices.Concat(files, opened), distinct(m.unbound, unbound)
	m.replaceJudgement(e.decide(ctx, m.located, found{files, m.contents, m.ground}))
	m.keepSandbox(held)
	return nil
}

// keepSandbox denies a request for which the policies want another sandbox than the one that
// it holds, now that they know the files that it runs.
func (m *judged) keepSandbox(held bailiff.Claim) {
	now := m.claim()
	now.Decision.Approval, now.Decision.Limits = held.Decision.Approval, held.Decision.Limits
	now.Files, now.Unbound, now.Ground = held.Files, held.Unbound, held.Ground
	if drift := now.Drift(held); drift != "" && m.Decision.Outcome != bailiff.Deny {
		m.Decision = deny(m.Decision, bailiff.RuleVoid,
			"The policies want another sandbox for the request once they know the files that it runs: "+drift+" would change.")
	}
}

// wait asks approvers about a request and goes on with it once they approve.
func (e *Enforcer) wait(ctx context.Context, m *judged) answer {
	asked, err := e.parts.ask(ctx, m)
	if err != nil {
		a := failure(bailiff.Unavailable, bailiff.CodeApproval, fmt.Errorf("asking for approval: %w", err))
		e.config.Recorder.Note(executionEvent(m.event, a)) // the decision alone reads as if people had been asked
		return a
	}
	if asked.State == bailiff.ApprovalApproved {
		return e.resume(ctx, m, asked)
	}
	return approvalAnswer(m.Decision, asked)
}

// ask puts a request to approvers, and waits for what they say.
func (e *Enforcer) ask(ctx context.Context, m *judged) (asked bailiff.Approval, err error) {
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
	if !e.waiting.enter(req, maxWaitingOfSession, maxWaitingOfCaller) {
		return asked
	}
	defer e.waiting.leave(req)
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

// resume judges a request again after the yes. It runs if it is still what was
// approved; otherwise the approval is void.
func (e *Enforcer) resume(ctx context.Context, m *judged, asked bailiff.Approval) answer {
	approved := m.claim()
	again := m.again(asked)
	e.judgeBy(ctx, again, func(ctx context.Context, m *judged) { m.Judgement = e.decide(ctx, m.located, found{}) })
	again.event.Custom.Digest = m.event.Custom.Digest // of the request as it was sent
	ctx = again.concerning(ctx)
	redeemed := e.prepare(ctx, again)
	if again.fault == nil && (!redeemed || again.claim().Drift(approved) != "") {
		redeemed = false // a wider grant may cover what drifted, but this was not shown
		e.void(ctx, again, approved)
	}
	return e.proceed(ctx, again, redeemed)
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
	said := []string{bailiff.Sentences(d.Told().Approval.Reasons)}
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
