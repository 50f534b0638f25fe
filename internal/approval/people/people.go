// Package people knows who is who: who asks, by which route a question goes to
// whom, and who may answer it.
//
// What is promised (separation of duties): a requester does not answer their own request,
// neither as the same person nor by the credential that the request came in by.
// Only who is configured under people answers at all. Where the user that an
// agent runs as could reach the operators' socket, no answer that came by it
// counts, since the agent could have given it; that goes for the console too,
// whose login by a link comes from there. An answer from a chat does not count where the agent
// could read the sidecar's own secrets, and so speak for the service; nor does one of a
// login by an OpenID provider, which for a command line must meet both. A condition that
// cannot be evaluated lets no one answer. Where a route wants proof, only answers of people in a browser at
// the console count, each with a proof of its own. operator.allow_same_user lifts these for
// machines with one person, but not the conditions, nor that in a chat only people answer.
//
// What is not here: asking and remembering (package approval), and whom a listener
// lets in at all (package gateway).
package people

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
)

// Roster knows people by one configuration. It is immutable.
type Roster struct {
	people    []config.Person
	operator  config.Operator
	listeners []config.Listener
	routes    []route
	timeout   time.Duration
	// services are the chat services by which people can be asked.
	services []string
	logins   Logins
	// self is the sidecar's own user, onHost says that commands may run as it.
	self   uint32
	onHost bool
}

var _ approval.Router = (*Roster)(nil)

// route is one with its conditions compiled; nil ones hold always.
type route struct {
	config.Route
	when      *guard.ClaimCondition
	approvers *guard.ApproverCondition
}

// Logins knows what an OpenID provider said of its accounts when they last logged in.
type Logins interface {
	// Groups are an account's.
	Groups(account string) []string
}

// New makes a roster. The error names a condition that does not compile.
func New(c *config.Config, logins Logins) (*Roster, error) {
	r := &Roster{
		logins: logins,
		people: c.People, operator: c.Operator, listeners: c.Agent.Listeners, timeout: c.Approvals.Timeout,
		services: c.Chat.Services(), self: uint32(os.Geteuid()), //nolint:gosec // a uid fits
	}
	_, r.onHost = c.Backends["local"]
	for _, configured := range c.Approvals.Routes {
		way, err := compiled(configured)
		if err != nil {
			return nil, fmt.Errorf("compiling approval route %s: %w", configured.Name, err)
		}
		r.routes = append(r.routes, way)
	}
	if len(r.routes) == 0 {
		r.routes = []route{{Route: config.Route{Name: "default", Channels: c.Channels()}}}
	}
	return r, nil
}

func compiled(c config.Route) (way route, err error) {
	way.Route = c
	if c.When != "" {
		if way.when, err = guard.OfClaim(c.When); err != nil {
			return way, fmt.Errorf("when: %w", err)
		}
	}
	if c.Approvers != "" {
		if way.approvers, err = guard.OfApprover(c.Approvers); err != nil {
			return way, fmt.Errorf("approvers: %w", err)
		}
	}
	return way, nil
}

// Identify returns the approver with a uid at a channel; the person is empty if people does
// not name the uid.
func (r *Roster) Identify(uid uint32, channel string) bailiff.Approver {
	who := bailiff.Approver{Credential: bailiff.Credential(uid), Channel: channel}
	return as(who, r.byUID(uid))
}

// IdentifyAccount returns the approver with an account at a chat service, which is the
// channel too; the person is empty if people does not name the account.
func (r *Roster) IdentifyAccount(service, id string) bailiff.Approver {
	return as(bailiff.Approver{Credential: bailiff.Account(service, id), Channel: service}, r.byAccount(service, id))
}

// IdentifyLogin returns the approver who logged in to the console by an account of the OpenID
// provider; the person is empty if people does not name the account.
func (r *Roster) IdentifyLogin(account, login string) bailiff.Approver {
	who := as(bailiff.Approver{Credential: bailiff.Account(bailiff.OIDC, account), Channel: bailiff.ChannelConsole, Login: login},
		r.byLogin(account))
	if who.Person != "" {
		who.Groups = r.groups(who, who.Groups)
	}
	return who
}

// groups are a person's, with those that the OpenID provider vouches for where it is by that that they come.
func (r *Roster) groups(who bailiff.Approver, all []string) []string {
	if account, ok := loggedIn(who); ok {
		for _, name := range r.logins.Groups(account) {
			all = add(all, name)
		}
	}
	return all
}

func as(who bailiff.Approver, p *config.Person) bailiff.Approver {
	if p != nil {
		who.Person, who.Groups = p.Name, slices.Clone(p.Groups)
	}
	return who
}

