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

func (o *operator) breakGlass(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	if p != nil {
		refuse(w, p)
		return
	}
	req, reason, p := readBreaking(r)
	if p != nil {
		refuse(w, p)
		return
	}
	answer, err := o.config.BreakGlass.BreakGlass(r.Context(), who, req, reason)
	if err != nil {
		refuse(w, refusal("", err))
		return
	}
	reply(w, answer, "") // nobody is asked here
}

func readBreaking(r *http.Request) (req bailiff.Request, reason string, p *api.Problem) {
	var wish api.Breaking
	if p = readBody(r, &wish); p != nil {
		return req, "", p
	}
	if strings.TrimSpace(wish.Reason) == "" {
		return req, "", refused(codeRequest, []api.Fault{{At: "/reason", Message: "is missing: say why the policies must not hold now"}})
	}
	if p = tooLong(wish.Reason); p != nil {
		return req, "", p
	}
	req, p = parse(wish.Request)
	req.Peer = CredentialOf(r)
	return req, wish.Reason, p
}
