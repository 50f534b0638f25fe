package people

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
)

// bar says why an approver may not answer a claim that goes by a route; empty means
// that they may.
func (r *Roster) bar(who bailiff.Approver, c bailiff.Claim, way route) string {
	p, why := r.holder(who)
	switch {
	case why != "":
		return why
	case !slices.Contains(way.Channels, who.Channel):
		return takesOnly(way)
	}
	if why := cmp.Or(replaced(who, p), lacks(who, p, bailiff.MayAnswer)); why != "" {
		return why
	}
	if why := r.conflict(who, c.Request); why != "" {
		return why
	}
	if why := r.unmet(who, p, c.Request, way); why != "" {
		return why
	}
	return unprovenBy(who, way)
}

// takesOnly says by which channels a route takes answers.
func takesOnly(way route) string {
	said := fmt.Sprintf("route %s takes answers by %s only", way.Name, joined(way.Channels, "or"))
	if way.Proof != "" {
		said += ", with a security key"
	}
	return said
}

// unprovenBy says which proof an approver lacks, if a route wants one.
func unprovenBy(who bailiff.Approver, way route) string {
	switch {
	case way.Proof == "":
		return ""
	case who.Person == "":
		return fmt.Sprintf("route %s wants the security key of a person, and %s belongs to no person in people", way.Name, who.Credential)
	case who.Login == bailiff.LoginDevice:
		return fmt.Sprintf("route %s wants a security key, which only a browser at the console can ask for", way.Name)
	case !strings.HasPrefix(who.Proof, way.Proof):
		return fmt.Sprintf("route %s wants each answer confirmed with a security key, in a browser at the console", way.Name)
	}
	return ""
}

// holder is the person who has a credential, an operator's user without a person where such
// may answer, or why no one may answer by it.
func (r *Roster) holder(who bailiff.Approver) (p *config.Person, why string) {
	if slices.Contains(r.services, who.Channel) {
		id, ok := strings.CutPrefix(who.Credential, bailiff.Account(who.Channel, ""))
		if p = r.byAccount(who.Channel, id); p == nil || !ok {
			return nil, who.Credential + " belongs to no person in people"
		}
		return p, ""
	}
	if account, ok := loggedIn(who); ok {
		if p = r.byLogin(account); p == nil || !r.oidc() || who.Channel != bailiff.ChannelConsole {
			return nil, who.Credential + " belongs to no person in people"
		}
		return p, ""
	}
	uid, known := bailiff.UID(who.Credential)
	if !known || !slices.Contains(r.operator.UIDs, uid) {
		return nil, who.Credential + " is not among operator.uids"
	}
	if p = r.byUID(uid); p == nil {
		p = &config.Person{}
	}
	return p, ""
}

// replaced says that a credential is another person's than when who came; empty if it is not.
func replaced(who bailiff.Approver, p *config.Person) string {
	if p.Name == who.Person {
		return ""
	}
	return who.Credential + " is another person now, so log in again"
}

// conflict says why separation of duties keeps an approver from answering.
func (r *Roster) conflict(who bailiff.Approver, req bailiff.Request) string {
	if r.operator.AllowSameUser {
		return ""
	}
	why := r.given(who, req)
	switch {
	case why != "":
		return why
	case who.Person == "":
		return who.Credential + " belongs to no person in people"
	case slices.Contains(r.requesters(req), who.Person):
		return who.Person + " asked for it"
	}
	return ""
}

// given says how the agent of a request could give an approver's answer itself: where they come by
// chat or log in in a browser elsewhere, with the sidecar's own secrets; where they come by the
// operators' socket, by that. A login on a command line is kept in a file of an operator's user.
func (r *Roster) given(who bailiff.Approver, req bailiff.Request) string {
	_, oidc := loggedIn(who)
	if oidc || slices.Contains(r.services, who.Channel) {
		if why := r.reached(req, true); why != "" || who.Login != bailiff.LoginDevice {
			return why
		}
	}
	return r.reached(req, false)
}

// unmet says why a route's condition keeps an approver from answering.
func (r *Roster) unmet(who bailiff.Approver, p *config.Person, req bailiff.Request, way route) string {
	if way.approvers == nil {
		return ""
	}
	name := who.Name()
	fits, err := way.approvers.Holds(guard.Approver{Name: name, Groups: r.groups(who, slices.Clone(p.Groups)), UIDs: p.UIDs,
		Roles: p.Roles, Channel: who.Channel}, req)
	switch {
	case err != nil:
		return fmt.Sprintf("the approvers of route %s cannot be told: %v", way.Name, err)
	case !fits:
		return fmt.Sprintf("%s is not among the approvers of route %s", name, way.Name)
	}
	return ""
}

