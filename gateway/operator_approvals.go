package gateway

import (
	"errors"
	"math"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// pageLength is how much a page holds if nothing is said, and pageAtMost how
	// much it can.
	pageLength = 100
	pageAtMost = 500
	// historyLength is how many events of its session an approval is shown with.
	historyLength = 20
	// reasonLength is how many characters a reason may have.
	reasonLength = 1000
)

func (o *operator) approvals(r *http.Request) (any, *api.Problem) {
	q := api.Query{Limit: pageLength}
	if p := readQuery(r, fields{
		"state": oneOf(&q.State, bailiff.ApprovalPending, bailiff.ApprovalApproved, bailiff.ApprovalDenied,
			bailiff.ApprovalExpired, bailiff.ApprovalVoid, bailiff.ApprovalCancelled, bailiff.ApprovalUnreachable),
		"session": text(&q.Session), "user": text(&q.User), "after": cursor(&q.After), "limit": number(&q.Limit, 1, pageAtMost),
	}); p != nil {
		return nil, p
	}
	entries, next := o.config.Approvals.List(q)
	return api.Approvals{Approvals: entries, Next: next}, nil
}

func (o *operator) approval(r *http.Request) (any, *api.Problem) {
	id := r.PathValue("id")
	entry, found := o.config.Approvals.Get(id)
	if !found {
		return nil, problem(http.StatusNotFound, "approval_unknown", "There is no approval "+cut(id)+
			", or its record cannot be read; GET /v1/approvals lists those that are.")
	}
	shown := api.ShownApproval{Approval: entry, History: []api.Logged{}}
	shown.Marks, shown.MarksCut = MarksOf(entry)
	if session := entry.Request.Session.ID; session != "" {
		shown.History = readLines(o.config.Decisions.Recent(session, historyLength))
	}
	return shown, nil
}

func (o *operator) preview(r *http.Request) (any, *api.Problem) {
	var match string
	if p := readQuery(r, fields{"match": text(&match)}); p != nil {
		return nil, p
	}
	preview, err := o.config.Approvals.Preview(r.PathValue("id"), match)
	return result(preview, "approval_unknown", err)
}

func (o *operator) approve(r *http.Request, who bailiff.Approver, wish api.Approving) (any, *api.Problem) {
	if wish.Digest != "" {
		entry, found := o.config.Approvals.Get(r.PathValue("id"))
		if found && entry.Digest != wish.Digest {
			return nil, problem(http.StatusConflict, "other_digest", "Approval "+entry.ID+" is not what was shown; look at it again.")
		}
	}
	return o.answer(r, who, bailiff.Verdict{Approve: true, Scope: wish.Scope, Match: wish.Match, Times: wish.Times,
		For: seconds(wish.ForSeconds)})
}

// seconds is a time that so many seconds are, within bounds in which none wraps around to another time, or to none.
func seconds(wish int) time.Duration {
	return time.Duration(max(-1, min(wish, math.MaxInt32))) * time.Second
}

func (o *operator) deny(r *http.Request, who bailiff.Approver, wish api.Denying) (any, *api.Problem) {
	if p := tooLong(wish.Reason); p != nil {
		return nil, p
	}
	return o.answer(r, who, bailiff.Verdict{Reason: wish.Reason})
}

func (o *operator) answer(r *http.Request, who bailiff.Approver, v bailiff.Verdict) (any, *api.Problem) {
	entry, err := o.config.Approvals.Answer(r.Context(), r.PathValue("id"), who, v)
	return result(entry, "approval_unknown", err)
}

func (o *operator) grants(*http.Request) (any, *api.Problem) {
	return api.Grants{Grants: o.config.Grants.Grants()}, nil
}

func (o *operator) revoke(r *http.Request, who bailiff.Approver) (any, *api.Problem) {
	grant, err := o.config.Grants.Revoke(r.Context(), r.PathValue("id"), who)
	return result(grant, "grant_unknown", err)
}

// identify says who sends a request that changes something.
func (o *operator) identify(r *http.Request) (bailiff.Approver, *api.Problem) {
	who, known := o.config.Who(r)
	if !known {
		return who, problem(http.StatusForbidden, "not_eligible", "This listener cannot tell who you are; answer on the operators' socket.")
	}
	return who, nil
}

// refusal is why an operator's wish was not met.
func refusal(unknown string, err error) *api.Problem {
	for _, known := range []struct {
		kind   error
		status int
		code   string
	}{
		{api.ErrUnknown, http.StatusNotFound, unknown},
		{api.ErrSettled, http.StatusConflict, "already_settled"},
		{api.ErrVoted, http.StatusConflict, "already_voted"},
		{api.ErrProof, http.StatusForbidden, "proof_needed"},
		{api.ErrIneligible, http.StatusForbidden, "not_eligible"},
		{api.ErrScope, http.StatusUnprocessableEntity, "scope_not_offered"},
		{api.ErrRevisionUnknown, http.StatusNotFound, "revision_unknown"},
		{api.ErrUnsound, http.StatusConflict, "policies_unsound"},
		{api.ErrNotRolledBack, http.StatusConflict, "not_rolled_back"},
		{api.ErrBusy, http.StatusServiceUnavailable, "busy"},
	} {
		if errors.Is(err, known.kind) {
			return problem(known.status, known.code, bailiff.Sentence(err.Error()))
		}
	}
	return problem(http.StatusServiceUnavailable, "store_failed", bailiff.Sentence(err.Error()))
}

func tooLong(reason string) *api.Problem {
	if utf8.RuneCountInString(reason) <= reasonLength {
		return nil
	}
	return refusalProblem(codeRequest, []api.Fault{{At: "/reason", Message: "is longer than 1,000 characters"}})
}
