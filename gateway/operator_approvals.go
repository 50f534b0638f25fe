package gateway

import (
	"errors"
	"net/http"
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

func (o *operator) approvals(w http.ResponseWriter, r *http.Request) {
	q := api.Query{Limit: pageLength}
	if p := readQuery(r, fields{
		"state": oneOf(&q.State, bailiff.ApprovalPending, bailiff.ApprovalApproved, bailiff.ApprovalDenied,
			bailiff.ApprovalExpired, bailiff.ApprovalVoid, bailiff.ApprovalCancelled, bailiff.ApprovalUnreachable),
		"session": text(&q.Session), "user": text(&q.User), "after": cursor(&q.After), "limit": number(&q.Limit, 1, pageAtMost),
	}); p != nil {
		refuse(w, p)
		return
	}
	entries, next := o.config.Approvals.List(q)
	send(w, http.StatusOK, api.Approvals{Approvals: entries, Next: next})
}

func (o *operator) approval(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	entry, found := o.config.Approvals.Get(id)
	if !found {
		refuse(w, problem(http.StatusNotFound, "approval_unknown", "There is no approval "+cut(id)+
			", or its record cannot be read; GET /v1/approvals lists those that are."))
		return
	}
	shown := api.ShownApproval{Approval: entry, History: []api.Logged{}}
	shown.Marks, shown.MarksCut = MarksOf(entry)
	if session := entry.Request.Session.ID; session != "" {
		shown.History = readLines(o.config.Decisions.Recent(session, historyLength))
	}
	send(w, http.StatusOK, shown)
}

func (o *operator) approve(w http.ResponseWriter, r *http.Request) {
	var body api.Approving
	o.answer(w, r, &body, func() bailiff.Verdict { return bailiff.Verdict{Approve: true, Scope: body.Scope} })
}

func (o *operator) deny(w http.ResponseWriter, r *http.Request) {
	var body api.Denying
	o.answer(w, r, &body, func() bailiff.Verdict { return bailiff.Verdict{Reason: body.Reason} })
}

// answer gives the verdict that the body means.
func (o *operator) answer(w http.ResponseWriter, r *http.Request, body any, verdict func() bailiff.Verdict) {
	who, p := o.identify(r)
	if p == nil {
		p = readBody(r, body)
	}
	var v bailiff.Verdict
	if p == nil {
		v = verdict()
		p = tooLong(v.Reason)
	}
	if p != nil {
		refuse(w, p)
		return
	}
	entry, err := o.config.Approvals.Answer(r.Context(), r.PathValue("id"), who, v)
	if err != nil {
		refuse(w, refusal("approval_unknown", err))
		return
	}
	send(w, http.StatusOK, entry)
}

func (o *operator) grants(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, api.Grants{Grants: o.config.Grants.Grants()})
}

func (o *operator) revoke(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	if p != nil {
		refuse(w, p)
		return
	}
	grant, err := o.config.Grants.Revoke(r.Context(), r.PathValue("id"), who)
	if err != nil {
		refuse(w, refusal("grant_unknown", err))
		return
	}
	send(w, http.StatusOK, grant)
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
		{api.ErrIneligible, http.StatusForbidden, "not_eligible"},
		{api.ErrScope, http.StatusUnprocessableEntity, "scope_not_offered"},
		{api.ErrRevisionUnknown, http.StatusNotFound, "revision_unknown"},
		{api.ErrUnsound, http.StatusConflict, "policies_unsound"},
		{api.ErrNotRolledBack, http.StatusConflict, "not_rolled_back"},
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
	return refused(codeRequest, []api.Fault{{At: "/reason", Message: "is longer than 1,000 characters"}})
}
