package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// BreakGlasser runs what the policies deny on an operator's word. Its error says
// why that operator may not; the answer says why nothing ran.
type BreakGlasser interface {
	BreakGlass(ctx context.Context, who bailiff.Approver, req bailiff.Request, reason string) (bailiff.Answer, error)
}

func (o *operator) breakGlass(r *http.Request, who bailiff.Approver, wish api.Breaking) (any, *api.Problem) {
	req, p := readBreaking(wish)
	if p != nil {
		return nil, p
	}
	req.Peer = CredentialOf(r)
	answer, err := o.config.BreakGlass.BreakGlass(r.Context(), who, req, wish.Reason)
	if err != nil {
		return nil, refusal("", err)
	}
	return reply(answer, "") // no approver is asked here
}

func readBreaking(wish api.Breaking) (bailiff.Request, *api.Problem) {
	if strings.TrimSpace(wish.Reason) == "" {
		return bailiff.Request{}, refusalProblem(codeRequest,
			[]api.Fault{{At: "/reason", Message: "is missing: say why the policies must not hold now"}})
	}
	if p := tooLong(wish.Reason); p != nil {
		return bailiff.Request{}, p
	}
	return parse(wish.Request)
}
