package answers

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// Connection reads the policies' answer strictly: anything odd denies.
func Connection(answer *ast.Term) (j bailiff.ConnectionJudgement) {
	r := reader{}
	r.object(answer, fields{
		{"outcome", into(&j.Outcome, r.outcome)},
		{"denials", into(&j.Denials, r.reasons)},
		{"approval", into(&j.Approval, r.approval)},
		{"private", into(&j.Private, r.bool)},
		{"intercept", into(&j.Intercept, r.bool)},
		{"websocket", into(&j.WebSocket, r.bool)},
		{"limits", func(v *ast.Term) {
			r.object(v, fields{{"upload_mb", into(&j.Limits.UploadMB, r.count)}, {"download_mb", into(&j.Limits.DownloadMB, r.count)}})
		}},
	}, "outcome", "denials")
	if r.wrong == "" {
		r.agreeOnConnection(j)
	}
	if r.wrong == "" {
		return j
	}
	denied := Denial(ruleInvalid, "The policies gave no valid answer about a connection: "+pointer(r.at)+" "+r.wrong+".", insteadOfInvalid)
	return bailiff.ConnectionJudgement{Denials: slices.Concat(denied.Denials, said(answer)),
		Fault: fmt.Errorf("reading the policies' answer about a connection: %s %s", pointer(r.at), r.wrong)}
}

func (r *reader) agreeOnConnection(j bailiff.ConnectionJudgement) {
	switch {
	case j.Outcome == bailiff.Deny && len(j.Denials) == 0:
		r.failAt("/denials", "is empty although the outcome is deny")
	case j.Outcome != bailiff.Deny && len(j.Denials) > 0:
		r.failAt("/outcome", "is %s although there are denials", j.Outcome)
	case j.Outcome == bailiff.Ask && (j.Approval == nil || len(j.Approval.Reasons) == 0):
		r.failAt("/approval/reasons", "is empty although the outcome is ask")
	case j.Outcome == bailiff.Ask:
		r.bounded(j.Approval)
	case j.Approval != nil:
		r.failAt("/outcome", "is %s although there are reasons to ask", j.Outcome)
	}
}

// FailedConnection is the denial of an evaluation about a connection that gave no answer.
func FailedConnection(err error) bailiff.ConnectionJudgement {
	d, fault := Failure(err)
	return bailiff.ConnectionJudgement{Denials: d.Denials, Fault: fault}
}
