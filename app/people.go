package app

import (
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
)

// roster knows people by the configuration that is in force.
type roster struct {
	now       atomic.Pointer[people.Roster]
	logins    *logins
	notifiers atomic.Pointer[chat.Notifiers]
}

var _ approval.Router = (*roster)(nil)

func (r *roster) Plan(c bailiff.Claim) (api.Plan, error) { return r.now.Load().Plan(c) }

func (r *roster) May(who bailiff.Approver, c bailiff.Claim, route string) error {
	return r.now.Load().May(who, c, route)
}

// Identify says who comes by a uid to a channel.
func (r *roster) Identify(uid uint32, channel string) bailiff.Approver {
	return r.now.Load().Identify(uid, channel)
}

// IdentifyAccount says who comes by an account at a chat service.
func (r *roster) IdentifyAccount(service, id string) bailiff.Approver {
	return r.now.Load().IdentifyAccount(service, id)
}

// IdentifyLogin says who comes by an account of the OpenID provider.
func (r *roster) IdentifyLogin(account, login string) bailiff.Approver {
	return r.now.Load().IdentifyLogin(account, login)
}

// Requester says who asks.
func (r *roster) Requester(req bailiff.Request) bailiff.Requester { return r.now.Load().Requester(req) }

// permit is nil if the roles of who let them do something.
func (r *roster) permit(who bailiff.Approver, to string) error {
	if err := r.now.Load().Permit(who, to); err != nil {
		return ineligible{err}
	}
	return nil
}

// known says why a person may not be logged in; it is nil while they may.
func (r *roster) known(who bailiff.Approver) error { return r.now.Load().CheckLogin(who) }

// reachable is nil if a channel of a plan works.
func (r *roster) reachable(p api.Plan) error {
	if notifiers := r.notifiers.Load(); notifiers != nil {
		return notifiers.Reachable(p)
	}
	return nil
}

// mayLift is nil if who may lift what operators or policies imposed.
func (r *roster) mayLift(who bailiff.Approver) error {
	if err := r.now.Load().MayLift(who); err != nil {
		return ineligible{err}
	}
	return nil
}

// ineligible is why an approver may not, as the operator API tells it.
type ineligible struct{ error }

func (ineligible) Unwrap() error { return api.ErrIneligible }