// Plan takes the first route whose condition holds, and tells who could answer.
// The error is of type [*approval.Unanswerable].
func (r *Roster) Plan(c bailiff.Claim) (api.Plan, error) {
	way, err := r.choose(c)
	if err != nil {
		return api.Plan{}, err
	}
	terms := bailiff.ApprovalTerms{}
	if c.Decision.Approval != nil {
		terms = *c.Decision.Approval
	}
	p := api.Plan{
		Route: way.Name, Quorum: max(1, way.Quorum, terms.Quorum),
		Timeout: least(r.timeout, way.Timeout, time.Duration(terms.TimeoutSeconds)*time.Second),
	}
	found := r.search(c, way)
	if len(found.names) < p.Quorum {
		return api.Plan{}, r.unanswerable(c.Request, p.Quorum, found)
	}
	p.Approvers, p.Channels, p.Proof = found.names, found.channels, way.Proof
	return p, nil
}

func (r *Roster) choose(c bailiff.Claim) (route, error) {
	for _, way := range r.routes {
		if way.when == nil {
			return way, nil
		}
		takes, err := way.when.Holds(c)
		if err != nil {
			return route{}, nobody("the condition of route %s could not be evaluated: %v", way.Name, err)
		}
		if takes {
			return way, nil
		}
	}
	return route{}, nobody("no route takes this; let approvals.routes end with one that has no condition")
}

// least is the shortest of the durations that are given.
func least(all ...time.Duration) time.Duration {
	given := slices.DeleteFunc(all, func(d time.Duration) bool { return d <= 0 })
	slices.Sort(given)
	return append(given, 0)[0]
}

// May is nil if who may answer a claim that goes by a route.
func (r *Roster) May(who bailiff.Approver, c bailiff.Claim, name string) error {
	i := slices.IndexFunc(r.routes, func(way route) bool { return way.Name == name })
	if i < 0 {
		return fmt.Errorf("nobody can answer: there is no route %s any more", name)
	}
	way := r.routes[i]
	why := r.bar(who, c, way)
	switch {
	case why == "":
		return nil
	case way.Proof != "" && who.Proof == "" && r.bar(proven(who, way), c, way) == "":
		return unproven{"not answered yet: " + why}
	}
	others := r.search(c, way).names
	if len(others) == 0 {
		return fmt.Errorf("not yours to answer: %s; nobody else could either", why)
	}
	return fmt.Errorf("not yours to answer: %s; ask %s", why, joined(others, "or"))
}

// unproven is why an approver may not answer who could prove who they are.
type unproven struct{ why string }

func (u unproven) Error() string { return u.why }
func (unproven) Unwrap() error   { return api.ErrProof }

// proven is an approver as they are once they have proved by what a route wants who they are.
func proven(who bailiff.Approver, way route) bailiff.Approver {
	who.Proof = way.Proof
	return who
}

// MayLift is nil if who may lift what operators or policies imposed: thaw what
// is frozen, or break glass. An agent that could reach the operators' socket
// could otherwise lift it for itself.
func (r *Roster) MayLift(who bailiff.Approver) error {
	p, why := r.holder(who)
	_, oidc := loggedIn(who)
	switch {
	case slices.Contains(r.services, who.Channel):
		why = who.Credential + " is not among operator.uids"
	case why == "" && replaced(who, p) != "":
		why = replaced(who, p)
	case why == "" && who.Person == "" && !r.operator.AllowSameUser:
		why = who.Credential + " belongs to no person in people"
	}
	switch {
	case why != "":
		return fmt.Errorf("not yours to lift: %s", why)
	case r.operator.AllowSameUser:
		return nil
	}
	why = r.within(who.Login != bailiff.LoginOIDC, oidc)
	if why != "" {
		return fmt.Errorf("nobody can lift this here: %s", why)
	}
	return nil
}

// Unliftable says why no operator could lift a freeze; empty if one could.
func (r *Roster) Unliftable() string {
	if r.operator.AllowSameUser && len(r.operator.UIDs) > 0 {
		return ""
	}
	why := "people in bailiff.yaml names no person with a uid that is among operator.uids"
	if slices.ContainsFunc(r.operator.UIDs, func(uid uint32) bool { return r.byUID(uid) != nil }) {
		if why = r.within(true, false); why == "" {
			return ""
		}
	}
	if r.oidc() && slices.ContainsFunc(r.people, func(p config.Person) bool { return len(p.OIDC) > 0 }) {
		return r.within(false, true)
	}
	return why
}

// within says how the agent of a listener could give an answer itself: by the operators' socket, or
// with the sidecar's own secrets, as far as either matters.
func (r *Roster) within(socket, secrets bool) string {
	for _, l := range r.listeners {
		if why := r.reaches(l, false); socket && why != "" {
			return why
		}
		if why := r.reaches(l, true); secrets && why != "" {
			return why
		}
	}
	return ""
}
