package app

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// decideConnection decides on a request that a client carries out itself, by reaching one address: the
// policies have to allow the request as a command in the sandbox, and the connection as one out of it.
func (a *App) decideConnection(ctx context.Context, req bailiff.Request, to *url.URL) bailiff.Decided {
	d := a.front.Preview(ctx, req)
	if d.Decision.Outcome != bailiff.Allow {
		return d
	}
	if no := a.refusedConnection(ctx, req, d, to); no != nil {
		return a.front.Refuse(ctx, req.Caller, *no)
	}
	return a.front.Decide(ctx, req)
}

// refusedConnection is why the connection is not allowed; nil if it is. It leaves from this machine and not from a sandbox, so that
// the address that its host stands for counts on a network without bounds, too.
func (a *App) refusedConnection(ctx context.Context, req bailiff.Request, d bailiff.Decided, to *url.URL) *bailiff.Reason {
	target, err := targetOf(to)
	if err != nil {
		return &bailiff.Reason{Rule: "egress.name", Message: bailiff.Sentence(err.Error())}
	}
	private := false
	switch network := d.Decision.Backend.Network; network {
	case "full":
	case backends.Egress:
		judged := a.foreseen(ctx, req, d, target, to)
		if judged.Outcome != bailiff.Allow {
			return refusalOf(judged)
		}
		private = judged.Private
	default:
		return &bailiff.Reason{Rule: "network",
			Message: "The policies give this session no network, so that nothing reaches " + target.Host.String() + ".",
			Instead: "Work without it, or have the host named in the tables network.platforms and destinations"}
	}
	return a.proxy.Forbidden(ctx, target, private)
}

// foreseen is what the policies say of the connection, and of the request on it where requests are judged.
func (a *App) foreseen(ctx context.Context, req bailiff.Request, d bailiff.Decided, target reach.Target,
	to *url.URL) bailiff.ConnectionJudgement {
	foreseer := a.proxy.Foreseer()
	c, judged := foreseer.Tunnel(ctx, target, bailiff.Connection{Caller: req.Caller, Session: req.Session, Backend: d.Decision.Backend.Name,
		For: bailiff.ConnectionRequest{DecisionID: d.ID, Tool: req.Tool, Egress: d.Decision.Backend.Egress}})
	if judged.Outcome == bailiff.Allow && c.Intercepted {
		_, judged = foreseer.Request(ctx, target, c, &http.Request{Method: http.MethodGet, URL: to, Host: to.Host, Header: http.Header{}})
	}
	return judged
}

// refusalOf is why a judgement lets nothing through that waits for no person.
func refusalOf(judged bailiff.ConnectionJudgement) *bailiff.Reason {
	switch {
	case judged.Approval != nil && len(judged.Approval.Reasons) > 0:
		asked := judged.Approval.Reasons[0]
		asked.Message += " A person would have to be asked, which no tool of a client waits for."
		asked.Instead = "Reach it by a command of the shell, which waits"
		return &asked
	case len(judged.Denials) > 0:
		return &judged.Denials[0]
	}
	return &bailiff.Reason{Rule: "egress", Message: "The policies do not allow the connection."}
}

// targetOf is the host and port of an address, by the one spelling of a host.
func targetOf(to *url.URL) (reach.Target, error) {
	host := to.Hostname()
	if len(to.Host) > 0 && to.Host[0] == '[' {
		host = "[" + host + "]"
	}
	port := to.Port()
	switch {
	case port != "":
	case to.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return reach.ParseTarget(host + ":" + port)
}
