package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// GlassBreaker runs what the policies deny on an operator's word. Its error says
// why that operator may not; the answer says why nothing ran.
type GlassBreaker interface {
	BreakGlass(ctx context.Context, who bailiff.Approver, req bailiff.Request, reason string) (bailiff.Answer, error)
}

func (o *operator) breakGlass(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	if p != nil {
		p.write(w)
		return
	}
	req, reason, p := readBreaking(r)
	if p != nil {
		p.write(w)
		return
	}
	answer, err := o.config.Glass.BreakGlass(r.Context(), who, req, reason)
	if err != nil {
		refusal("", err).write(w)
		return
	}
	reply(w, answer, "") // nobody is asked here
}

func readBreaking(r *http.Request) (req bailiff.Request, reason string, p *Problem) {
	var wish Breaking
	if p = readBody(r, &wish); p != nil {
		return req, "", p
	}
	if strings.TrimSpace(wish.Reason) == "" {
		return req, "", refused(codeRequest, []Fault{{"/reason", "is missing: say why the policies must not hold now"}})
	}
	if p = tooLong(wish.Reason); p != nil {
		return req, "", p
	}
	req, p = parse(wish.Request)
	req.Peer = CredentialOf(r)
	return req, wish.Reason, p
}