// requesters are the people whose own request it is: who holds the account in
// the chat, and who the caller's user is. An unattended session has none.
func (r *Roster) requesters(req bailiff.Request) []string {
	if req.Session.Unattended {
		return nil
	}
	var names []string
	if uid, ok := bailiff.UID(req.Peer); ok {
		if p := r.byUID(uid); p != nil {
			names = append(names, p.Name)
		}
	}
	for _, p := range r.people {
		if slices.Contains(p.Accounts[req.Session.Platform], req.Session.UserID) {
			names = append(names, p.Name)
		}
	}
	return names
}

// reached says how the agent of a request could give an answer itself: by the
// operators' socket, or by chat with the sidecar's own secrets; empty if it could not.
// An agent that cannot be told apart could. Then no such answer to a request that came in
// by it counts.
func (r *Roster) reached(req bailiff.Request, chat bool) string {
	if slices.Contains(r.services, req.Caller) {
		return "" // no agent is there, and what runs is in a sandbox
	}
	i := slices.IndexFunc(r.listeners, func(l config.Listener) bool { return l.Name == req.Caller })
	if i < 0 {
		return agentReaches(req.Caller, chat)
	}
	l := r.listeners[i]
	if why := r.reaches(l, chat); why != "" {
		return why
	}
	uid, ok := bailiff.UID(req.Peer)
	if l.Listen.Network == "tcp" && req.Peer != bailiff.RemoteTCP || l.Listen.Network == "unix" && (!ok || r.masters(uid, chat)) {
		return agentReaches(l.Name, chat)
	}
	return ""
}

// reaches says how the agents of a listener could answer themselves, as far as its
// configuration tells; of one on tcp only each request can.
func (r *Roster) reaches(l config.Listener, chat bool) string {
	switch {
	case l.Listen.Network == "unix" && (len(l.UIDs) == 0 ||
		slices.ContainsFunc(l.UIDs, func(uid uint32) bool { return r.masters(uid, chat) })):
		return agentReaches(l.Name, chat)
	case r.onHost && r.masters(r.self, chat) && (slices.Contains(l.Platforms, "cli") || slices.Contains(l.Platforms, "*")):
		return fmt.Sprintf("commands of listener %s run on the host as %s user, so they could answer themselves: "+
			"do without backend local or its platform cli%s (or set operator.allow_same_user "+
			"where one person uses this machine)", l.Name, map[bool]string{false: "an operator's", true: "the sidecar's"}[chat],
			map[bool]string{false: ", or let bailiff run as another user"}[chat])
	}
	return ""
}

// masters says whether a user can reach the operators' socket or, for chats, read the
// sidecar's own secrets.
func (r *Roster) masters(uid uint32, chat bool) bool {
	if chat {
		return uid == 0 || uid == r.self
	}
	return uid == 0 || slices.Contains(r.operator.UIDs, uid)
}

func agentReaches(listener string, chat bool) string {
	what := "reach the operators' socket itself"
	if chat {
		what = "read the sidecar's own secrets"
	}
	return fmt.Sprintf("the agent of listener %s could %s, so give it a user of its own "+
		"(or set operator.allow_same_user where one person uses this machine)", listener, what)
}

// found are the people who could answer, by which channels, and why the others
// could not.
type found struct{ names, channels, barred []string }

func (r *Roster) search(c bailiff.Claim, way route) (all found) {
	for _, p := range r.candidates() {
		why := p.Name + " has no uid among operator.uids"
		if len(r.services) > 0 {
			why += ", and no account where it is asked"
		}
		if r.oidc() {
			why += ", and no account at operator.oidc"
		}
		may := false
		for _, who := range r.ways(p, way) {
			if why = r.bar(who, c, way); why == "" {
				all.channels = add(all.channels, who.Channel)
				may = true
			}
		}
		if may {
			all.names = append(all.names, p.Name)
		} else {
			all.barred = add(all.barred, why)
		}
	}
	return all
}

