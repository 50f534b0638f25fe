package gateway

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// PolicyHistory keeps the policies that were in force, and puts them in force again. Its
// errors are those of package api.
type PolicyHistory interface {
	// Revisions are those that are kept, the one in force first.
	Revisions() ([]api.Revision, error)
	// Revision is one of them, by the beginning of its name.
	Revision(name string) (api.Revision, []api.PolicyFile, error)
	// RollBack puts one in force until another word, or until Resume has the
	// configuration's policies in force again.
	RollBack(ctx context.Context, revision, reason string, who bailiff.Approver) error
	Resume(ctx context.Context, who bailiff.Approver) error
}

func (o *operator) revisions(*http.Request) (any, *api.Problem) {
	all, err := o.config.History.Revisions()
	return result(api.Revisions{Revisions: all}, "", err)
}

func (o *operator) revision(r *http.Request) (any, *api.Problem) {
	about, files, err := o.config.History.Revision(r.PathValue("revision"))
	return result(api.ShownRevision{Revision: about, Texts: append([]api.PolicyFile{}, files...)}, "", err)
}

func (o *operator) rollBack(r *http.Request, who bailiff.Approver, wish api.RollingBack) (any, *api.Problem) {
	if p := rollbackProblem(wish); p != nil {
		return nil, p
	}
	return o.answerPolicies(r, o.config.History.RollBack(r.Context(), wish.Revision, wish.Reason, who))
}

func (o *operator) resume(r *http.Request, who bailiff.Approver) (any, *api.Problem) {
	return o.answerPolicies(r, o.config.History.Resume(r.Context(), who))
}

// answerPolicies answers with the policies that are in force then.
func (o *operator) answerPolicies(r *http.Request, err error) (any, *api.Problem) {
	if err != nil {
		return nil, refusal("", err)
	}
	return o.policies(r)
}

func rollbackProblem(b api.RollingBack) *api.Problem {
	switch {
	case b.Revision == "":
		return refusalProblem(codeRequest,
			[]api.Fault{{At: "/revision", Message: "is missing: GET /v1/policies/history lists those there are"}})
	case len(b.Revision) > idLength || !utf8.ValidString(b.Revision):
		return refusalProblem(codeRequest, []api.Fault{{At: "/revision", Message: "want at most 1,024 bytes of UTF-8"}})
	}
	return tooLong(b.Reason)
}