// candidates are all people, and operators' users without a person if such may answer.
func (r *Roster) candidates() []config.Person {
	all := slices.Clone(r.people)
	for _, uid := range r.operator.UIDs {
		if r.operator.AllowSameUser && r.byUID(uid) == nil {
			all = append(all, config.Person{Name: bailiff.Credential(uid), UIDs: []uint32{uid}})
		}
	}
	return all
}

// ways are those by which an approver could come.
func (r *Roster) ways(p config.Person, way route) []bailiff.Approver {
	var all []bailiff.Approver
	for _, channel := range way.Channels {
		if slices.Contains(r.services, channel) {
			for _, id := range p.Accounts[channel] {
				all = append(all, r.IdentifyAccount(channel, id))
			}
			continue
		}
		if channel == bailiff.ChannelConsole && r.oidc() {
			for _, account := range p.OIDC {
				all = append(all, proven(r.IdentifyLogin(account, bailiff.LoginOIDC), way))
			}
		}
		for _, uid := range p.UIDs {
			if slices.Contains(r.operator.UIDs, uid) {
				all = append(all, proven(r.Identify(uid, channel), way))
			}
		}
	}
	return all
}

// unanswerable says why too few could answer, and what would be right.
func (r *Roster) unanswerable(req bailiff.Request, quorum int, f found) error {
	switch {
	case !r.operator.AllowSameUser && len(r.services) == 0 && !r.oidc() && r.reached(req, false) != "":
		return nobody("%s", r.reached(req, false))
	case len(r.candidates()) == 0:
		return nobody("people in bailiff.yaml names nobody; name there who may, with %s", r.means())
	}
	why := strings.Join(f.barred[:min(len(f.barred), mostReasons)], ", ")
	switch {
	case len(f.names) == 0:
		return nobody("%s; name others in people who may, with %s", why, r.means())
	case why == "":
		why = "there is nobody else in people"
	}
	return &approval.Unanswerable{Reason: fmt.Sprintf("%d people must say yes, but only %s could: %s; name others in people who may, "+
		"with %s.",
		quorum, joined(f.names, "and"), why, r.means())}
}

// means are those by which people can answer.
func (r *Roster) means() string {
	at := slices.Clone(r.services)
	if r.oidc() {
		at = append(at, "operator.oidc")
	}
	if len(at) == 0 {
		return "a uid that is among operator.uids"
	}
	return "a uid that is among operator.uids or an account at " + joined(at, "or")
}

// mostReasons keeps a sentence readable where many people are configured.
const mostReasons = 5

func nobody(format string, args ...any) error {
	return &approval.Unanswerable{Reason: "Nobody can answer: " + fmt.Sprintf(format, args...) + "."}
}

// Warnings names the agents whose questions no approver can answer, a sentence each.
func (r *Roster) Warnings() []string {
	var all []string
	for _, l := range r.listeners {
		why := r.reaches(l, false)
		if why == "" || r.operator.AllowSameUser {
			continue
		}
		if len(r.services) == 0 && !r.oidc() || r.reaches(l, true) != "" {
			all = append(all, "what needs approval is refused: "+why)
		}
	}
	return all
}

func (r *Roster) byUID(uid uint32) *config.Person {
	i := slices.IndexFunc(r.people, func(p config.Person) bool { return slices.Contains(p.UIDs, uid) })
	if i < 0 {
		return nil
	}
	return &r.people[i]
}

// oidc says whether people can log in by an OpenID provider.
func (r *Roster) oidc() bool { return r.operator.OIDC.Issuer != "" }

// loggedIn is the account of an approver who logged in by the OpenID provider.
func loggedIn(who bailiff.Approver) (account string, ok bool) {
	return strings.CutPrefix(who.Credential, bailiff.Account(bailiff.OIDC, ""))
}

func (r *Roster) byLogin(account string) *config.Person {
	i := slices.IndexFunc(r.people, func(p config.Person) bool { return slices.Contains(p.OIDC, account) })
	if i < 0 {
		return nil
	}
	return &r.people[i]
}

func (r *Roster) byAccount(service, id string) *config.Person {
	i := slices.IndexFunc(r.people, func(p config.Person) bool { return slices.Contains(p.Accounts[service], id) })
	if i < 0 {
		return nil
	}
	return &r.people[i]
}

func add(to []string, s string) []string {
	if slices.Contains(to, s) {
		return to
	}
	return append(to, s)
}

// joined is "ana, ben or carl".
func joined(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
